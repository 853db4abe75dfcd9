"""SRT with this server as the caller: an ingest pulls and a forward pushes, to and from ffmpeg, srt-live-transmit and another Millrace; and
what comes by SRT goes out to SRT players as it came, with every track."""

import json
import re
import subprocess
import threading
import time
from pathlib import Path

import play_check
import pytest
from hook_server import Answer, HookServer
from live_server import free_port, wait_until
from players import FfmpegPublisher
from test_srt import (PATIENT, SECRET, Sender, client, http, needs_tools, publish, reject_code, srt_url, start, streams, wait_published)
from test_srt import pytestmark  # noqa: F401  pylint: disable=unused-import

INGEST = 'ingest cam { enabled on; input { type stream; url "%s"; } ffmpeg /no/ffmpeg; engine { enabled off; output rtmp://127.0.0.1:$rtmp/live/pulled; } }'
FORWARD = 'forward { enabled on; destination "%s"; }'


def listener(port: int, **options) -> str:
    query = "".join(f"&{name}={value}" for name, value in options.items())
    return f"srt://127.0.0.1:{port}?mode=listener{query}"


@pytest.mark.parametrize("bits", [pytest.param(0, marks=pytest.mark.long), 256])
def test_an_ingest_pulls_from_a_listener_and_plays_by_everything(server, clip, bits):
    port = free_port()
    mine = f"srt://127.0.0.1:{port}?latency=200" + (f"&passphrase={SECRET}&pbkeylen={bits // 8}" if bits else "")
    keys = {"passphrase": SECRET, "pbkeylen": bits // 8} if bits else {}
    with Sender(listener(port, **keys), clip("basic")):
        live = start(server, more=INGEST % mine)
        wait_published(live, "pulled")
        played = [play_check.play(url, 4) for url in (http(live, "pulled.flv"), srt_url(live, "live/pulled", **PATIENT))]
        one = client(live, "srt-publish")
    assert [each.problems() for each in played] == [[], []]
    assert one["srt"]["latency_ms"] >= 200 and one["srt"].get("key_bits", 0) == bits and one["recv_bytes"] > 100_000
    # ffmpeg has gone, and is called again.
    wait_until(lambda: not streams(live), 30, "the stream has ended")
    live.wait_log("IGS retry in")
    with Sender(listener(port, **keys), clip("basic")):
        wait_published(live, "pulled")


def test_a_pull_needs_no_srt_of_its_own(server, clip):
    port = free_port()
    with Sender(listener(port), clip("basic")):
        live = server(INGEST % f"srt://127.0.0.1:{port}")
        wait_published(live, "pulled")
        assert play_check.play(live.url("pulled"), 3).problems() == []


def test_a_forward_pushes_to_another_server_and_says_why_not(server, clip):
    there = start(server, vhost=f'passphrase "{SECRET}";')
    here = server(FORWARD % f"srt://127.0.0.1:{there.ports['srt']}?passphrase={SECRET}&pbkeylen=24&latency=200")
    with FfmpegPublisher(here.url("cam"), clip("basic")):
        wait_published(there)
        played = play_check.play(http(there, "cam.flv"), 4)
        one = client(there, "srt-publish")
        assert not [each for each in here.api("/api/v1/clients/")["clients"] if each["type"].startswith("srt")], "a push is no client"
    assert played.problems() == []
    assert one["srt"]["encrypted"] and one["srt"]["key_bits"] == 192 and one["srt"]["latency_ms"] == 200
    wait_until(lambda: not streams(there), 8, "a goodbye ends it at once")
    wrong = server(FORWARD % f"srt://127.0.0.1:{there.ports['srt']}?passphrase=another-passphrase")
    with FfmpegPublisher(wrong.url("other"), clip("basic")):
        wrong.wait_log("FWR retry in")
    assert "(1010)" in wrong.log() and SECRET not in here.log() and "another-passphrase" not in wrong.log()


def test_the_names_of_the_stream_go_into_the_address(server, clip):
    there = start(server)
    here = server(FORWARD % f"srt://127.0.0.1:{there.ports['srt']}?streamid=#!::r=[app]/[stream]-copy,m=publish")
    with FfmpegPublisher(here.url("cam"), clip("basic")):
        wait_published(there, "cam-copy")


@needs_tools
@pytest.mark.parametrize("bits", [0, 128, 192, 256])
def test_srt_live_transmit_takes_a_push(server, clip, tmp_path, bits):
    port, file = free_port(), tmp_path / "taken.ts"
    keys = "latency=1000" + (f"&passphrase={SECRET}&pbkeylen={bits // 8}" if bits else "")
    with open(file, "wb") as out:
        taker = subprocess.Popen(["srt-live-transmit", "-q", f"srt://127.0.0.1:{port}?mode=listener&{keys}", "file://con"], stdout=out,
                                 stderr=subprocess.DEVNULL)
    try:
        live = server(FORWARD % f"srt://127.0.0.1:{port}?{keys}")
        with FfmpegPublisher(live.url("cam"), clip("basic")):
            wait_until(lambda: file.stat().st_size > 188 * 1000, 40, "it gets the stream")
    finally:
        taker.kill()
        taker.wait()
    data = file.read_bytes()
    data = data[:len(data) // 188 * 188]
    assert set(data[::188]) == {0x47} and counters_are_whole(data)


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
def rich_stream(clip, tmp_path_factory) -> bytes:
    """H.264, AAC, AC-3 and MP2, and SCTE-35."""
    file = Path(tmp_path_factory.mktemp("rich")) / "rich.ts"
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-stream_loop", "1", "-i", str(clip("basic")), "-map", "0:v", "-map", "0:a", "-map", "0:a", "-map", "0:a", "-c:v", "copy",
                    "-c:a:0", "copy", "-c:a:1", "ac3", "-c:a:2", "mp2", "-metadata:s:a:1", "language=deu", "-f", "mpegts", str(file)], check=True, timeout=120)
    return with_cues(file.read_bytes())


