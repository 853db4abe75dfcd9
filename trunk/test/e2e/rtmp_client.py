"""An RTMP client in plain Python for tests that must see or send every byte: it can be well behaved (publish, play, pause) and it
can be rude (any bytes at any time). It is written for clarity on loopback; it is no load tool. AMF0, chunks and the simple
handshake follow Adobe's RTMP specification 1.0."""

import functools
import os
import socket
import struct
import threading
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from live_server import Limit

SET_CHUNK_SIZE, ABORT, ACKNOWLEDGEMENT, USER_CONTROL, WINDOW_ACK_SIZE, SET_PEER_BANDWIDTH = 1, 2, 3, 4, 5, 6
AUDIO, VIDEO, DATA, COMMAND = 8, 9, 18, 20
CHUNK_STREAM = {AUDIO: 4, DATA: 5, VIDEO: 6}


class Closed(Exception):
    """The server closed the connection."""


def amf0(value) -> bytes:
    """Encodes None, bool, numbers, str and dict."""
    if value is None:
        return b"\x05"
    if isinstance(value, bool):
        return b"\x01" + bytes([value])
    if isinstance(value, (int, float)):
        return b"\x00" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"\x02" + amf0_key(value)
    if isinstance(value, dict):
        return b"\x03" + b"".join(amf0_key(k) + amf0(v) for k, v in value.items()) + b"\x00\x00\x09"
    raise TypeError(f"no AMF0 for {value!r}")


def amf0_key(text: str) -> bytes:
    raw = text.encode()
    return struct.pack(">H", len(raw)) + raw


def read_amf0(data: bytes) -> list:
    """Decodes all values of a command."""
    values, at = [], 0
    while at < len(data):
        value, at = _read_value(data, at)
        values.append(value)
    return values


def _read_value(data: bytes, at: int):
    kind, at = data[at], at + 1
    if kind == 0:
        return struct.unpack_from(">d", data, at)[0], at + 8
    if kind == 1:
        return bool(data[at]), at + 1
    if kind == 2:
        return _read_text(data, at)
    if kind in (3, 8):
        at += 4 if kind == 8 else 0
        result = {}
        while data[at:at + 3] != b"\x00\x00\x09":
            key, at = _read_text(data, at)
            result[key], at = _read_value(data, at)
        return result, at + 3
    if kind in (5, 6):
        return None, at
    if kind == 10:
        count, at = struct.unpack_from(">I", data, at)[0], at + 4
        items = []
        for _ in range(count):
            item, at = _read_value(data, at)
            items.append(item)
        return items, at
    raise ValueError(f"AMF0 type {kind}")


def _read_text(data: bytes, at: int):
    length = struct.unpack_from(">H", data, at)[0]
    return data[at + 2:at + 2 + length].decode(), at + 2 + length


@dataclass
class Message:
    type: int
    timestamp: int
    stream_id: int
    payload: bytes
    arrived: float = 0.0

    def command(self) -> list:
        return read_amf0(self.payload)

    def is_key_frame(self) -> bool:
        return self.type == VIDEO and len(self.payload) > 1 and self.payload[0] >> 4 == 1 and self.payload[1] != 0

    def is_sequence_header(self) -> bool:
        return len(self.payload) > 1 and self.payload[1] == 0 and (self.type == VIDEO or self.type == AUDIO and self.payload[0] >> 4 == 10)

    def mark(self) -> tuple:
        return self.type, zlib.crc32(self.payload)


def encode_message(kind: int, timestamp: int, payload: bytes, stream_id: int = 1, chunk_stream: int | None = None,
                   chunk_size: int = 60000) -> bytes:
    """A message as chunks: type 0, then type 3. Times of 0xFFFFFF and later are extended."""
    csid = chunk_stream or CHUNK_STREAM.get(kind, 3)
    extended = struct.pack(">I", timestamp) if timestamp >= 0xFFFFFF else b""
    short_time = min(timestamp, 0xFFFFFF)
    out = [bytes([csid]) + short_time.to_bytes(3, "big") + len(payload).to_bytes(3, "big") + bytes([kind]) +
           stream_id.to_bytes(4, "little") + extended]
    for at in range(0, len(payload), chunk_size):
        if at:
            out.append(bytes([0xC0 | csid]) + extended)
        out.append(payload[at:at + chunk_size])
    return b"".join(out)


