"""The packages of `make package`: their files, their checks, and the programs in them; `--long` installs, upgrades and purges them in a bare root."""

import configparser
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from live_server import BINARY, TRUNK, Ports, can_connect, wait_until

TOOLS = ["dpkg-deb", "dpkg-shlibdeps", "objcopy", "patchelf"]
IMAGE_MB_MAX = 60


def run(*command, **options) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture(name="objs", scope="module")
def fixture_objs(tmp_path_factory):
    """A build folder with the server under test and the pages, with its packages."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing or b"__asan_init" in BINARY.read_bytes():
        pytest.skip(f"missing: {' '.join(missing) or 'a release build'}")
    objs = tmp_path_factory.mktemp("packages") / "objs"
    objs.mkdir()
    (objs / "srs").symlink_to(BINARY)
    run(TRUNK / "scripts/make-pages.sh", objs / "nginx/html")
    run(TRUNK / "scripts/make-package.sh", objs, env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000", "PACKAGE_LEVEL": "1"})
    return objs


@pytest.fixture(name="deb", scope="module")
def fixture_deb(objs):
    (deb,) = objs.glob("packages/*.deb")
    return deb


@pytest.fixture(name="unpacked", scope="module")
def fixture_unpacked(deb, tmp_path_factory):
    folder = tmp_path_factory.mktemp("deb")
    run("dpkg-deb", "-R", deb, folder)
    return folder


def test_the_deb_has_the_files_of_a_service(unpacked):
    version = run(BINARY, "-v").strip()
    fields = dict(line.split(": ", 1) for line in (unpacked / "DEBIAN/control").read_text().splitlines() if re.match(r"\w[\w-]+: ", line))
    assert fields["Version"] == f"{version}-1" and "libssl" in fields["Depends"] and "libc6 (>=" in fields["Depends"]
    for name in ("usr/sbin/srs", "etc/millrace/millrace.conf", "usr/share/millrace/html/index.html", "usr/share/man/man8/srs.8.gz",
                 "usr/share/millrace/html/docs/index.html", "usr/share/doc/millrace/sbom.spdx.json", "usr/share/doc/millrace/examples/full.conf", "usr/lib/millrace/control"):
        assert (unpacked / name).is_file(), name
    assert os.readlink(unpacked / "usr/sbin/millrace") == "srs" and os.readlink(unpacked / "usr/share/man/man8/millrace.8.gz") == "srs.8.gz"
    assert (unpacked / "DEBIAN/conffiles").read_text() == "/etc/millrace/millrace.conf\n"
    assert not list(unpacked.rglob("*logrotate*")), "the server rotates its logs"
    scripts = {name: (unpacked / "DEBIAN" / name).read_text() for name in ("postinst", "prerm", "postrm")}
    assert "control upgrade" in scripts["postinst"] and "restart " not in scripts["prerm"]
    for name in scripts:
        run("sh", "-n", unpacked / "DEBIAN" / name)
    sections = run("readelf", "-SW", unpacked / "usr/sbin/srs")
    assert ".debug_line" not in sections and ".symtab" in sections


def test_lintian_finds_no_error(deb):
    if not shutil.which("lintian"):
        pytest.skip("no lintian here")
    done = subprocess.run(["lintian", "--fail-on", "error", "--allow-root", deb], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout


def test_the_unit_is_valid_and_notifies(unpacked, tmp_path):
    text = (unpacked / "usr/lib/systemd/system/millrace.service").read_text()
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read_string(text)
    service = dict(unit["Service"])
    assert service["Type"] == "notify" and service["User"] == "millrace" and service["NoNewPrivileges"] == "yes"
    # systemd does not wait for a main process that it has not started, nor for the exit status of it.
    assert service["ExecStop"] == "/usr/lib/millrace/control stop" and service["Restart"] == "always"
    assert "force_grace_quit    on;" in (unpacked / "etc/millrace/millrace.conf").read_text()
    assert service["CapabilityBoundingSet"] == "CAP_NET_BIND_SERVICE" and "@system-service" in service["SystemCallFilter"]
    if shutil.which("systemd-analyze"):
        copy = tmp_path / "millrace.service"
        copy.write_text(text.replace("/usr/sbin/srs", str(BINARY)).replace("/usr/lib/millrace", f"{unpacked}/usr/lib/millrace"))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=60, check=False)
        assert "millrace.service" not in done.stderr, done.stderr


def test_the_conf_of_the_package_is_valid(unpacked, tmp_path):
    text = (unpacked / "etc/millrace/millrace.conf").read_text()
    for folder in ("/var/lib/millrace", "/var/log/millrace"):
        (tmp_path / folder[1:]).mkdir(parents=True)
        text = text.replace(folder, str(tmp_path / folder[1:]))
    (tmp_path / "millrace.conf").write_text(text.replace("/usr/share", f"{unpacked}/usr/share"))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
    done = subprocess.run([BINARY, "-t", "-c", tmp_path / "millrace.conf"], capture_output=True, text=True, check=False, env=clean)
    assert done.returncode == 0 and "is successful" in done.stdout and not done.stderr, done.stderr


def test_the_man_page_and_the_completion_have_every_option(unpacked, tmp_path):
    options = set(re.findall(r"^   (-\w)\b", run(BINARY, "-h"), re.M))
    assert len(options) >= 6
    page = run("gzip", "-dc", unpacked / "usr/share/man/man8/srs.8.gz")
    assert options <= {text.replace("\\", "") for text in re.findall(r"\\-\w\b", page)}, page
    assert "SIGUSR2" in page and ".TH SRS 8" in page
    if shutil.which("man"):
        (tmp_path / "srs.8").write_text(page)
        done = subprocess.run(["man", "--warnings", "-l", tmp_path / "srs.8"], capture_output=True, text=True, check=False, env={**os.environ, "MANPAGER": "cat"})
        assert done.returncode == 0 and not done.stderr, done.stderr
    completion = unpacked / "usr/share/bash-completion/completions/srs"
    script = f'. {completion}; COMP_WORDS=(srs -); COMP_CWORD=1; _millrace; printf "%s\\n" "${{COMPREPLY[@]}}"'
    assert options <= set(run("bash", "-c", script).split())


def test_the_bill_of_materials_names_every_library(objs):
    (path,) = objs.glob("packages/*.spdx.json")
    bill = json.loads(path.read_text())
    assert bill["spdxVersion"] == "SPDX-2.3" and bill["creationInfo"]["created"] == "2026-09-21T14:13:20Z"
    named = {one["name"]: one for one in bill["packages"]}
    assert {"millrace", "st", "libsrtp2", "mpegts.js", "hls.js"} <= set(named)
    assert named["millrace"]["checksums"][0]["checksumValue"] == hashlib.sha256(BINARY.read_bytes()).hexdigest()
    linked = re.findall(r"lib(ssl|fmt|uring|hiredis|stdc\+\+)\S* =>", run("ldd", BINARY))
    for library in linked:
        assert any(name.startswith(f"lib{library}") for name in named), library
    ids = [one["SPDXID"] for one in bill["packages"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids)
    for one in bill["relationships"]:
        assert {one["spdxElementId"], one["relatedSpdxElement"]} <= {*ids, "SPDXRef-DOCUMENT"}


def test_the_tarball_runs_in_any_folder_with_its_own_libraries(objs, tmp_path):
    (tarball,) = objs.glob("packages/*.tar.gz")
    place = tmp_path / "a folder elsewhere"
    place.mkdir()
    run("tar", "-C", place, "-xf", tarball)
    (tree,) = place.iterdir()
    libraries = re.findall(r"^\s*(lib(?:ssl|fmt|stdc\+\+)\S+) => (\S.*?) \(", run("ldd", tree / "objs/srs"), re.M)
    assert libraries and all(Path(path).resolve().is_relative_to(tree) for _, path in libraries), libraries
    ports = Ports()
    conf = (tree / "conf/srs.conf").read_text()
    for old, name in (("1935;", "rtmp"), ("127.0.0.1:1985;", "api"), ("8080;", "http"), ("8000;", "udp")):
        conf = conf.replace(f" {old}", f" 127.0.0.1:{ports[name]};")
    (tree / "conf/srs.conf").write_text(conf)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
    control = tree / "etc/init.d/srs"
    try:
        assert "srs started" in run(control, "start", cwd="/", env=clean)
        wait_until(lambda: can_connect(ports["http"]), 20, "it serves")
        assert b"Millrace" in subprocess.run(["curl", "-s", f"http://127.0.0.1:{ports['http']}/"], capture_output=True, check=True).stdout
    finally:
        run(control, "stop", cwd="/", env=clean)


def test_the_checksums_are_those_of_the_files(objs):
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=objs / "packages")
    names = {line.split()[1] for line in (objs / "packages/SHA256SUMS").read_text().splitlines()}
    assert names == {path.name for path in (objs / "packages").iterdir()} - {"SHA256SUMS"}


def test_a_release_has_sources_changes_and_checksums(objs):
    if subprocess.run(["git", "-C", TRUNK, "rev-parse"], capture_output=True, check=False).returncode != 0:
        pytest.skip("not a clone")
    run(TRUNK / "scripts/make-release.sh", objs, "--draft")
    release, version = objs / "release", run(BINARY, "-v").strip()
    assert (release / "VERSION").read_text().strip() == version
    assert (release / "CHANGES.md").read_text().strip().startswith("### ")
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release)
    names = run("tar", "-tf", release / f"millrace-{version}.tar.gz").splitlines()
    assert f"millrace-{version}/trunk/configure" in names and not [name for name in names if "/objs/" in name]
    # Without --draft, only what is committed and has a date.
    text = (TRUNK.parent / "CHANGELOG.md").read_text()
    if re.search(rf"^## {re.escape(version)},? not released", text, re.M):
        done = subprocess.run([TRUNK / "scripts/make-release.sh", objs], capture_output=True, text=True, check=False)
        assert done.returncode != 0 and "has no date" in done.stderr


def test_the_image_is_small_and_runs_without_a_distribution(objs, tmp_path):
    """The steps of the Dockerfile's first stage, whose result is the second one."""
    installed, root = tmp_path / "installed", tmp_path / "root"
    root.mkdir()
    run(TRUNK / "scripts/install.sh", objs, installed / "usr/local/srs", "/usr/local/srs", "conf/srs.conf")
    run("strip", "--strip-debug", installed / "usr/local/srs/objs/srs")
    said = run(TRUNK / "scripts/image-root.sh", installed, root)
    assert int(re.search(r"(\d+) MB", said)[1]) < IMAGE_MB_MAX, said
    if os.geteuid() != 0:
        pytest.skip("chroot needs root's rights")
    inside = ["chroot", "--userspec=1935:1935", root, "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "SRS_IN_DOCKER=on"]
    assert run(*inside, "/usr/local/srs/objs/srs", "-v") == run(BINARY, "-v")
    ports = Ports()
    settings = [f"SRS_LISTEN=127.0.0.1:{ports['rtmp']}", f"SRS_HTTP_API_LISTEN=127.0.0.1:{ports['api']}",
                f"SRS_HTTP_SERVER_LISTEN=127.0.0.1:{ports['http']}", f"SRS_RTC_SERVER_LISTEN=127.0.0.1:{ports['udp']}"]
    process = subprocess.Popen([*map(str, inside), *settings, "/usr/local/srs/scripts/docker-entry.sh"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: can_connect(ports["http"]), 20, "it serves")
        # The health check reads the arguments and the environment of the server in /proc.
        check = shlex.join([*map(str, inside), *settings, "sh", "-c", f"cd /usr/local/srs && exec perl scripts/docker-health.pl {process.pid}"])
        run("unshare", "--mount", "sh", "-c", f"mount --bind /proc {shlex.quote(str(root))}/proc && exec {check}")
    finally:
        process.terminate()
        assert process.wait(10) == 0


@pytest.mark.long
def test_the_packages_in_a_bare_root(objs):
    """Minutes, and it needs debootstrap: the tarball runs, the .deb is installed, upgraded with a publisher and a player connected, and purged."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("a root of its own needs debootstrap and root's rights")
    done = subprocess.run([TRUNK / "scripts/fresh-machine.sh", re.search(r"VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text())[1], "package"],
                          env={**os.environ, "FRESH_PACKAGES": str(objs / "packages"), "LIVE_PORT_BASE": str(Ports()["base"])},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "nothing is left" in done.stdout, done.stdout + done.stderr
