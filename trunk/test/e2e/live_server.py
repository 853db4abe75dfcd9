"""A server process under test: its folder, conf, ports, log and end. Also the ports and small waits that tests need.

The binary is LIVE_SERVER, else SRS_BINARY, else trunk/objs/srs. A conf is a text with $names: $rtmp, $api and any other name that a
test asks a port for, and $folder. Streams and files are on $http.
"""

import collections
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import string
import subprocess
import time
import urllib.request
from pathlib import Path

TRUNK = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("LIVE_SERVER") or os.environ.get("SRS_BINARY") or TRUNK / "objs" / "srs").resolve()

ROOT_CONF = """\
listen              127.0.0.1:$rtmp;
max_connections     1000;
daemon              off;
srs_log_tank        console;
pid                 $folder/srs.pid;
http_api { enabled on; listen 127.0.0.1:$api; }
http_server { enabled on; listen 127.0.0.1:$http; dir $folder/html; }
"""
REPORT_MARKS = ("AddressSanitizer", "LeakSanitizer", "UndefinedBehaviorSanitizer", "runtime error:", "CHECK failed")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")

# Tests that run beside each other (pytest-xdist) take turns with the numbers.
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
_next_port = int(os.environ.get("LIVE_PORT_BASE", "25100")) + _number
# Below the kernel's own choice, which begins at 32768, for a dozen of them.
_next_udp_port = int(os.environ.get("LIVE_PORT_BASE", "25100")) + 5_000 + 200 * _number
_held: collections.deque = collections.deque(maxlen=200)


def free_port() -> int:
    """A free port on loopback, for TCP or UDP; never the same one twice in a run."""
    global _next_port  # pylint: disable=global-statement
    while True:
        _next_port += _WORKERS
        with socket.socket() as probe, socket.socket(type=socket.SOCK_DGRAM) as udp:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", _next_port))
                udp.bind(("127.0.0.1", _next_port))
                return _next_port
            except OSError:
                continue


def free_udp_ports(count: int) -> int:
    """The first of `count` consecutive free ports."""
    global _next_udp_port  # pylint: disable=global-statement
    while True:
        first, _next_udp_port = _next_udp_port, _next_udp_port + count
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket(type=socket.SOCK_DGRAM)).bind(("127.0.0.1", port))
                return first
            except OSError:
                continue


def hold(port: int) -> None:
    """A server may listen on this TCP port later; until then no connection gets it as its near end."""
    socket_there = socket.socket()
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        socket_there.setsockopt(socket.SOL_SOCKET, option, 1)
    socket_there.bind(("127.0.0.1", port))
    _held.append(socket_there)


def workers_of(environment) -> int:
    return int(environment.get("SRS_WORKERS", "1"))


def busy_s() -> float:
    """For so long since the machine's start, programs waited for a CPU that others had; 0 where the kernel does not count it."""
    try:
        return int(Path("/proc/pressure/cpu").read_text().split()[4].removeprefix("total=")) / 1e6
    except OSError:
        return 0.0


class Limit:
    """The end of a wait, in seconds of an idle machine: of those in which programs wait for a CPU, only a fifth counts."""

    BUSY_DISCOUNT = 0.8

    def __init__(self, seconds: float):
        self.seconds, self._began, self._had_been_busy = seconds, time.monotonic(), busy_s()

    def passed(self) -> float:
        passed = time.monotonic() - self._began
        return passed - self.BUSY_DISCOUNT * min(passed, busy_s() - self._had_been_busy)

    def is_over(self) -> bool:
        return self.passed() >= self.seconds


def rest(seconds: float) -> None:
    """Sleeps for so many seconds of an idle machine, before a claim about what has happened meanwhile."""
    limit = Limit(seconds)
    time.sleep(seconds)
    while not limit.is_over():
        time.sleep(0.05)


