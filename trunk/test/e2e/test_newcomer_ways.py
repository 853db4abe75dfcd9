"""From a bare root to a picture in Chromium by each way of the manual's page about installing: the package, the sources and the container image; then each is
stopped the way people do. Minutes each (the image is compiled): test/e2e/newcomer.sh runs them."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import browser as browsers
import own_network
from bare_root import CTRL_C, Images, Machine, bare_root, clone_to, encoder, enter_mounts, needs, needs_default_ports, own_address, stop_took
from live_server import BINARY, TRUNK, can_connect, wait_until

pytestmark = [pytest.mark.long, pytest.mark.alone]
DECODED = "document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames"
IMAGE_MB_MAX = 60
BUILD_S_MAX = 3600
DOCKER_STOP_S = 10


@pytest.fixture(autouse=True)
def fixture_browser():
    try:
        browsers.find_chromium()
        browsers.install_modules()
    except browsers.Unavailable as reason:
        pytest.skip(str(reason))


def watch(address: str, stream: str, way: str, prefix: list[str] | None = None) -> None:
    """A visitor opens the landing page and clicks on Play."""
    chromium = browsers.Browser(prefix)
    try:
        page = chromium.page().goto(address)
        page.wait(f"document.querySelector('.stream h2')?.textContent === '{stream}'", 20)
        page.click(".stream .primary")
        page.wait(f"{DECODED} > 50", 30)
        page.shot(f"newcomer-{way}")
        assert page.complaints() == []
    finally:
        chromium.close()


def test_from_the_sources_to_a_picture(tmp_path):
    needs("systemd-nspawn", "debootstrap")
    needs_default_ports()
    with bare_root(tmp_path) as root:
        clone_to(root / "root/clone")
        cache = os.environ.get("FRESH_CCACHE")
        machine = Machine(root, ["sh", "-c", "cd ~/clone && exec ./trunk/scripts/run.sh"], [f"--bind={cache}:/var/cache/ccache", "--setenv=CCACHE_DIR=/var/cache/ccache"] if cache else [])
        try:
            began = time.monotonic()
            machine.wait_for("Ctrl-C stops it", BUILD_S_MAX)
            print(f"sources: served after {time.monotonic() - began:.0f} s")
            address = machine.wait_for(r"(?:From another machine:|page) +(http://\S+)", 5)[1]
            watch(address, "livestream", "source")
            status, took = stop_took(machine.process, lambda: machine.type(CTRL_C), 20)
            assert status == 0, machine.said()[-2000:]
            assert not can_connect(1935) and not can_connect(8080)
            print(f"sources: Ctrl-C ended it in {took:.1f} s")
        finally:
            machine.close()


def packages(folder: Path) -> Path:
    """The .deb of the server under test."""
    objs = folder / "objs"
    objs.mkdir()
    (objs / "srs").symlink_to(BINARY)
    for command in ([TRUNK / "scripts/make-pages.sh", objs / "nginx/html"], [TRUNK / "scripts/make-package.sh", objs]):
        subprocess.run([str(word) for word in command], check=True, capture_output=True, env={**os.environ, "PACKAGE_LEVEL": "1"})
    (deb,) = objs.glob("packages/*.deb")
    return deb


def test_from_the_package_to_a_picture(tmp_path):
    needs("systemd-nspawn", "debootstrap", "nsenter", "dpkg-deb", "patchelf")
    needs_default_ports()
    deb = packages(tmp_path)
    with bare_root(tmp_path) as root:
        # A machine of a user has an init; the bare root has none.
        subprocess.run(["systemd-nspawn", "--quiet", f"--directory={root}", "--register=no", "--keep-unit", "--resolv-conf=off", "--setenv=DEBIAN_FRONTEND=noninteractive",
                        "--", "sh", "-c", "apt-get update -qq && apt-get install -y -qq --no-install-recommends systemd-sysv dbus"], check=True, capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=600)
        (root / "root" / deb.name).write_bytes(deb.read_bytes())
        machine = Machine(root)
        try:
            wait_until(machine.has_booted, 60, "the machine has booted", 0.5)
            began = time.monotonic()
            machine.must(f"apt install -y ./root/{deb.name}", 900)
            print(f"package: installed after {time.monotonic() - began:.0f} s")
            assert "active (running)" in machine.must("systemctl status millrace")
            assert machine.must("systemctl is-enabled millrace").strip() == "enabled"
            address = own_address()
            with encoder(f"rtmp://{address}/live/mine"):
                watch(f"http://{address}:8080/", "mine", "package")
                began = time.monotonic()
                machine.must("systemctl stop millrace", 60)
                print(f"package: systemctl stop took {time.monotonic() - began:.1f} s")
            state = dict(line.split("=", 1) for line in machine.must("systemctl show millrace -p ActiveState -p Result -p ExecMainStatus").split())
            assert state == {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"}
            assert not can_connect(1935) and not can_connect(8080)
            machine.must("apt-get purge -y millrace")
            machine.run("systemctl poweroff")
            assert machine.wait(60) == 0, machine.said()[-2000:]
        finally:
            machine.close()


def image_runs(images: Images) -> None:
    enter_mounts()
    with own_network.AnotherMachine() as elsewhere:
        near = elsewhere.NEAR
        container = images.start("--rm", "--name", "newcomer", "-p", "1935:1935", "-p", "8080:8080", "-p", "8000:8000/udp", "millrace")
        try:
            with encoder_when_open(elsewhere, near, container, images):
                watch(f"http://{near}:8080/", "mine", "image", elsewhere.command)
                status, took = stop_took(container, lambda: images.run_podman("stop", "newcomer"), 30)
            assert status == 0 and took < DOCKER_STOP_S, images.said()[-2000:]
            print(f"image: podman stop took {took:.1f} s")
            assert "graceful" in images.said().lower(), images.said()[-2000:]
        finally:
            if container.poll() is None:
                images.run_podman("rm", "--force", "newcomer")
                container.wait(20)


def encoder_when_open(elsewhere, near: str, container, images: Images):
    """An encoder on the other machine, once the container serves."""
    def is_open() -> bool:
        assert container.poll() is None, images.said()[-2000:]
        return subprocess.run([*elsewhere.command, "curl", "-fsS", "-o", "/dev/null", f"http://{near}:8080/"], capture_output=True, check=False).returncode == 0
    wait_until(is_open, 30, "the container serves", 0.2)
    return encoder(f"rtmp://{near}/live/mine", elsewhere.command)


def test_from_the_image_to_a_picture(tmp_path):
    needs("buildah", "podman", "debootstrap", "nsenter", "curl")
    images = Images(tmp_path)
    clone_to(tmp_path / "clone")
    began = time.monotonic()
    try:
        images.add_base("docker.io/library/debian:bookworm-slim")
        images.build(tmp_path / "clone", "millrace", BUILD_S_MAX)
        size = int(images.run_podman("image", "inspect", "--format", "{{.Size}}", "millrace"))
        print(f"image: built in {time.monotonic() - began:.0f} s, {size / 1e6:.1f} MB")
        assert size < IMAGE_MB_MAX * 1e6
        own_network.run(image_runs, images, limit_s=180)
    finally:
        images.remove()
        shutil.rmtree(tmp_path / "clone", ignore_errors=True)