# E-RTMP v2, CapsExMask: several tracks of a kind are understood.
KNOWS_TRACKS = 2


class RtmpClient:
    """One connection. Use as a context. Reads block up to `timeout` seconds and then raise TimeoutError."""

    def __init__(self, port: int, timeout: float = 30, receive_buffer: int | None = None, host: str = "127.0.0.1", source: str | None = None):
        self.socket = socket.socket()
        if source:
            self.socket.bind((source, 0))
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.timeout = timeout
        self.socket.settimeout(timeout)
        self.socket.connect((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port, self.host = port, host
        self.received = 0
        self._acknowledged = 0
        self._chunk_size_in = 128
        self._chunk_size_out = 128
        self._lanes: dict[int, dict] = {}
        self._buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self.socket.close()

    # Bytes.

    def send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed(str(error)) from None

    def _need(self, count: int, patience_s: float = 40) -> None:
        """Reads until so many bytes are buffered. A time-out of the socket in the middle of a chunk is waited out."""
        deadline = time.monotonic() + patience_s
        while len(self._buffer) < count:
            try:
                block = self.socket.recv(262144)
            except TimeoutError:
                if time.monotonic() >= deadline:
                    raise
                continue
            except ConnectionResetError as error:
                raise Closed(str(error)) from None
            if not block:
                raise Closed("end of stream")
            self.received += len(block)
            self._buffer += block
            if self.received - self._acknowledged > 1_000_000:
                self._acknowledged = self.received
                self.send_message(ACKNOWLEDGEMENT, struct.pack(">I", self.received & 0xFFFFFFFF), stream_id=0, chunk_stream=2)

    def _take(self, count: int) -> bytes:
        self._need(count)
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def wait_closed(self, limit_s: float) -> bytes:
        """Reads to the end. Fails with TimeoutError when the server has not closed in time."""
        deadline, got = time.monotonic() + limit_s, bytearray()
        while True:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                block = self.socket.recv(65536)
            except ConnectionResetError:
                return bytes(got)
            if not block:
                return bytes(got)
            got += block

    # Messages.

    def handshake(self) -> None:
        hello = bytes(8) + os.urandom(1528)
        self.send(b"\x03" + hello)
        answer = self._take(1 + 1536 + 1536)
        assert answer[0] == 3, f"S0 is {answer[0]}"
        self.send(answer[1:1537])

    def send_message(self, kind: int, payload: bytes, timestamp: int = 0, stream_id: int = 1, chunk_stream: int | None = None) -> None:
        self.send(encode_message(kind, timestamp, payload, stream_id, chunk_stream, self._chunk_size_out))

    def set_chunk_size(self, size: int) -> None:
        self.send_message(SET_CHUNK_SIZE, struct.pack(">I", size), stream_id=0, chunk_stream=2)
        self._chunk_size_out = size

    def call(self, name: str, transaction: int, *arguments, stream_id: int = 0) -> None:
        payload = amf0(name) + amf0(transaction) + b"".join(amf0(a) for a in arguments)
        self.send_message(COMMAND, payload, stream_id=stream_id, chunk_stream=3 if stream_id == 0 else 8)

    def read_message(self) -> Message:
        while True:
            message = self._read_chunk()
            if message is None:
                continue
            if message.type == SET_CHUNK_SIZE:
                self._chunk_size_in = struct.unpack(">I", message.payload[:4])[0]
            elif message.type == USER_CONTROL and message.payload[:2] == b"\x00\x06":
                self.send_message(USER_CONTROL, b"\x00\x07" + message.payload[2:6], stream_id=0, chunk_stream=2)
            return message

    def _read_chunk(self) -> Message | None:
        self._need(1, patience_s=0)
        first = self._take(1)[0]
        form, csid = first >> 6, first & 63
        if csid == 0:
            csid = 64 + self._take(1)[0]
        elif csid == 1:
            low, high = self._take(2)
            csid = 64 + low + 256 * high
        lane = self._lanes.setdefault(csid, {"time": 0, "delta": 0, "length": 0, "type": 0, "stream": 0, "extended": False, "parts": b""})
        time_field = 0
        if form < 3:
            header = self._take((11, 7, 3)[form])
            time_field = int.from_bytes(header[:3], "big")
            lane["extended"] = time_field == 0xFFFFFF
            if form < 2:
                lane["length"], lane["type"] = int.from_bytes(header[3:6], "big"), header[6]
            if form == 0:
                lane["stream"] = int.from_bytes(header[7:11], "little")
        if lane["extended"]:
            extended = struct.unpack(">I", self._take(4))[0]
            time_field = extended if form < 3 else time_field
        if not lane["parts"]:
            if form == 0:
                lane["time"], lane["delta"] = time_field, 0
            else:
                lane["delta"] = time_field if form < 3 else lane["delta"]
                lane["time"] = lane["time"] + lane["delta"] & 0xFFFFFFFF
        lane["parts"] += self._take(min(self._chunk_size_in, lane["length"] - len(lane["parts"])))
        if len(lane["parts"]) < lane["length"]:
            return None
        payload, lane["parts"] = lane["parts"], b""
        return Message(lane["type"], lane["time"], lane["stream"], payload, time.monotonic())

    def read_command(self, name: str, limit_s: float = 10) -> list:
        """The next command of this name; media before it is dropped."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            message = self.read_message()
            if message.type == COMMAND:
                values = message.command()
                if values[0] == name:
                    return values
        raise TimeoutError(f"no {name} within {limit_s} s")

    def read_status(self, limit_s: float = 10) -> dict:
        """The information object of the next onStatus."""
        return self.read_command("onStatus", limit_s)[3]

    # Conversations.

    def connect(self, app: str = "live", arguments: dict | None = None, **extra) -> dict:
        """`arguments`: what follows the command object, as servers say it."""
        self.handshake()
        self.set_chunk_size(60000)
        self.call("connect", 1, {"app": app, "type": "nonprivate", "flashVer": "FMLE/3.0 (compatible; test)",
                                 "tcUrl": f"rtmp://{self.host}:{self.port}/{app}", **extra}, *([arguments] if arguments else []))
        values = self.read_command("_result")
        return values[3]

    def create_stream(self) -> None:
        self.call("createStream", 4, None)
        self.read_command("_result")

    def publish(self, stream: str, app: str = "live") -> dict:
        """Connects and asks to publish as an encoder does; gives the status with which the server answers."""
        self.connect(app)
        self.call("releaseStream", 2, None, stream)
        self.call("FCPublish", 3, None, stream)
        self.call("createStream", 4, None)
        self.call("publish", 5, None, stream, "live", stream_id=1)
        return self.read_status()

    def play(self, stream: str, app: str = "live", **extra) -> dict:
        """Connects and asks to play; gives the first status that is not the reset."""
        self.connect(app, **extra)
        self.create_stream()
        self.call("play", 5, None, stream, -2000, stream_id=1)
        status = self.read_status()
        return self.read_status() if status["code"] == "NetStream.Play.Reset" else status

    def read_media(self, seconds: float) -> list[Message]:
        """Audio and video that arrive within so many seconds."""
        deadline, got = time.monotonic() + seconds, []
        while (left := deadline - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                message = self.read_message()
            except TimeoutError:
                break
            if message.type in (AUDIO, VIDEO):
                got.append(message)
        self.socket.settimeout(self.timeout)
        return got

    def read_at_least(self, count: int, limit_s: float = 15) -> list[Message]:
        """The next audio and video messages, however long that takes a busy machine; fewer only when the time is over."""
        deadline, got = time.monotonic() + limit_s, []
        while len(got) < count and (left := deadline - time.monotonic()) > 0:
            got += self.read_media(min(0.1, left))
        return got


@dataclass
class Tag:
    type: int
    timestamp: int
    payload: bytes

    def is_setup(self) -> bool:
        return self.type == DATA or Message(self.type, 0, 0, self.payload).is_sequence_header()


def read_flv(path: Path) -> list[Tag]:
    return read_flv_tags(path.read_bytes())


def read_flv_tags(data: bytes) -> list[Tag]:
    at, tags = 13, []
    while at + 11 <= len(data):
        size = int.from_bytes(data[at + 1:at + 4], "big")
        stamp = int.from_bytes(data[at + 4:at + 7], "big") | data[at + 7] << 24
        body = data[at + 11:at + 11 + size]
        kind = data[at]
        if kind == DATA:
            body = amf0("@setDataFrame") + body
        tags.append(Tag(kind, stamp, body))
        at += 11 + size + 4
    return tags


class Publisher(threading.Thread):
    """Publishes a clip in real time, over and over, until stop(). Keeps the mark of every audio and video message it sent."""

    def __init__(self, port: int, stream: str, clip: Path, app: str = "live", host: str = "127.0.0.1"):
        super().__init__(daemon=True)
        self.client, self.stream, self.tags = RtmpClient(port, host=host), stream, read_flv(clip)
        self.sent: list[tuple] = []
        self.sent_at: dict[tuple, float] = {}
        self.longest_pause = 0.0  # between two messages: more than their times say when this process did not get a CPU
        self.error: Exception | None = None
        self._stopping = threading.Event()
        self.status = self.client.publish(stream, app)

    def run(self) -> None:
        try:
            self._publish()
        except (Closed, OSError) as error:
            self.error = error
        finally:
            self.client.close()

    def _publish(self) -> None:
        round_start, media_start = time.monotonic(), 0
        last_at = round_start
        length = self.tags[-1].timestamp + 40
        while True:
            for tag in self.tags:
                if tag.is_setup() and media_start > 0:
                    continue
                wait = round_start + tag.timestamp / 1000 - time.monotonic()
                if self._stopping.wait(max(0.0, wait)):
                    return self._say_goodbye()
                self.client.send_message(tag.type, tag.payload, media_start + tag.timestamp)
                if tag.type != DATA:
                    mark = (tag.type, zlib.crc32(tag.payload))
                    now = time.monotonic()
                    self.longest_pause, last_at = max(self.longest_pause, now - last_at), now
                    self.sent.append(mark)
                    self.sent_at[mark] = now
            round_start += length / 1000
            media_start += length

    @functools.cached_property
    def key_marks(self) -> set[tuple]:
        return {message.mark() for message in (Message(t.type, 0, 0, t.payload) for t in self.tags) if message.is_key_frame()}

    def frames_since_key(self) -> int:
        """Video that has been sent behind the newest key frame, which a player with a GOP cache begins with."""
        count = 0
        for mark in reversed(self.sent):
            if mark in self.key_marks:
                break
            count += mark[0] == VIDEO
        return count

    def _say_goodbye(self) -> None:
        self.client.call("FCUnpublish", 6, None, self.stream)
        self.client.call("deleteStream", 7, None, 1)
        time.sleep(0.2)

    def stop(self) -> None:
        self._stopping.set()
        self.join(5)

    def break_off(self) -> None:
        """Goes without a word, as a killed encoder does."""
        self._stopping.set()
        self.client.close()
        self.join(5)


class Player(threading.Thread):
    """Plays until stop() and keeps every audio and video message. `extra`: in the connect command, such as capsEx=KNOWS_TRACKS."""

    kept = (AUDIO, VIDEO)

    def __init__(self, port: int, stream: str, app: str = "live", host: str = "127.0.0.1", **extra):
        super().__init__(daemon=True)
        self.client = RtmpClient(port, host=host)
        self.asked_at = time.monotonic()
        self.status = self.client.play(stream, app, **extra)
        self.messages: list[Message] = []
        self.error: Exception | None = None
        self._stopping = threading.Event()

    def run(self) -> None:
        self.client.socket.settimeout(0.2)
        while not self._stopping.is_set():
            try:
                message = self.client.read_message()
            except TimeoutError:
                continue
            except (Closed, OSError) as error:
                self.error = error
                return
            if message.type in self.kept:
                self.messages.append(message)

    def stop(self) -> list[Message]:
        self._stopping.set()
        self.join(5)
        self.client.close()
        return self.messages


def assert_gapless(received: list[Message], sent: list[tuple], what: str = "player") -> None:
    """Checks that a player received a contiguous part of the stream, after the sequence headers."""
    marks = [m.mark() for m in received if not m.is_sequence_header()]
    assert marks, f"{what}: nothing received"
    start = next((i for i, mark in enumerate(sent) if mark == marks[0]), None)
    assert start is not None, f"{what}: received something that was never sent"
    for position, (got, want) in enumerate(zip(marks, sent[start:])):
        assert got == want, f"{what}: message {position} of {len(marks)} is not the one that was sent next"
    last = {}
    for message in received:
        assert message.timestamp >= last.get(message.type, 0), f"{what}: time went back from {last[message.type]} to {message.timestamp}"
        last[message.type] = message.timestamp


class Bystander:
    """A publisher and a player of another stream, which must lose nothing and not be delayed by a misbehaving client.

    Use as a context; leaving it checks that every message came, in order, none later than `stall_s` after the one before. The time for which
    this process did not publish either is not counted, and a busy machine may keep the server from a CPU for a second or two."""

    def __init__(self, port: int, clip: Path, stream: str = "bystander", stall_s: float = 2.5):
        self.publisher = Publisher(port, stream, clip)
        assert self.publisher.status["level"] == "status", self.publisher.status
        self.player = Player(port, stream)
        self.stall_s = stall_s

    def __enter__(self):
        self.publisher.start()
        self.player.start()
        time.sleep(1)
        return self

    def __exit__(self, kind, *_):
        time.sleep(1)
        self.publisher.stop()
        limit = Limit(10)
        while kind is None and self._missing() > 0 and not limit.is_over():
            time.sleep(0.05)
        got = self.player.stop()
        if kind is None:
            self.check(got)

    def _sent(self) -> list[tuple]:
        headers = {(t.type, zlib.crc32(t.payload)) for t in self.publisher.tags if t.is_setup()}
        return [mark for mark in self.publisher.sent if mark not in headers]

    def _missing(self) -> int:
        return len(self._sent()) - len([m for m in list(self.player.messages) if not m.is_sequence_header()])

    def check(self, got: list[Message]) -> None:
        assert self.publisher.error is None, f"the bystander's publisher broke: {self.publisher.error}"
        assert self.player.error is None, f"the bystander's player broke: {self.player.error}"
        assert_gapless(got, self._sent(), "bystander")
        missing = self._missing()
        assert missing == 0, f"the bystander missed the last {missing} messages"
        gap, pause = max(b.arrived - a.arrived for a, b in zip(got, got[1:])), self.publisher.longest_pause
        assert gap < self.stall_s + pause, f"the bystander stalled for {gap:.2f} s, its publisher for {pause:.2f} s"


def is_welcome(server) -> bool:
    """A new client is served."""
    try:
        with RtmpClient(server.ports["rtmp"]) as client:
            return client.connect()["code"] == "NetConnection.Connect.Success"
    except (Closed, OSError):
        return False
