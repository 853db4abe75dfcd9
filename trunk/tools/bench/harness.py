"""Running and measuring processes for bench.py: building the floors, starting servers on one core and load on the
other, reading CPU time and memory from /proc. Independent of the measurements and their targets."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRUNK = HERE.parent.parent
sys.path.insert(0, str(TRUNK / "test" / "media"))

SERVER_CORE, LOAD_CORE = 0, 1
PROGRAMS = ("floor", "floor_load", "tls_floor", "segment_load", "srtp_floor", "srt_floor", "rtsp_cameras")
LIBRARIES = {"tls_floor": ["-lssl", "-lcrypto"], "srtp_floor": ["-lcrypto"], "srt_floor": ["-lcrypto"]}


class BenchError(Exception):
    """A missing or failed part, as a sentence for the user."""


def build_programs(folder: Path) -> None:
    """Compiles the floors when a source is newer than they are. One compiler call each, no build system needed."""
    common = [HERE / name for name in ("common.cpp", "clip.cpp", "run.cpp", "udp.cpp")]
    newest = max(p.stat().st_mtime for p in HERE.glob("*.[ch]pp"))
    folder.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CXX", "g++")
    for program in PROGRAMS:
        binary = folder / program
        if binary.exists() and binary.stat().st_mtime >= newest:
            continue
        command = [compiler, "-std=c++20", "-O2", "-g", "-Wall", "-Wextra", "-o", binary, HERE / f"{program}.cpp", *common, *LIBRARIES.get(program, [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"cannot compile {program}: {done.stderr.strip()[-500:]}")


def free_port(start: int) -> int:
    """The first free TCP port from `start` on."""
    for port in range(start, start + 1000):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise BenchError(f"no free port between {start} and {start + 1000}")


class Process:
    """A child pinned to one core. Its standard error goes to a file whose end is quoted when something fails."""

    def __init__(self, name: str, command: list, core: int, folder: Path, environment: dict | None = None):
        self.name, self.command = name, [str(word) for word in command]
        self.log_path = folder / f"{name}.log"
        self._log = open(self.log_path, "ab")
        self.child = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, cwd=folder,
            env={**os.environ, **(environment or {})},
            preexec_fn=lambda: os.sched_setaffinity(0, {core}))  # pylint: disable=subprocess-popen-preexec-fn
        self._pending = b""

    def cpu_seconds(self) -> float:
        """CPU time of all threads, including their system calls."""
        total = 0
        for task in Path(f"/proc/{self.child.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def resident_kib(self) -> int:
        for line in Path(f"/proc/{self.child.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise BenchError(f"{self.name} has ended")

    def tell(self, word: str) -> None:
        self.child.stdin.write(word.encode() + b"\n")
        self.child.stdin.flush()

    def wait_event(self, event: str, limit_s: float) -> dict:
        """The next JSON line with this event; lines before it are dropped."""
        deadline = time.monotonic() + limit_s
        while True:
            while b"\n" in self._pending:
                line, self._pending = self._pending.split(b"\n", 1)
                if line.startswith(b"{") and json.loads(line)["event"] == event:
                    return json.loads(line)
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                raise BenchError(f"{self.name}: no \"{event}\" within {limit_s:.0f} s. {self.log_tail()}")
            block = os.read(self.child.stdout.fileno(), 65536)
            if not block:
                raise BenchError(f"{self.name} ended (status {self.child.wait()}) before \"{event}\". {self.log_tail()}")
            self._pending += block

    def log_tail(self) -> str:
        self._log.flush()
        text = self.log_path.read_text(errors="replace").strip()
        return f"Its log ends with: {text[-600:]}" if text else "It logged nothing."

    def stop(self, limit_s: float = 15) -> int:
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.communicate()
        self._log.close()
        return self.child.returncode


class Lab:
    """One run's folder, clip, programs and children. Use as a context: leaving it stops every child and removes the folder."""

    def __init__(self, server: Path, programs: Path, port_base: int):
        self.server, self.programs, self.port_base = server, programs, port_base
        self.folder = Path(tempfile.mkdtemp(prefix="live-bench-"))
        self.children: list[Process] = []
        self._facts: dict[Path, dict] = {}
        self.clip = self.other_clip("bench")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.stop(5)
        shutil.rmtree(self.folder, ignore_errors=True)

    def port(self) -> int:
        self.port_base = free_port(self.port_base + 1)
        return self.port_base

    def start(self, name: str, command: list, core: int = LOAD_CORE) -> Process:
        child = Process(f"{len(self.children):03d}-{name}", command, core, self.folder)
        self.children.append(child)
        return child

    def load(self, program: str, core: int = LOAD_CORE, **options) -> Process:
        """Starts one of the floors' programs; option names as on its command line with _ for -, True for a switch."""
        command: list = [self.programs / program]
        for key, value in options.items():
            command.append("--" + key.replace("_", "-"))
            if value is not True:
                command.append(value)
        return self.start(program, command, core)

    def tool(self, name: str) -> Path:
        """A load program of the product: beside the server, else that of objs."""
        for folder in (self.server.parent, TRUNK / "objs"):
            if (folder / name).exists():
                return folder / name
        raise BenchError(f"no {name} beside {self.server}: build it (make)")

    def other_clip(self, name: str) -> Path:
        import clips
        try:
            return clips.clip(name)
        except clips.Unavailable as reason:
            raise BenchError(str(reason)) from None

    def facts_of(self, clip: Path) -> dict:
        """Its bit rate and its largest GOP."""
        if clip not in self._facts:
            floor = self.load("floor", mode="clip", clip=clip)
            self._facts[clip] = floor.wait_event("clip", 10)
            floor.stop()
        return self._facts[clip]

    def facts_of_clip(self) -> dict:
        return self.facts_of(self.clip)


def wait_for_port(port: int, child: Process, limit_s: float = 15) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if child.child.poll() is not None:
            raise BenchError(f"{child.name} ended with status {child.child.returncode}. {child.log_tail()}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise BenchError(f"{child.name} does not listen on port {port}. {child.log_tail()}")


def wait_for_api(port: int, child: Process, limit_s: float = 15) -> dict:
    deadline = time.monotonic() + limit_s
    wait_for_port(port, child, limit_s)
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/versions", timeout=2) as answer:
                return json.load(answer)
        except (urllib.error.URLError, OSError, ValueError):
            time.sleep(0.1)
    raise BenchError(f"{child.name}: no answer from /api/v1/versions. {child.log_tail()}")
