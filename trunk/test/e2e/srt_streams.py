"""SRT streams with every kind of track, what players get of them, and the counters of a link."""

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest

FORWARD = 'forward { enabled on; destination "%s"; }'


def counters_are_whole(data: bytes) -> bool:
    """Whether no packet is missing of any PID. A player's first tables come again before the key frame."""
    last: dict[int, int] = {}
    for at in range(0, len(data), 188):
        pid, counter = (data[at + 1] & 0x1F) << 8 | data[at + 2], data[at + 3] & 0x0F
        if pid == 0x1FFF or not data[at + 3] & 0x10:
            continue
        if pid in last and counter != (last[pid] + 1) % 16 and not (pid in (0, 0x1001) and counter == last[pid]):
            return False
        last[pid] = counter
    return True


class Feeder:
    """srt-live-transmit sends a transport stream in real time, once. Use as a context."""

    def __init__(self, url: str, data: bytes, seconds: float):
        self.process = subprocess.Popen(["srt-live-transmit", "-q", "-chunk:1316", "file://con", url], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.data, self.seconds = data, seconds

    def __enter__(self):
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.feed)
        self.thread.start()
        return self

    def feed(self):
        step = 1316 * 4
        pause = self.seconds * step / len(self.data)
        began = time.monotonic()
        for number, at in enumerate(range(0, len(self.data), step)):
            if self.stopping.wait(max(0, began + number * pause - time.monotonic())):
                return
            try:
                self.process.stdin.write(self.data[at:at + step])
                self.process.stdin.flush()
            except OSError:
                return

    def __exit__(self, *_):
        self.stopping.set()
        self.process.kill()
        self.process.wait()
        self.thread.join()


def crc32_mpeg2(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc


def section_packet(pid: int, section: bytes, counter: int) -> bytes:
    section += crc32_mpeg2(section).to_bytes(4, "big")
    body = b"\0" + section
    return bytes([0x47, 0x40 | pid >> 8, pid & 0xFF, 0x10 | counter & 15]) + body + b"\xff" * (184 - len(body))


def with_cues(data: bytes, pid: int = 0x1F0) -> bytes:
    """The stream with a SCTE-35 track in its map, and a splice_null() after each map."""
    program_map = next((data[at + 15] & 0x1F) << 8 | data[at + 16] for at in range(0, len(data), 188) if data[at + 1:at + 3] == b"\x40\0")
    out, cues = bytearray(), 0
    for at in range(0, len(data), 188):
        packet = data[at:at + 188]
        if (packet[1] & 0x1F) << 8 | packet[2] != program_map or packet[3] & 0x30 != 0x10:
            out += packet
            continue
        length = (packet[6] & 0x0F) << 8 | packet[7]
        body = bytearray(packet[5:8 + length - 4])
        registration = b"\x05\x04CUEI"
        body[10:12] = (0xF000 | ((body[10] & 0x0F) << 8 | body[11]) + len(registration)).to_bytes(2, "big")
        body[12:12] = registration
        body += bytes([0x86, 0xE0 | pid >> 8, pid & 0xFF, 0xF0, 0])
        body[1:3] = (0xB000 | len(body) - 3 + 4).to_bytes(2, "big")
        out += section_packet(program_map, bytes(body), packet[3])
        # protocol 0, no encryption, no adjustment, tier 0xFFF, no command bytes: splice_null; no descriptors
        cue = bytes.fromhex("fc3011" "00" "0000000000" "00" "fff000" "00" "0000")
        out += section_packet(pid, cue, cues)
        cues += 1
    return bytes(out)


def probe(url: str) -> list[str]:
    done = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,codec_type,codec_tag_string", "-of", "json", url], capture_output=True, text=True,
                          timeout=60, check=False)
    return [one.get("codec_name", one["codec_type"]) for one in json.loads(done.stdout or "{}").get("streams", [])]


@pytest.fixture(name="rich", scope="module")
def fixture_rich(clip, tmp_path_factory) -> bytes:
    """H.264, AAC, AC-3 and MP2, and SCTE-35."""
    file = Path(tmp_path_factory.mktemp("rich")) / "rich.ts"
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-stream_loop", "1", "-i", str(clip("basic")), "-map", "0:v", "-map", "0:a", "-map", "0:a", "-map", "0:a", "-c:v", "copy",
                    "-c:a:0", "copy", "-c:a:1", "ac3", "-c:a:2", "mp2", "-metadata:s:a:1", "language=deu", "-f", "mpegts", str(file)], check=True, timeout=120)
    return with_cues(file.read_bytes())
