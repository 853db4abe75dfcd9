"""HTTP live streams by hand, byte by byte: a plain GET whose chunked body is read as FLV, and the same over WebSocket."""

import base64
import hashlib
import os
import socket
import struct
import time
from dataclasses import dataclass

AUDIO, VIDEO, SCRIPT = 8, 9, 18
WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class Tag:
    type: int
    timestamp: int
    body: bytes

    def is_sequence_header(self) -> bool:
        return self.type in (AUDIO, VIDEO) and len(self.body) > 1 and self.body[1] == 0

    def is_key_frame(self) -> bool:
        return self.type == VIDEO and self.body[0] >> 4 == 1 and not self.is_sequence_header()


class HttpStream:
    """One connection. status and headers are there after the constructor; read() gathers the body for some seconds."""

    def __init__(self, port: int, path: str, headers: dict | None = None, method: str = "GET", version: str = "1.1", limit_s: float = 10,
                 receive_buffer: int = 0):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(limit_s)
        self.socket.connect(("127.0.0.1", port))
        self.socket = self._prepare(self.socket)
        lines = [f"{method} {path} HTTP/{version}", f"Host: 127.0.0.1:{port}"] + [f"{k}: {v}" for k, v in (headers or {}).items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.rest = b""
        self.ended = False
        while b"\r\n\r\n" not in self.rest:
            self._receive(needed=True)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        first, *fields = head.decode().split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.lower(): value.strip() for name, value in (field.split(":", 1) for field in fields)}
        self.body = b""

    def _prepare(self, plain: socket.socket) -> socket.socket:
        return plain

    def _receive(self, needed: bool = False) -> None:
        data = self.socket.recv(1 << 16)
        if not data:
            self.ended = True
            if needed:
                raise ConnectionError(f"closed after {self.rest!r}")
        self.rest += data

    def read(self, seconds: float) -> bytes:
        """The body so far, with what comes in that time or until the end."""
        deadline = time.monotonic() + seconds
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                self._receive()
            except TimeoutError:
                break
        self._unframe()
        return self.body

    def read_until(self, condition, limit_s: float = 15) -> bytes:
        """The body, as soon as it satisfies the condition, the stream has ended or the time is over."""
        deadline = time.monotonic() + limit_s
        while not self.ended and not condition(self.body) and time.monotonic() < deadline:
            self.read(0.1)
        return self.body

    def _unframe(self) -> None:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            self.body, self.rest = self.body + self.rest, b""
            return
        while b"\r\n" in self.rest:
            line, after = self.rest.split(b"\r\n", 1)
            size = int(line, 16)
            if len(after) < size + 2:
                return
            assert after[size:size + 2] == b"\r\n", "a chunk ends with CRLF"
            self.body, self.rest = self.body + after[:size], after[size + 2:]
            self.last_chunk = size == 0

    def close(self) -> None:
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class WebSocketStream(HttpStream):
    """The same over WebSocket; messages of the server are the body's parts, close_code is known when it has closed."""

    def __init__(self, port: int, path: str, **options):
        key = base64.b64encode(os.urandom(16)).decode()
        super().__init__(port, path, {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key,
                                      "Sec-WebSocket-Version": "13"}, **options)
        self.close_code, self.pongs = None, []
        wanted = base64.b64encode(hashlib.sha1((key + WEBSOCKET_GUID).encode()).digest()).decode()
        self.accepted = self.status == 101 and self.headers.get("sec-websocket-accept") == wanted

    def send_frame(self, opcode: int, payload: bytes) -> None:
        mask = os.urandom(4)
        length = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0x80 | 126, len(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def _unframe(self) -> None:
        while len(self.rest) >= 2:
            opcode, length, at = self.rest[0] & 0x0F, self.rest[1] & 0x7F, 2
            assert not self.rest[1] & 0x80, "a server does not mask"
            if length >= 126:
                width = 2 if length == 126 else 8
                if len(self.rest) < at + width:
                    return
                length, at = int.from_bytes(self.rest[at:at + width], "big"), at + width
            if len(self.rest) < at + length:
                return
            payload, self.rest = self.rest[at:at + length], self.rest[at + length:]
            if opcode == 8:
                self.close_code = int.from_bytes(payload[:2], "big")
            elif opcode == 10:
                self.pongs.append(payload)
            else:
                assert opcode == 2, f"opcode {opcode}"
                self.body += payload


def count_tags(body: bytes, *types: int) -> int:
    """Whole tags so far, of these types or of all."""
    return sum(not types or tag.type in types for tag in read_tags(body)[1]) if len(body) >= 13 else 0


def read_tags(body: bytes) -> tuple[int, list[Tag]]:
    """The flags of the FLV header and all whole tags."""
    assert body[:4] == b"FLV\x01" and body[5:9] == b"\0\0\0\x09", body[:16]
    tags, at = [], 13
    while at + 11 <= len(body):
        size = int.from_bytes(body[at + 1:at + 4], "big")
        if at + 15 + size > len(body):
            break
        timestamp = body[at + 7] << 24 | int.from_bytes(body[at + 4:at + 7], "big")
        assert int.from_bytes(body[at + 11 + size:at + 15 + size], "big") == size + 11
        tags.append(Tag(body[at], timestamp, body[at + 11:at + 11 + size]))
        at += 15 + size
    return body[4], tags
