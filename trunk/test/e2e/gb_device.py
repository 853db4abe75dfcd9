"""A GB28181 camera made by hand: packs of a clip's frames as devices send them, in RTP over TCP and UDP, in real time."""

import contextlib
import functools
import http.client
import json
import random
import re
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from transport_stream import crc32_mpeg2

VIDEO, AUDIO, PAYLOAD_TYPE = 0xE0, 0xC0, 96
TYPES = {"h264": 0x1B, "hevc": 0x24, "aac": 0x0F, "alaw": 0x90, "mulaw": 0x91}
PES_BYTES = 65_000  # of one packet at most, with its header
LAW = {"alaw": "pcm_alaw", "mulaw": "pcm_mulaw"}


def _ffmpeg(source, *options: str) -> bytes:
    return subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", str(source), *options, "-"], capture_output=True, check=True).stdout


@functools.cache
def frames_of(source: Path, video: str | None, audio: str | None) -> list[tuple[float, int, bytes]]:
    """(seconds, stream id, frame), in the order of time. Without B-frames."""
    found = []
    if video:
        if video == "h264":
            encode, delimiter = ["-c:v", "copy", "-bsf:v", "h264_mp4toannexb,h264_metadata=aud=insert", "-f", "h264"], b"\x00\x00\x00\x01\x09"
        else:
            encode = ["-vsync", "passthrough", "-c:v", "libx265", "-preset", "ultrafast",
                      "-x265-params", "log-level=error:keyint=50:bframes=0:aud=1", "-f", "hevc"]
            delimiter = b"\x00\x00\x00\x01\x46\x01"
        units = [delimiter + one for one in _ffmpeg(source, "-map", "0:v:0", *encode).split(delimiter)[1:]]
        found += [(number / 25, VIDEO, unit) for number, unit in enumerate(units)]
    if audio == "aac":
        raw, at, number = _ffmpeg(source, "-map", "0:a:0", "-c:a", "copy", "-f", "adts"), 0, 0  # 44,100 Hz
        while at < len(raw):
            size = (raw[at + 3] & 3) << 11 | raw[at + 4] << 3 | raw[at + 5] >> 5
            found.append((number * 1024 / 44_100, AUDIO, raw[at:at + size]))
            at, number = at + size, number + 1
    elif audio:
        raw = _ffmpeg(source, "-map", "0:a:0", "-c:a", LAW[audio], "-ar", "8000", "-ac", "1", "-f", audio)
        found += [(at / 8_000, AUDIO, raw[at:at + 320]) for at in range(0, len(raw), 320)]
    return sorted(found, key=lambda one: one[:2])


def pack_header(ticks: int) -> bytes:
    word = 0x4 << 40 | (ticks >> 30 & 7) << 43 | 1 << 42 | (ticks >> 15 & 0x7FFF) << 27 | 1 << 26 | (ticks & 0x7FFF) << 11 | 1 << 10 | 1
    word |= 1 << 46
    return b"\x00\x00\x01\xba" + word.to_bytes(6, "big") + bytes.fromhex("0189c3f8")


def program_map(types: dict[int, int]) -> bytes:
    listed = b"".join(struct.pack(">BBH", kind, stream, 0) for stream, kind in types.items())
    body = struct.pack(">IHBBHH", 0x1BC, 10 + len(listed), 0xE1, 0xFF, 0, len(listed)) + listed
    return body + struct.pack(">I", crc32_mpeg2(body))


def pes(stream: int, ticks: int | None, payload: bytes, sized: bool = True) -> bytes:
    stamp = b""
    if ticks is not None:
        stamp = struct.pack(">BHH", 0x21 | ticks >> 29 & 0x0E, ticks >> 14 & 0xFFFE | 1, ticks << 1 & 0xFFFE | 1)
    length = 3 + len(stamp) + len(payload) if sized else 0
    return struct.pack(">IHBBB", 0x100 | stream, length, 0x80, 0x80 if stamp else 0, len(stamp)) + stamp + payload


