"""Nodes on machines of their own: each has a network namespace, and a wire between them carries whatever they send, each packet some time
later. The kernel's own delay (netem) is missing from many kernels, so the wire is a process between TUN devices.

Inside own_network.run():

    with Wire(delay_s=0.01, machines=2) as wire:
        origin = Node(folder, conf(...), wire.machines[0]).start()

The test itself is on the wire too, at Wire.ADDRESS."""

import collections
import ctypes
import fcntl
import multiprocessing
import os
import select
import struct
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import own_network
from live_server import LiveServer
from own_network import CLONE_NEWNET

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000
PACKET_BYTES_MAX = 2048
WAITING_MAX = 20_000
QUEUE_PACKETS = 10_000
DEVICE = "wire0"
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(namespace: int) -> None:
    """For the calling thread."""
    if LIBC.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def open_tun(namespace: int | None) -> int:
    """A TUN device of that namespace, or of the caller's. OSError where there is none."""
    opened: list = []

    def inside() -> None:
        try:
            if namespace is not None:
                enter(namespace)
            tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
            opened.append(tun)
        except OSError as error:
            opened.append(error)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    if isinstance(opened[0], OSError):
        raise opened[0]
    return opened[0]


def carry(tuns: dict[bytes, int], delay_s: float) -> None:
    """Passes packets on to whom they are addressed, in order, `delay_s` after they came. For ever."""
    waiting: collections.deque = collections.deque()
    while True:
        limit_s = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for tun in select.select(list(tuns.values()), [], [], limit_s)[0]:
            for _ in range(64):
                try:
                    packet = os.read(tun, PACKET_BYTES_MAX)
                except BlockingIOError:
                    break
                to = tuns.get(packet[16:20]) if packet[0] >> 4 == 4 else None
                if to is not None and len(waiting) < WAITING_MAX:
                    waiting.append((time.monotonic() + delay_s, to, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, to, packet = waiting.popleft()
            try:
                os.write(to, packet)
            except OSError:  # Its queue is full, or its machine is gone.
                pass


class Machine:
    """A network namespace on the wire. It lasts as long as its keeper, a process that waits for our end."""

    def __init__(self, address: str):
        self.address = address
        self.keeper = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo there; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.keeper.stdout.readline() != b"there\n":
            raise OSError("unshare")
        self.command = ["nsenter", f"--net=/proc/{self.keeper.pid}/ns/net"]
        self.namespace = os.open(f"/proc/{self.keeper.pid}/ns/net", os.O_RDONLY)
        self.tun = open_tun(self.namespace)

    def enter(self) -> None:
        enter(self.namespace)

    @contextmanager
    def inside(self):
        """The calling thread's new sockets are this machine's; what is open stays where it is."""
        here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        self.enter()
        try:
            yield
        finally:
            enter(here)
            os.close(here)

    def close(self) -> None:
        self.keeper.stdin.close()
        self.keeper.wait()
        os.close(self.namespace)
        os.close(self.tun)


class Wire:
    """`machines`, and the caller's own network. Skips, visibly, where that is not allowed."""

    ADDRESS = "10.78.0.1"

    def __init__(self, delay_s: float, machines: int):
        self.delay_s, self.count = delay_s, machines
        self.machines: list[Machine] = []
        self.tun, self.carrier = -1, None

    def __enter__(self):
        try:
            self.tun = open_tun(None)
            for number in range(self.count):
                self.machines.append(Machine(f"10.78.0.{number + 2}"))
        except OSError as error:
            self.__exit__()
            pytest.skip(f"no machines on a wire: {error}")
        for prefix, address in (([], self.ADDRESS), *((one.command, one.address) for one in self.machines)):
            # The queue holds what is sent while the wire's process has no CPU.
            for words in (f"address add {address}/24 dev {DEVICE}", f"link set {DEVICE} txqueuelen {QUEUE_PACKETS} up", "link set lo up"):
                subprocess.run([*prefix, "ip", *words.split()], check=True)
        tuns = {bytes(map(int, address.split("."))): tun for address, tun in ((self.ADDRESS, self.tun), *((one.address, one.tun) for one in self.machines))}
        self.carrier = multiprocessing.get_context("fork").Process(target=carry, args=(tuns, self.delay_s), daemon=True)
        self.carrier.start()
        return self

    def __exit__(self, *_):
        if self.carrier is not None:
            self.carrier.kill()
            self.carrier.join()
        for one in self.machines:
            one.close()
        if self.tun >= 0:
            os.close(self.tun)


class Here:
    """In place of a machine: where the test itself is."""

    address = "127.0.0.1"

    def enter(self) -> None:
        pass


HERE = Here()


class Node(LiveServer):
    """A server on a separate machine: 127.0.0.1 in its conf is replaced by the machine's address."""

    def __init__(self, folder: Path, conf: str, machine, **options):
        self.machine, self.host = machine, machine.address
        super().__init__(folder, conf, **options)

    def write_conf(self, conf: str) -> None:
        super().write_conf(conf.replace("127.0.0.1", self.host))

    def start(self, *arguments, **options) -> "Node":
        return super().start(*arguments, preexec=self.machine.enter, **options)


class Port:
    """A network namespace behind one port of a bridge, which may be pulled out."""

    def __init__(self, number: int):
        self.address, self.device = f"10.79.0.{number + 2}", f"port{number}"
        self.keeper = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo there; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.keeper.stdout.readline() != b"there\n":
            raise OSError("unshare")
        self.namespace = os.open(f"/proc/{self.keeper.pid}/ns/net", os.O_RDONLY)
        self._ip(f"link add name {self.device} type veth peer name {DEVICE} netns {self.keeper.pid}")
        self._ip(f"link set {self.device} up")
        for words in (f"address add {self.address}/24 dev {DEVICE}", f"link set {DEVICE} up", "link set lo up"):
            subprocess.run(["nsenter", f"--net=/proc/{self.keeper.pid}/ns/net", "ip", *words.split()], check=True)
        self.mend()

    @staticmethod
    def _ip(words: str) -> None:
        done = subprocess.run(["ip", *words.split()], capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(done.stderr)

    def enter(self) -> None:
        enter(self.namespace)

    def cut(self) -> None:
        """Drops all packets in both directions without a response."""
        self._ip(f"link set {self.device} nomaster")

    def mend(self) -> None:
        self._ip(f"link set {self.device} master {Bridge.DEVICE}")

    def close(self) -> None:
        self.keeper.stdin.close()
        self.keeper.wait()
        os.close(self.namespace)


class Bridge:
    """Ports of a bridge of the kernel's, which is quicker than a wire and has no delay. The caller is on it too, at Bridge.ADDRESS."""

    DEVICE, ADDRESS = "bridge0", "10.79.0.1"

    def __init__(self, ports: int = 0):
        self.count = ports
        self.ports: list[Port] = []

    def __enter__(self):
        try:
            for words in (f"link add name {self.DEVICE} type bridge", f"address add {self.ADDRESS}/24 dev {self.DEVICE}",
                          f"link set {self.DEVICE} up"):
                Port._ip(words)
            for _ in range(self.count):
                self.add_port()
        except OSError as error:
            self.__exit__()
            pytest.skip(f"no machines on a bridge: {error}")
        return self

    def add_port(self) -> Port:
        self.ports.append(Port(len(self.ports)))
        return self.ports[-1]

    def __exit__(self, *_):
        for one in self.ports:
            one.close()


class OneMachine:
    """Instead of a bridge, where that is not allowed: all is on one loopback."""

    ADDRESS = HERE.address

    @staticmethod
    def add_port() -> Here:
        return HERE


@contextmanager
def bridge_of_this_thread():
    """A bridge in a network of the calling thread's own, and of what it starts: processes and other threads. OneMachine, where that is not
    allowed."""
    if os.geteuid() != 0:  # a user namespace would be for ever
        yield OneMachine()
        return
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        own_network.enter()
    except OSError:
        os.close(here)
        yield OneMachine()
        return
    try:
        with Bridge() as bridge:
            yield bridge
    finally:
        enter(here)
        os.close(here)