def wait_until(condition, limit_s: float, what, step_s: float = 0.05):
    """Polls until the condition gives something true, and gives that. Fails with `what`, a text or what gives one, at the Limit. The last look is
    after it: what happened while this process had no CPU has happened in time."""
    limit = Limit(limit_s)
    while True:
        is_last = limit.is_over()
        value = condition()
        if value:
            return value
        if is_last:
            raise AssertionError(f"not within {limit_s:g} s: {what() if callable(what) else what}")
        time.sleep(step_s)


def ends(process: subprocess.Popen, limit_s: float) -> bool:
    """Waits for its end until the Limit."""
    limit = Limit(limit_s)
    while process.poll() is None:
        if limit.is_over():
            return False
        time.sleep(0.01)
    return True


def waited_s(tasks) -> float:
    """For a CPU that other programs had, all these processes or threads together since they began."""
    waited_ns = 0
    for number in tasks:
        with contextlib.suppress(OSError, IndexError):  # it has ended, or this kernel does not count
            waited_ns += int(Path(f"/proc/{number}/schedstat").read_text().split()[1])
    return waited_ns / 1e9


class Stopwatch:
    """Seconds since its start without those in which the servers, or processes, or this one waited for a CPU that other programs had. For claims
    about what a server does at once, not for those that it waits."""

    def __init__(self, *servers: "LiveServer | int"):
        self._pids = {pid for one in servers for pid in ([one] if isinstance(one, int) else one.pids())}
        self._began, self._had_waited = time.monotonic(), self._waited_s()

    def seconds(self) -> float:
        return time.monotonic() - self._began - self.waited()

    def waited(self) -> float:
        return max(0.0, self._waited_s() - self._had_waited)

    def _waited_s(self) -> float:
        return waited_s(self._pids) + waited_s(task.name for task in Path("/proc/self/task").iterdir())


def wait_within(condition, limit_s: float, servers: tuple, what: str):
    """wait_until() whose limit is a claim, by Stopwatch."""
    watch = Stopwatch(*servers)
    value = wait_until(condition, limit_s + 10, what, 0.005)
    took = watch.seconds()
    assert took < limit_s, f"{took:.2f} s and not {limit_s:g}, with {watch.waited():.2f} s more for a CPU: {what}"
    return value