class Camera:
    """Packs of a clip, over and over. `maps`: with a program stream map at key frames, of these types."""

    def __init__(self, source: Path, video: str | None = "h264", audio: str | None = "aac", maps: bool = True, sized: bool = True,
                 types: dict[int, int] | None = None, ssrc: int = 47_190_001):
        self.frames = frames_of(source, video, audio)
        self.length = self.frames[-1][0] + 0.04
        self.length -= self.length % 0.04
        self.types = types or {stream: TYPES[kind] for stream, kind in ((VIDEO, video), (AUDIO, audio)) if kind}
        self.maps, self.sized, self.ssrc = maps, sized, ssrc
        self.sequence = random.getrandbits(16)

    def packs(self):
        """(seconds, pack), without an end."""
        turn = 0
        while True:
            for at, stream, frame in self.frames:
                seconds = turn * self.length + at
                ticks = int(90_000 * (seconds + 1))
                pack = pack_header(ticks)
                if self.maps and (stream == VIDEO and re.search(rb"\x00\x00\x01[\x67\x27\x42\x40]", frame[:2_000]) or VIDEO not in self.types):
                    pack += program_map(self.types)
                if stream == VIDEO and not self.sized:
                    pack += pes(stream, ticks, frame, sized=False)
                else:
                    parts = [frame[i:i + PES_BYTES] for i in range(0, len(frame), PES_BYTES)]
                    pack += b"".join(pes(stream, None if i else ticks, part) for i, part in enumerate(parts))
                yield seconds, pack
            turn += 1

    def rtp(self, ticks: int, pack: bytes, size: int = 1_400) -> list[bytes]:
        """The pack in packets of at most `size` bytes of payload."""
        packets = []
        for at in range(0, len(pack), size):
            marker = 0x80 if at + size >= len(pack) else 0
            head = struct.pack(">BBHII", 0x80, marker | PAYLOAD_TYPE, self.sequence, ticks & 0xFFFFFFFF, self.ssrc)
            self.sequence = (self.sequence + 1) & 0xFFFF
            packets.append(head + pack[at:at + size])
        return packets


def framed(packets: list[bytes]) -> bytes:
    return b"".join(struct.pack(">H", len(one)) + one for one in packets)


class Sender:
    """Sends what `source` yields, (seconds, list of RTP packets), in real time from a thread. Leaving the context ends the connection."""

    def __init__(self, source, port: int, udp: bool = False, host: str = "127.0.0.1", near: str = "127.0.0.1", taken: socket.socket | None = None):
        self.source, self.udp = source, udp
        self.socket = taken or socket.socket(type=socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
        if not taken:
            self.socket.bind((near, 0))
            self.socket.connect((host, port))
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        begin = time.monotonic()
        with contextlib.suppress(OSError):
            for seconds, packets in self.source:
                if self.ended.wait(max(0.0, begin + seconds - time.monotonic())):
                    return
                if self.udp:
                    for packet in packets:
                        self.socket.send(packet)
                else:
                    self.socket.sendall(framed(packets))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.socket.close()


def timed(camera: Camera, size: int = 1_400):
    for seconds, pack in camera.packs():
        yield seconds, camera.rtp(int(90_000 * seconds), pack, size)


def shuffled(source, seed: int = 1):
    """As a network reorders: each packet up to three places late. The first is first."""
    order, first = random.Random(seed), True
    for seconds, packets in source:
        keys = [i + (0 if first and i == 0 else order.uniform(0, 3)) for i in range(len(packets))]
        first = False
        yield seconds, [packet for _, packet in sorted(zip(keys, packets), key=lambda one: one[0])]


class GbApi:
    """The calls of a SIP server."""

    def __init__(self, live):
        self.port = live.ports["api"]

    def call(self, path: str, method: str = "GET", body=None) -> tuple[int, dict]:
        text = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, text)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def publish(self, stream: str, ssrc: int | str, **more) -> dict:
        status, answer = self.call("/gb/v1/publish/", "POST", {"id": stream, "ssrc": str(ssrc), **more})
        assert status == 200, answer
        return answer

    def close(self, stream: str) -> int:
        return self.call(f"/gb/v1/publish/?id={stream}", "DELETE")[0]

    def sessions(self) -> list[dict]:
        return self.call("/gb/v1/sessions?count=100")[1]["sessions"]
