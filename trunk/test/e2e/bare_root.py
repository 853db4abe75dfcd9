"""Bare machines for tests: a root of this release without anything in it (scripts/fresh-machine.sh), run by systemd-nspawn; and containers of an image
that buildah makes, run by podman. Machines have this machine's network, so that their package managers work and their default ports are ours."""

import contextlib
import ctypes
import os
import pty
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from live_server import TRUNK, wait_until

CLONE_NEWNS = 0x20000
DEFAULT_PORTS = (1935, 1985, 8080, 8554)
# buildah starts itself from a sealed copy in memory, and fails if the kernel still has a page of it; with --layers, it continues at the failed step.
BUSY, TRIES = "sealing memfd copy: Device or resource busy", 5


def needs(*programs: str) -> None:
    missing = [one for one in programs if not shutil.which(one)]
    if missing or os.geteuid() != 0:
        pytest.skip(f"missing: {' '.join(missing) or 'root rights'} (install-packages.sh newcomer)")


def needs_default_ports() -> None:
    for port in DEFAULT_PORTS:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("0.0.0.0", port))
            except OSError:
                pytest.skip(f"port {port} of this machine is in use")


def base() -> Path:
    """The archive of a bare root whose package managers reach their registries."""
    needs("debootstrap", "unshare", "git")
    release = re.search(r"VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text())[1]
    done = subprocess.run([TRUNK / "scripts/fresh-machine.sh", release, "base"], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.splitlines()[-1])


@contextlib.contextmanager
def bare_root(folder: Path):
    root = folder / "root"
    root.mkdir()
    subprocess.run(["tar", "-C", root, "-xf", base()], check=True)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def clone_to(target: Path) -> None:
    """The committed tree, as a newcomer gets it."""
    top = subprocess.run(["git", "-C", TRUNK, "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", top, target], check=True)


def own_address() -> str:
    """The address at which another machine reaches this one; loopback where there is no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            any_socket.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return any_socket.getsockname()[0]


class Machine:
    """A root that runs. A command has a terminal; without one, the machine boots its systemd."""

    def __init__(self, root: Path, command: list[str] | None = None, options: list[str] | None = None):
        self.log = root.parent / "machine.log"
        words = ["systemd-nspawn", "--quiet", f"--directory={root}", "--register=no", "--keep-unit", "--resolv-conf=off", "--timezone=off", *(options or [])]
        words += ["--boot"] if command is None else ["--as-pid2", "--setenv=LANG=C.UTF-8", "--", *command]
        self.keyboard, terminal = pty.openpty()
        screen = open(self.log, "wb")
        self.process = subprocess.Popen(words, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)
        self.reader = subprocess.Popen(["cat"], stdin=self.keyboard, stdout=screen, stderr=subprocess.DEVNULL)
        screen.close()

    def said(self) -> str:
        return self.log.read_text(errors="replace").replace("\r", "")

    def wait_for(self, pattern: str, limit_s: float) -> re.Match:
        found = []

        def done():
            assert self.process.poll() is None, self.said()[-3000:]
            found[:] = [re.search(pattern, self.said())]
            return found[0]
        wait_until(done, limit_s, f"the machine prints {pattern}", 0.2)
        return found[0]

    def type(self, keys: bytes) -> None:
        os.write(self.keyboard, keys)

    def _leader(self) -> str:
        """Process 1 of the machine; empty until there is one."""
        assert self.process.poll() is None, self.said()[-3000:]
        return (Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split() or [""])[0]

    def has_booted(self) -> bool:
        return bool(self._leader()) and self.run("systemctl is-system-running").stdout.strip() in ("running", "degraded")

    def run(self, command: str, limit_s: float = 600) -> subprocess.CompletedProcess:
        """A command of root's in a booted machine."""
        inside = ["nsenter", f"--target={self._leader()}", "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root", "--wd", "env", "-i", "HOME=/root",
                  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        return subprocess.run([*inside, "sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s, check=False)

    def must(self, command: str, limit_s: float = 600) -> str:
        done = self.run(command, limit_s)
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    def wait(self, limit_s: float) -> int:
        return self.process.wait(limit_s)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.kill()
        self.reader.wait()
        os.close(self.keyboard)


def enter_mounts() -> None:
    """Mounts of this process's own, with the unified control groups that crun needs. Nothing of it is left when the process ends."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        pytest.skip("no mounts of its own")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        subprocess.run(["umount", "-R", "-l", "/sys/fs/cgroup"], check=True)
        subprocess.run(["mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"], check=True)


class Images:
    """A store of images and containers."""

    def __init__(self, folder: Path):
        self.folder = folder
        # Without overlays, each layer is a copy of the whole file system.
        driver = "overlay" if "overlay" in Path("/proc/filesystems").read_text() else "vfs"
        # podman takes no path of over 50 characters for what runs, and those of pytest are longer.
        self.running = tempfile.mkdtemp(prefix="images-")
        self.store = ["--root", str(folder / "store"), "--runroot", self.running, "--storage-driver", driver]

    def remove(self) -> None:
        # The store's overlays stay mounted after a build.
        subprocess.run(["umount", "--recursive", self.folder / "store/overlay"], capture_output=True, check=False)
        subprocess.run(["rm", "-rf", self.folder / "store", self.running], check=False)

    def buildah(self, *words, limit_s: float = 300) -> str:
        command = ["buildah", *self.store, *map(str, words)]
        for _ in range(TRIES):
            with open(self.folder / "build.log", "wb") as log:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, timeout=limit_s, check=False)
            if BUSY not in (self.folder / "build.log").read_text(errors="replace"):
                break
        assert done.returncode == 0, f"{command}: {done.stdout[-1000:]}{(self.folder / 'build.log').read_text(errors='replace')[-3000:]}"
        return done.stdout.strip()

    def podman(self, *words) -> list[str]:
        return ["podman", *self.store, "--cgroup-manager", "cgroupfs", *map(str, words)]

    def run_podman(self, *words, limit_s: float = 60) -> str:
        done = subprocess.run(self.podman(*words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit_s, check=False)
        assert done.returncode == 0, f"podman {words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def add_base(self, name: str) -> None:
        """The image that a Dockerfile begins with, made of the bare root."""
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, base(), "/")
        self.buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt", container)
        self.buildah("commit", "--quiet", "--rm", container, name)

    def build(self, folder: Path, name: str, limit_s: float) -> None:
        """docker build -t NAME FOLDER"""
        cache = os.environ.get("FRESH_CCACHE")
        volume = ["--volume", f"{cache}:/var/cache/ccache", "--env", "CCACHE_DIR=/var/cache/ccache"] if cache else []
        self.buildah("bud", "--pull-never", "--isolation", "chroot", "--format", "docker", "--layers", *volume, "--tag", name, folder, limit_s=limit_s)

    def start(self, *words) -> subprocess.Popen:
        """docker run WORDS. Its limits are not above ours, because raising them takes a right."""
        files, processes = (min(limit, resource.getrlimit(one)[0] % 2**63) for limit, one in ((16_384, resource.RLIMIT_NOFILE), (4_096, resource.RLIMIT_NPROC)))
        limits = ["--ulimit", f"nofile={files}:{files}", "--ulimit", f"nproc={processes}:{processes}", "--cgroups", "disabled"]
        with open(self.folder / "container.log", "wb") as log:
            return subprocess.Popen(self.podman("run", *limits, *words), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def said(self) -> str:
        return (self.folder / "container.log").read_text(errors="replace")


@contextlib.contextmanager
def encoder(url: str, prefix: list[str] | None = None):
    """The README's command to publish, on another machine."""
    subprocess.run([TRUNK / "scripts/make-source.sh"], check=True, capture_output=True)
    words = [*(prefix or []), "ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-i", TRUNK / "doc/source.flv", "-c", "copy", "-f", "flv", url]
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def stop_took(process: subprocess.Popen, stop, limit_s: float) -> tuple[int, float]:
    """Calls stop(); returns the exit status of the process and the seconds until its end."""
    began = time.monotonic()
    stop()
    return process.wait(limit_s), time.monotonic() - began


CTRL_C = b"\x03"