def is_gone(pid: int) -> bool:
    """Or waits for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def can_connect(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


class Ports(dict):
    """Ports by name, chosen when first asked for. Each worker has a UDP port of its own: the one that is named, and the next ones."""

    def __missing__(self, name):
        count = workers_of(os.environ)
        if count > 1 and name.startswith("udp"):
            self[name] = free_udp_ports(count)
        else:
            self[name] = free_port()
            hold(self[name])
        return self[name]


class OnePort(Ports):
    """The API is where pages and streams are."""

    def __missing__(self, name):
        return self["api"] if name == "http" else super().__missing__(name)


class LiveServer:
    """One server. start() waits until it answers; stop() asks it to end and checks how it ended."""

    host = "127.0.0.1"

    def __init__(self, folder: Path, conf: str, ports: Ports | None = None, environment: dict | None = None):
        self.folder, self.ports = folder, ports if ports is not None else Ports()
        (self.folder / "objs").mkdir(parents=True, exist_ok=True)  # where a conf that names no files has them
        self.conf_path = folder / "srs.conf"
        self.log_path = folder / "console.log"
        self.environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "halt_on_error=1:detect_leaks=1"),
                            **(environment or {})}
        self.process: subprocess.Popen | None = None
        self.write_conf(conf)

    def write_conf(self, conf: str) -> None:
        names = {name for pair in re.findall(r"\$(?:(\w+)|\{(\w+)\})", conf) for name in pair if name} - {"folder"}
        values = {name: self.ports[name] for name in names if name.islower()}
        self.conf_path.write_text(string.Template(conf).safe_substitute(values, folder=self.folder))

    def start(self, arguments: list | None = None, ready: bool = True, preexec=None) -> "LiveServer":
        command = [str(BINARY), *(arguments if arguments is not None else ["-c", str(self.conf_path)])]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            cwd=self.folder, env=self.environment, preexec_fn=preexec)
        if ready:
            self.wait_ready()
        return self

    def wait_ready(self, limit_s: float = 20) -> None:
        limit = Limit(limit_s)
        while not limit.is_over():
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with status {self.process.returncode}:\n{self.log()[-2000:]}")
            try:
                if self.api("/api/v1/versions")["code"] == 0 and can_connect(self.ports["rtmp"], self.host) and self.all_serve():
                    return
            except (OSError, ValueError, KeyError):
                pass
            time.sleep(0.05)
        raise AssertionError(f"no answer from /api/v1/versions within {limit_s} s:\n{self.log()[-2000:]}")

    def all_serve(self) -> bool:
        count = workers_of(self.environment)
        return count == 1 or len(self.api("/api/v1/summaries")["data"]["workers"]) == count

    def pids(self) -> list[int]:
        """Of those that serve clients: the process, or its workers."""
        pid = self.process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] if workers_of(self.environment) > 1 else [pid]

    def stop(self, how: int = signal.SIGTERM, limit_s: float = 10) -> float:
        """Ends the server and checks that it ended well. Returns how long that took, in seconds of an idle machine."""
        took = Limit(limit_s)
        if self.process.poll() is None:
            self.process.send_signal(how)
        if not ends(self.process, limit_s):
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not end within {limit_s} s:\n{self.log()[-2000:]}")
        seconds, status = took.passed(), self.process.returncode
        assert status == 0, f"status {status}:\n{self.log()[-3000:]}"
        self.assert_no_report()
        last = self.log().strip().splitlines()[-1]
        assert "srs terminated" in last, f"the last log line is: {last}"
        return seconds

    def kill(self) -> None:
        """All processes at once, as a power cut does it; and for clean-up."""
        if self.process is not None and self.process.poll() is None:
            pids = self.pids()
            self.process.kill()
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            wait_until(lambda: all(is_gone(pid) for pid in pids), 5, "all processes are gone", 0.01)

    def assert_no_report(self) -> None:
        text = self.log()
        for mark in REPORT_MARKS:
            assert mark not in text, text[max(0, text.index(mark) - 200):][:4000]

    def assert_alive(self) -> None:
        assert self.process.poll() is None, f"the server is gone, status {self.process.returncode}:\n{self.log()[-3000:]}"
        assert self.api("/api/v1/versions")["code"] == 0

    def log(self) -> str:
        time.sleep(0.05)  # the server's writer is a thread of its own, some milliseconds behind
        return COLOURS.sub("", self.log_path.read_text(errors="replace")) if self.log_path.exists() else ""

    def complaints(self) -> list[str]:
        """Log lines of level WARN and ERROR."""
        return [line for line in self.log().splitlines() if re.search(r"\[(WARN|ERROR|Warn|Error)\]", line)]

    def wait_log(self, text: str, limit_s: float = 10) -> None:
        wait_until(lambda: text in self.log(), limit_s, lambda: f"{text!r} in the log, which ends:\n{self.log()[-1500:]}")

    def api(self, path: str, limit_s: float = 20) -> dict:
        with urllib.request.urlopen(f"http://{self.host}:{self.ports['api']}{path}", timeout=limit_s) as answer:
            return json.load(answer)

    def url(self, stream: str, app: str = "live", port: str = "rtmp", schema: str = "rtmp") -> str:
        return f"{schema}://{self.host}:{self.ports[port]}/{app}/{stream}"

    def resident_kib(self) -> int:
        return sum(int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) for pid in self.pids())

    def connections(self) -> int:
        """Open descriptors."""
        return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in self.pids())


def conf(vhost: str = "", root: str = "") -> str:
    """A whole conf from what a test adds to the default vhost and to the root."""
    return ROOT_CONF + root + "\nvhost __defaultVhost__ {\n" + vhost + "\n}\n"


def installed(program: str) -> bool:
    return shutil.which(program) is not None
