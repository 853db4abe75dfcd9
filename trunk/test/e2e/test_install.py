"""What an operator meets first: `make install` and its service, and the commands of the documents in a shell."""

import configparser
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from live_server import BINARY, TRUNK, Ports, can_connect, conf

NOBODY = 65534
HARDENING = {"NoNewPrivileges": "yes", "ProtectSystem": "full", "PrivateTmp": "yes", "ProtectKernelModules": "yes", "RestrictSUIDSGID": "yes"}


@pytest.fixture(name="root")
def fixture_root():
    """An installation that is root's, but for objs, which is the user's of the service."""
    folder = Path(tempfile.mkdtemp(prefix="live-install-"))
    folder.chmod(0o755)
    root = folder / "srs"
    subprocess.run([TRUNK / "scripts/install.sh", BINARY.parent, root, root, "conf/srs.conf"], check=True, capture_output=True)
    shutil.copy(BINARY, root / "objs/srs")
    if os.geteuid() == 0:
        for path in [root / "objs", *(root / "objs").rglob("*")]:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    yield root
    shutil.rmtree(folder)


def service_of(root: Path) -> dict[str, str]:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(root / "usr/lib/systemd/system/srs.service")
    return dict(unit["Service"])


def test_the_unit_runs_the_server_as_a_user_without_rights(root):
    service = service_of(root)
    assert service["User"] == service["Group"] == "srs"
    assert service["CapabilityBoundingSet"] == service["AmbientCapabilities"] == "CAP_NET_BIND_SERVICE"
    assert {name: service.get(name) for name in HARDENING} == HARDENING
    assert service["ReadWritePaths"] == f"{root}/objs" and service["PIDFile"] == f"{root}/objs/srs.pid"
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", root / "usr/lib/systemd/system/srs.service"], capture_output=True, text=True,
                              timeout=60, check=False)
        assert "srs.service" not in done.stderr, done.stderr


def test_the_unit_writes_to_objs_only(root):
    ports = Ports()
    text = conf().replace("daemon              off;", "daemon on;").replace("$folder", "./objs")
    for name in ("rtmp", "api", "http"):
        text = text.replace(f"${name}", str(ports[name]))
    (root / "conf/srs.conf").write_text(text)
    words = shlex.split(service_of(root)["ExecStart"])
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
    done = subprocess.run(words, cwd="/", env=environment, capture_output=True, text=True, timeout=60, check=False, **user)
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        assert can_connect(ports["rtmp"])
        pid = int((root / "objs/srs.pid").read_text())
        if user:
            assert Path(f"/proc/{pid}").stat().st_uid == NOBODY
        stop = subprocess.run(shlex.split(service_of(root)["ExecStop"]), cwd="/", env=environment, capture_output=True, text=True, timeout=60, check=False, **user)
        assert stop.returncode == 0 and not can_connect(ports["rtmp"]), stop.stdout + stop.stderr
    finally:
        if (root / "objs/srs.pid").exists():
            os.kill(int((root / "objs/srs.pid").read_text()), signal.SIGKILL)


def test_the_readme_describes_the_installation_of_a_service():
    text = (TRUNK.parent / "README.md").read_text()
    assert "make install" in text and "systemctl enable --now srs" in text and "useradd --system" in text


def srt_words() -> list[str]:
    """The words with an srt:// address in the commands of the documents."""
    found = []
    for path in (TRUNK.parent / "README.md", *sorted((TRUNK / "doc/manual").glob("*.md"))):
        for line in path.read_text().splitlines():
            if re.search(r"\b(ffmpeg|ffplay|ffprobe|srt-live-transmit)\b.*srt://|^ +-c:v .*srt://|^  SRT ", line):
                found += re.findall(r"""(?:"srt://[^"]*"|'srt://[^']*'|(?<!\S)srt://[^\s?]+\?\S+)""", line)
    return found


def test_the_addresses_of_the_documents_survive_an_interactive_shell():
    words = srt_words()
    assert len(words) >= 10, words
    # In double quotes, bash takes "!:" for something that was typed before.
    script = "".join(f"printf '<%s>\\n' {word}\n" for word in words)
    shell = subprocess.run(["bash", "--norc", "--noprofile", "-i"], input="set -o failglob\n" + script, capture_output=True, text=True, timeout=30, check=False)
    expected = [f"<{word.strip(chr(34) + chr(39))}>" for word in words]
    assert [line for line in shell.stdout.splitlines() if line.startswith("<")] == expected, shell.stdout + shell.stderr


def test_the_changelog_of_a_release_is_short_and_each_entry_one_sentence():
    sections = re.split(r"^## (.*)$", (TRUNK.parent / "CHANGELOG.md").read_text(), flags=re.M)
    text = sections[2]
    assert sections[1].startswith("7.1.0") and text.count("\n") < 120, text.count("\n")
    entries = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(entries) > 80 and [line for line in entries if re.search(r"\. [A-Z`*]", line)] == []