@needs_tools
def test_srt_players_get_every_track_as_it_came(server, rich):
    live = start(server)
    with Feeder(srt_url(live, "#!::r=live/cam,m=publish"), rich, 40):
        wait_published(live)
        wait_until(lambda: len(streams(live)["cam"].get("tracks") or [1, 2]) >= 2, 20, "it has tracks")
        seen = probe(srt_url(live, "live/cam"))
        data = subprocess.run(["srt-live-transmit", "-q", "-t:6", "-to:6", "-a:no", srt_url(live, "live/cam", latency=2000), "file://con"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30, check=False).stdout
        known = streams(live)["cam"]
    assert [one for one in seen if one in ("h264", "aac", "ac3", "mp2", "scte_35")] == ["h264", "aac", "ac3", "mp2", "scte_35"], seen
    data = data[:len(data) // 188 * 188]
    behind_tables = data[2 * 188:]
    assert len(data) > 188 * 1000 and behind_tables[:188 * 500] in rich, "the bytes are those of the publisher"
    pids = {(data[at + 1] & 0x1F) << 8 | data[at + 2] for at in range(0, len(data), 188)}
    assert {0, 0x100, 0x101, 0x102, 0x103, 0x1F0} <= pids
    assert (known["video"]["codec"], known["audio"]["codec"]) == ("H264", "AAC")


def test_two_audio_tracks_come_out_and_begin_at_a_key_frame(server, clip):
    live = start(server)
    with publish(live, clip("basic"), options="-map 0:v -map 0:a -map 0:a -c:v copy -c:a:0 copy -c:a:1 ac3"):
        wait_published(live)
        assert probe(srt_url(live, "live/cam")) == ["h264", "aac", "ac3"]
        assert play_check.play(srt_url(live, "live/cam", **PATIENT), 4).problems() == []
        in_hls = wait_until(lambda: probe(http(live, "cam.m3u8")), 30, "the HLS list has segments", 0.5)
        first = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-read_intervals", "%+#1", "-of", "json",
                                srt_url(live, "live/cam")], capture_output=True, text=True, timeout=40, check=True)
    assert json.loads(first.stdout)["packets"][0]["flags"].startswith("K")
    assert {"h264", "aac"} <= set(in_hls)


def test_opus_of_rtmp_goes_out_too(server, clip):
    live = start(server)
    with publish(live, clip("basic"), options="-c:v copy -c:a libopus -b:a 96k"):
        wait_published(live)
        assert probe(srt_url(live, "live/cam")) == ["h264", "opus"]


def test_a_callback_names_the_passphrase_of_a_stream(server, clip):
    with HookServer() as hooks:
        live = start(server, vhost="passphrase_callback on;", more=hooks.conf())
        hooks.answers["on_publish"] = Answer(json.dumps({"code": 0, "data": {"srt_passphrase": SECRET}}))
        hooks.answers["on_play"] = Answer(json.dumps({"code": 0, "data": {"srt_passphrase": SECRET + "-of-players"}}))
        assert reject_code(live, "#!::r=live/cam,m=publish") == 11  # UNSECURE
        with publish(live, clip("basic"), passphrase=SECRET, pbkeylen=32):
            wait_published(live)
            assert client(live, "srt-publish")["srt"]["key_bits"] == 256
            assert reject_code(live, "#!::r=live/cam,m=request") == 11
            assert play_check.play(srt_url(live, "live/cam", passphrase=SECRET + "-of-players", **PATIENT), 3).problems() == []
            said = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", srt_url(live, "live/cam", passphrase=SECRET), "-t", "1", "-f", "null", "-"],
                                  capture_output=True, text=True, timeout=30, check=False)
            assert said.returncode != 0
    assert SECRET not in live.log() and re.search(r"passphrase is another|does not open|another", live.log())
