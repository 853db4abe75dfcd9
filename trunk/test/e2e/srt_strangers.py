"""SRT clients made by hand, over a socket that the caller has: handshakes with any passphrase, and players that ask for everything again."""

import contextlib
import os
import socket
import struct
import time

CONCLUSION = 0xFFFFFFFF
HANDSHAKE, ACK, NAK, ACK_ACK = 0, 2, 3, 6
HEADER_BYTES = 16


def control(kind: int, to: int, information: int = 0, contents: bytes = bytes(4)) -> bytes:
    return struct.pack(">HHIII", 0x8000 | kind, 0, information, 0, to) + contents


def handshake(version: int, kind: int, cookie: int, socket_id: int, extensions: bytes = b"", flags: int = 0, encryption: int = 0) -> bytes:
    field = 2 if version == 4 else flags
    return control(HANDSHAKE, 0, 0, struct.pack(">IHHIIIIII16s", version, encryption, field, 1, 1500, 25600, kind, socket_id, cookie, bytes(16))) + extensions


def extension(kind: int, contents: bytes) -> bytes:
    contents = contents.ljust(-len(contents) % 4 + len(contents), b"\0")
    return struct.pack(">HH", kind, len(contents) // 4) + contents


def conclusion(cookie: int, socket_id: int, stream_id: str, latency_ms: int = 120, is_encrypted: bool = False) -> bytes:
    """With a key that no passphrase opens, if it is encrypted."""
    out = extension(1, struct.pack(">IIHH", 0x010503, 0xBF, latency_ms, 0))
    if is_encrypted:
        out += extension(3, struct.pack(">BHBIBBBBHBB", 0x12, 0x2029, 1, 0, 2, 0, 2, 0, 0, 4, 4) + os.urandom(16 + 24))
    text = stream_id.encode()
    text = text.ljust(-len(text) % 4 + len(text), b"\0")
    out += extension(5, b"".join(text[at:at + 4][::-1] for at in range(0, len(text), 4)))
    return handshake(5, CONCLUSION, cookie, socket_id, out, 5 | 2 * is_encrypted, 2 * is_encrypted)


def cookies(udp: socket.socket, socket_ids, limit_s: float = 10) -> int:
    """Of this address and port, which all ids have in common. `udp` is connected."""
    end = time.monotonic() + limit_s
    udp.settimeout(0.5)
    while time.monotonic() < end:
        udp.send(handshake(4, 1, 0, socket_ids[0]))
        with contextlib.suppress(OSError):
            answer = udp.recv(2000)
            if len(answer) >= HEADER_BYTES + 48:
                return struct.unpack_from(">I", answer, HEADER_BYTES + 28)[0]
    raise OSError("SRT: no answer to an induction")


class GreedyPlayer:
    """Requests a minute of latency, claims a round trip of a microsecond, and repeatedly reports the loss of everything. OSError when it is
    refused."""

    def __init__(self, udp: socket.socket, stream_id: str, socket_id: int):
        self.udp, self.bytes, self.first, self.newest, self.number = udp, 0, None, 0, 0
        udp.send(conclusion(cookies(udp, [socket_id]), socket_id, stream_id, 65_000))
        answer = udp.recv(2000)
        kind = struct.unpack_from(">I", answer, HEADER_BYTES + 20)[0]
        if kind != CONCLUSION:
            raise OSError(f"SRT: refused, {kind}")
        self.peer = struct.unpack_from(">I", answer, HEADER_BYTES + 24)[0]
        udp.setblocking(False)

    def ask(self) -> None:
        """Takes what has come, and asks for all of it again."""
        with contextlib.suppress(BlockingIOError):
            while True:
                datagram = self.udp.recv(2000)
                self.bytes += len(datagram)
                if datagram[0] & 0x80 == 0:
                    sequence = struct.unpack_from(">I", datagram)[0]
                    self.first = sequence if self.first is None else self.first
                    self.newest = max(self.newest, sequence)
        self.number += 1
        if self.first is not None:
            with contextlib.suppress(OSError):
                self.udp.send(control(ACK, self.peer, self.number, struct.pack(">IIII", self.first, 1, 1, 25_600)))
                self.udp.send(control(NAK, self.peer, 0, struct.pack(">II", self.first | 0x80000000, self.newest)))
