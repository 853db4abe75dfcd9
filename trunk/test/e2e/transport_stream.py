"""A transport stream of H.264 made by hand, with frames as large as a test wants, and what sends it over UDP and SRT."""

import ctypes
import functools
import socket
import struct
import time
from pathlib import Path

from live_server import Limit

PACKET_BYTES, UNIT_BYTES = 188, 7 * 188
MAP_PID, VIDEO_PID = 0x1000, 0x100
START_CODE = b"\x00\x00\x00\x01"
SETS = START_CODE + bytes.fromhex("67640028acb403c0113f2e02200000030020000006d1e30654") + START_CODE + bytes.fromhex("68ee3cb0")
LENGTH = 184  # of a packet's payload
FIRST = LENGTH - 8  # with a clock reference


def crc32_mpeg2(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
    return crc


def section(table: int, body: bytes, version: int = 0) -> bytes:
    data = struct.pack(">BHHBBB", table, 0xB000 | len(body) + 9, 1, 0xC1 | version << 1, 0, 0) + body
    return data + struct.pack(">I", crc32_mpeg2(data))


TABLES = {0: section(0, struct.pack(">HH", 1, 0xE000 | MAP_PID)),
          MAP_PID: section(2, struct.pack(">HHBHH", 0xE000 | VIDEO_PID, 0xF000, 0x1B, 0xE000 | VIDEO_PID, 0xF000))}


def picture(number: int, size: int, fill: bytes = b"\xab") -> bytes:
    """A NAL unit of a key frame that contains its number."""
    return b"\x65\x88%06d" % number + fill * (size - 8)


class TransportStream:
    """Key frames with their tables. The last one is complete, for a receiver, when another one begins or the stream ends."""

    def __init__(self):
        self.counters = {pid: 0 for pid in (*TABLES, VIDEO_PID)}

    def _head(self, pid: int, begins: bool, adaptation: bytes = b"") -> bytes:
        count = self.counters[pid]
        self.counters[pid] = (count + 1) % 16
        return struct.pack(">BHB", 0x47, 0x4000 * begins | pid, (0x30 if adaptation else 0x10) | count) + adaptation

    def tables(self, version: int, streams: list[tuple[int, int]]) -> bytes:
        """Another list of streams: (0xE000 | PID, type)."""
        body = struct.pack(">HH", 0xE000 | VIDEO_PID, 0xF000) + b"".join(struct.pack(">BHH", kind, pid, 0xF000) for pid, kind in streams)
        return self._head(MAP_PID, True) + (b"\x00" + section(2, body, version)).ljust(LENGTH, b"\xff")

    def frame(self, number: int, time_ms: int, size: int, fill: bytes = b"\xab") -> bytes:
        assert size >= FIRST
        ticks = 90 * (time_ms + 1000)
        stamp = struct.pack(">BHH", 0x21 | ticks >> 29 & 0x0E, ticks >> 14 & 0xFFFE | 1, ticks << 1 & 0xFFFE | 1)
        pes = b"\x00\x00\x01\xe0\x00\x00\x80\x80\x05" + stamp + SETS + START_CODE + picture(number, size, fill)
        clock = struct.pack(">BBIH", 7, 0x50, ticks >> 1, (ticks & 1) << 15 | 0x7E00)
        out = [self._head(pid, True) + (b"\x00" + body).ljust(LENGTH, b"\xff") for pid, body in TABLES.items()]
        out += (self._head(VIDEO_PID, True, clock), pes[:FIRST])
        end = FIRST + (len(pes) - FIRST) // LENGTH * LENGTH
        for at in range(FIRST, end, LENGTH):
            out += (self._head(VIDEO_PID, False), pes[at:at + LENGTH])
        if rest := pes[end:]:
            stuffing = LENGTH - len(rest)
            out += (self._head(VIDEO_PID, False, bytes([stuffing - 1]) + b"\x00\xff"[:stuffing - 1].ljust(stuffing - 1, b"\xff")), rest)
        return b"".join(out)


def pictures_in(stream: bytes) -> list[bytes]:
    """Of a transport stream that the server writes: each key frame's NAL unit."""
    units: list[list[bytes]] = []
    for at in range(0, len(stream), PACKET_BYTES):
        second, third, fourth = stream[at + 1], stream[at + 2], stream[at + 3]
        if (second & 0x1F) << 8 | third != VIDEO_PID:
            continue
        if second & 0x40:
            units.append([])
        if units and fourth & 0x10:
            units[-1].append(stream[at + (5 + stream[at + 4] if fourth & 0x20 else 4):at + PACKET_BYTES])
    whole = [b"".join(parts) for parts in units]
    return [unit[unit.index(b"\x65\x88"):] for unit in whole if b"\x65\x88" in unit]


class UdpSender:
    """To a port of this machine. As fast as its reader takes it, so that the kernel drops nothing. Use as a context."""

    DATAGRAMS = 32

    def __init__(self, port: int, host: str = "127.0.0.1", source: str = ""):
        self.address, self.socket = (host, port), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((source, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _is_taken(self) -> bool:
        lines = [line.split() for line in Path("/proc/net/udp").read_text(encoding="ascii").splitlines()[1:]]
        return all(int(line[4].split(":")[1], 16) < UNIT_BYTES * self.DATAGRAMS for line in lines if int(line[1].split(":")[1], 16) == self.address[1])

    def send(self, stream: bytes, limit_s: float = 10) -> None:
        limit = Limit(limit_s)
        for at in range(0, len(stream), UNIT_BYTES * self.DATAGRAMS):
            while not self._is_taken() and not limit.is_over():
                time.sleep(0.001)
            for begin in range(at, min(at + UNIT_BYTES * self.DATAGRAMS, len(stream)), UNIT_BYTES):
                self.socket.sendto(stream[begin:begin + UNIT_BYTES], self.address)


@functools.cache
def libsrt() -> ctypes.CDLL | None:
    """The library of the machine, which ffmpeg uses too."""
    for name in ("libsrt-gnutls.so.1.5", "libsrt.so.1.5", "libsrt-openssl.so.1.5"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.srt_getlasterror_str.restype = ctypes.c_char_p
        library.srt_startup()
        return library
    return None


def srt_address(host: str, port: int) -> bytes:
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(host))


class SrtSender:
    """A publisher. Use as a context. OSError when it is refused, or nothing is taken of it for some seconds."""

    SEND_TIME_LIMIT, LATENCY, SEND_DATA, STREAM_ID = 13, 23, 19, 46  # options
    LATENCY_MS = 300

    def __init__(self, port: int, stream_id: str, host: str = "127.0.0.1", source: str = "0.0.0.0"):
        self.library, text = libsrt(), stream_id.encode()
        self.socket = self.library.srt_create_socket()
        for option, value in ((self.SEND_TIME_LIMIT, struct.pack("=i", 3000)), (self.LATENCY, struct.pack("=i", self.LATENCY_MS)), (self.STREAM_ID, text)):
            self.library.srt_setsockflag(self.socket, option, value, len(value))
        here, there = srt_address(source, 0), srt_address(host, port)
        if self.library.srt_bind(self.socket, here, len(here)) != 0 or self.library.srt_connect(self.socket, there, len(there)) != 0:
            self.library.srt_close(self.socket)
            raise OSError(f"SRT: reason {self.library.srt_getrejectreason(self.socket)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.srt_close(self.socket)

    def send(self, stream: bytes) -> None:
        for at in range(0, len(stream), UNIT_BYTES):
            unit = stream[at:at + UNIT_BYTES]
            if self.library.srt_send(self.socket, unit, len(unit)) < 0:
                raise OSError(f"SRT: {self.library.srt_getlasterror_str().decode()}")

    def wait_taken(self, limit_s: float = 10) -> None:
        """Everything has come, and what is late is due."""
        count, size, limit = ctypes.c_int32(1), ctypes.c_int(4), Limit(limit_s)
        while count.value > 0 and not limit.is_over():
            self.library.srt_getsockflag(self.socket, self.SEND_DATA, ctypes.byref(count), ctypes.byref(size))
            time.sleep(0.01)
        time.sleep(2 * self.LATENCY_MS / 1000)


STEP_MS = 40
CLIP_MS = 20_000
