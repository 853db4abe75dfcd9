"""Every form in which a published stream comes out: RTMP, FLV, HLS, low-latency HLS and WHEP, decoded without a complaint, no frame missing, and
audio in step with video."""

import concurrent.futures
import contextlib
import json
import random
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import play_check
import pytest
from aiortc_client import HERE as CLIENT
from clips import FPS, find_new_ffmpeg
from live_server import wait_until
from srt_streams import probe
from transport_stream import CLIP_MS, STEP_MS

SECONDS = 4

# For conf files; the second is in a virtual host of its own, ll.test, because hls_ll changes the form of the segments.
VHOST = "rtc { enabled on; rtmp_to_rtc on; } http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
VHOST += " hls { enabled on; hls_fragment 2; hls_window 20; hls_path $folder/hls; }"
LOW_LATENCY = "hls { enabled on; hls_ll on; hls_fragment 2; hls_window 20; hls_path $folder/ll; }"
RTC = " rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; }"


def http(live, path: str) -> str:
    return f"http://127.0.0.1:{live.ports['http']}/live/{path}"


def beside(*calls) -> list:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


@pytest.fixture(name="long_clip", scope="module")
def fixture_long_clip(clip, tmp_path_factory) -> Path:
    """Several rounds of it in one file, for programs that play a file once."""
    file = Path(tmp_path_factory.mktemp("long")) / "long.flv"
    subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", "5", "-i", str(clip("basic")), "-c", "copy", str(file)], check=True, timeout=60)
    return file


@contextlib.contextmanager
def running(command: list):
    child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


PARAMETER_SETS = {"h264": "6-9", "hevc": "32-40"}


def packet_times(source, seconds: float, folder: Path, codec: str, ffmpeg: str, options: tuple = ()) -> dict[str, dict[str, float]]:
    """By kind: the time in ms of each packet, by its checksum; without parameter sets and delimiters, which are not everywhere in the same place."""
    file = folder / f"{random.getrandbits(60)}.mkv"
    bare = f"filter_units=remove_types={PARAMETER_SETS[codec]}"
    times: dict[str, dict[str, float]] = {"video": {}, "audio": {}}
    for command in ([*play_check.rtmp_options(ffmpeg, str(source)), *options, "-i", str(source), "-map", "0:v:0", "-map", "0:a:0", "-c", "copy", "-bsf:v", bare,
                     "-frames:v", f"{FPS * seconds:.0f}", "-shortest", "-copyts", str(file)],
                    ["-copyts", "-i", str(file), "-map", "0:v:0", "-map", "0:a:0", "-c", "copy", "-f", "framecrc", "-"]):
        done = subprocess.run([ffmpeg, "-nostdin", "-v", "error", "-y", *command], capture_output=True, text=True, timeout=seconds + 40, check=False)
        assert done.returncode == 0, f"{source}: {done.stderr[-500:]}"
    for line in done.stdout.splitlines():
        if not line.startswith("#"):
            track, _, shown, _, size, checksum = (word.strip() for word in line.split(",")[:6])
            times["video" if track == "0" else "audio"][size + checksum] = float(shown)
    return times


def out_of_step(url: str, source: Path, folder: Path, codec: str = "h264", ffmpeg: str = "ffmpeg", options: tuple = ()) -> float:
    """How many ms the shift of audio differs from that of video, between the clip and what is played of it."""
    sent, got = packet_times(source, CLIP_MS / 1000, folder, codec, ffmpeg), packet_times(url, SECONDS, folder, codec, ffmpeg, options)
    shifts = {}
    for kind in ("video", "audio"):
        found = sorted((got[kind][key] - sent[kind][key]) % CLIP_MS for key in got[kind] if key in sent[kind])
        assert len(found) > 50, f"{url}: {len(found)} packets of {kind} of {len(got[kind])} are those of the clip"
        shifts[kind] = found[len(found) // 2]
    off = (shifts["video"] - shifts["audio"]) % CLIP_MS
    return min(off, CLIP_MS - off)


def every_form(live) -> dict[str, str]:
    """Once the lists have segments."""
    urls = {"rtmp": live.url("cam"), "flv": http(live, "cam.flv"), "hls": http(live, "cam.m3u8"), "low-latency hls": http(live, "cam.m3u8?vhost=ll.test")}
    for name in ("hls", "low-latency hls"):
        wait_until(lambda url=urls[name]: {"aac"} < set(probe(url)), 40, f"{name} has segments of each track", 0.3)
    return urls


def problems_of_parts(url: str) -> str:
    """ffmpeg's description of the newest parts of a low-latency playlist, joined from an independent one on."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        listed, base = answer.read().decode(), answer.url
    if inner := re.search(r"^[^#\s].*\.m3u8.*$", listed, re.MULTILINE):  # the list of lists
        return problems_of_parts(urllib.parse.urljoin(base, inner[0]))
    parts = re.findall(r'^#EXT-X-PART:(?=.*URI="([^"]+)")(.*)$', listed, re.MULTILINE)
    first = next(number for number, (_, rest) in enumerate(parts) if "INDEPENDENT=YES" in rest)
    data, begin = b"", re.findall(r'^#EXT-X-MAP:URI="([^"]+)"', listed, re.MULTILINE)[-1:]
    for address in [*begin, *(address for address, _ in parts[first:])]:
        with urllib.request.urlopen(urllib.parse.urljoin(base, address), timeout=10) as answer:
            data += answer.read()
    done = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", "pipe:0", "-map", "0:v:0", *play_check.own_times("ffmpeg"), "-f", "null", "-"], input=data,
                          capture_output=True, timeout=60, check=False)
    return done.stderr.decode() if len(parts) > 3 else f"{len(parts)} parts"


def whep_out_of_step(live, source: Path, python: Path) -> float:
    """As out_of_step(), by the beeps and the painted numbers: audio comes in another codec."""
    def offset(place) -> float:
        done = subprocess.run([str(python), str(CLIENT / "in_step.py"), str(place), str(SECONDS)], capture_output=True, text=True, timeout=150, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        found = json.loads(done.stdout)
        assert found["beeps"] >= 2 and found["pictures"] >= 20 * SECONDS, found
        return found["offset_ms"]
    return abs(offset(f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=cam") - offset(source))


def assert_every_form(live, source: Path, folder: Path, codec: str = "h264", newer: tuple = (), more: tuple = (), options: Sequence = ()) -> list:
    """No complaint of a decoder, no frame missing, and in step. `newer` are forms that need an ffmpeg with enhanced RTMP. `options` are those of the
    decoders. Gives the results of `more`."""
    urls, newest = every_form(live), find_new_ffmpeg()
    if newer and not newest:
        pytest.skip("no ffmpeg with enhanced RTMP (8 or later)")
    program = {name: newest if name in newer else "ffmpeg" for name in urls}
    played = beside(*(lambda name=name: play_check.play(urls[name], SECONDS, program[name], options=list(options) or None).problems() for name in urls),
                    *(lambda name=name: out_of_step(urls[name], source, folder, codec, program[name]) for name in urls),
                    lambda: problems_of_parts(urls["low-latency hls"]), *more)
    problems, steps, parts = dict(zip(urls, played)), dict(zip(urls, played[len(urls):])), played[2 * len(urls)]
    assert not any(problems.values()), problems
    assert max(steps.values()) <= STEP_MS, steps
    assert parts == ""
    return played[2 * len(urls) + 1:]
