"""A network of a test's own: a namespace with nothing in it but a loopback interface, whose counters then are the test's. Beside it
another machine, if the test wants one: a second namespace, with a wire between the two."""

import ctypes
import fcntl
import multiprocessing
import os
import socket
import struct
import subprocess
import time
import traceback
from pathlib import Path

import pytest

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1
# Ethernet's, IPv4's and TCP's headers, the last with its timestamps.
HEADER_BYTES = 14 + 20 + 32
# IPv4 and UDP: loopback does not count an Ethernet header, which is nothing beside a TCP segment and 2 % of these.
UDP_HEADER_BYTES = 20 + 8


def loopback_payload(header_bytes: int = HEADER_BYTES) -> int:
    """Bytes that connections over loopback have carried, by /proc/net/dev, without the packets' headers: TCP's, or UDP_HEADER_BYTES."""
    line = next(line for line in Path("/proc/self/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    received_bytes, received_packets = (int(word) for word in line.split(":")[1].split()[:2])
    return received_bytes - received_packets * header_bytes


def segments_sent_again() -> int:
    """By TCP, each of at most 64 KiB: a delayed acknowledgement makes the kernel send the last one twice, on loopback too."""
    names, values = (line.split() for line in Path("/proc/self/net/snmp").read_text().splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("RetransSegs")])


def wait_until_quiet(limit_s: float = 5) -> None:
    """Until loopback carries next to nothing (keep-alives, reports) for a fifth of a second, or the limit is over."""
    end = time.monotonic() + limit_s
    before = loopback_payload()
    while time.monotonic() < end:
        time.sleep(0.2)
        now = loopback_payload()
        if now - before < 10_000:
            return
        before = now


def enter() -> None:
    """For the calling process and what it starts. OSError where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWUSER | CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def bring_hosts(path: Path) -> None:
    """Inside run(): names stand for the addresses in this file, also when it is written again. Skips where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        pytest.skip("no file system of its own")
    for words in (["--make-rprivate", "/"], ["--bind", str(path), "/etc/hosts"]):
        done = subprocess.run(["mount", *words], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"no file system of its own: {done.stderr}")


def run(function, *arguments, limit_s: float = 60) -> None:
    """Calls the function in a process and a network of its own; its failure is the test's. Skips, visibly, where that is not allowed."""
    def inside(end) -> None:
        try:
            enter()
        except OSError as error:
            end.send(("skip", f"no network of its own: {error}"))
            return
        try:
            function(*arguments)
            end.send(("done", ""))
        except pytest.skip.Exception as skipped:
            end.send(("skip", str(skipped)))
        except BaseException:  # pylint: disable=broad-exception-caught
            end.send(("failed", traceback.format_exc()))

    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=inside, args=(there,))
    process.start()
    there.close()
    outcome, words = here.recv() if here.poll(limit_s) else ("failed", f"not done within {limit_s:g} s")
    process.join(5)
    if process.is_alive():
        process.kill()
    if outcome == "skip":
        pytest.skip(words)
    assert outcome == "done", words


class AnotherMachine:
    """Inside run(): a context that lives beside this network. `command` begins the commands that run there; this network is
    AnotherMachine.NEAR for it, it is AnotherMachine.FAR for us."""

    NEAR, FAR = "10.77.0.1", "10.77.0.2"

    def __enter__(self):
        # It keeps the namespace; what it waits for is our end.
        self.keeper = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo there; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.command = ["nsenter", f"--net=/proc/{self.keeper.pid}/ns/net"]
        try:
            if self.keeper.stdout.readline() != b"there\n":
                raise OSError("unshare")
            ip = ["ip", "link", "add", "name", "near0", "type", "veth", "peer", "name", "far0", "netns", str(self.keeper.pid)]
            subprocess.run(ip, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            pytest.skip(f"no wire between two networks: {getattr(error, 'stderr', '') or error}")
        for prefix, interface, address in (([], "near0", self.NEAR), (self.command, "far0", self.FAR)):
            for words in (f"address add {address}/24 dev {interface}", f"link set {interface} up", "link set lo up"):
                subprocess.run([*prefix, "ip", *words.split()], check=True)
        return self

    def __exit__(self, *_):
        self.keeper.stdin.close()
        self.keeper.wait()
