"""RTSP with the programs and libraries of others: ffmpeg and GStreamer publish and play over the connection, UDP and TLS; mpv, OpenCV, PyAV,
aiortsp and retina play. Each published stream comes out in every form in step; streams of RTMP, SRT and WHIP play by RTSP."""

import contextlib
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import aiortc_client
import every_form
import play_check
import players
import pytest
from cached_venv import cache_folder, python_with
from clips import CELLS  # noqa: F401  the painted numbers that the libraries read
from every_form import SECONDS, assert_every_form, beside, fixture_long_clip, out_of_step, running, whep_out_of_step  # noqa: F401
from live_server import installed, wait_until
from players import FfmpegPublisher, wait_playable
from rtsp_stage import Publisher, clients, play, rtsp_url, start, wait_published
from srt_stage import Sender, has_srt, srt_url
from transport_stream import STEP_MS

pytestmark = [pytest.mark.workers, pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")]
needs_gstreamer = pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer (install-packages.sh players)")
CLIENTS = Path(__file__).resolve().parent / "rtsp_clients"
TRANSPORTS = ["tcp", "udp", "tls"]
LOW_LATENCY = " vhost ll.test { rtsp { enabled on; } " + every_form.LOW_LATENCY + " }"


# What comes out depends on the payload formats of the publisher, not on its transport.
def by_day(*day: str) -> list:
    return [one if one in day else pytest.param(one, marks=pytest.mark.long) for one in TRANSPORTS]


@pytest.fixture(name="libraries", scope="module")
def fixture_libraries() -> Path:
    return python_with("rtsp", CLIENTS / "requirements.txt", "OpenCV, PyAV and aiortsp")


@pytest.fixture(name="retina", scope="module")
def fixture_retina() -> Path:
    """The program, built once in the cache folder."""
    source, oldest = CLIENTS / "retina", (1, 88)
    said = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False).stdout if shutil.which("cargo") else ""
    found = re.match(r"cargo (\d+)\.(\d+)", said)
    if not found or (int(found[1]), int(found[2])) < oldest:
        pytest.skip(f"retina needs cargo {'.'.join(map(str, oldest))} or later, here is {said.strip() or 'none'}")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(source.rglob("*.*")) if path.is_file() and path.name != "Cargo.lock")).hexdigest()[:10]
    folder = cache_folder() / f"retina-{digest}"
    done = subprocess.run(["cargo", "build", "--release", "--quiet", "--manifest-path", source / "Cargo.toml", "--target-dir", folder],
                          capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        pytest.skip(f"retina could not be built: {done.stderr.strip()[-300:]}")
    return folder / "release/retina-client"


def rtsps(key, cert) -> str:
    return f"}} rtsps {{ enabled on; listen 127.0.0.1:$rtsps; key {key}; cert {cert};"


def url_of(live, transport: str, query: str = "") -> str:
    return f"rtsps://127.0.0.1:{live.ports['rtsps']}/live/cam{query}" if transport == "tls" else rtsp_url(live, "cam", query)


def gstreamer_publishes(url: str, transport: str, file: Path):
    """Its rtspclientsink chooses the payload formats: AAC in LATM."""
    sink = ["rtspclientsink", "name=s", f"location={url}", f"protocols={transport}", "tls-validation-flags=0"]
    line = f"filesrc location={file} ! flvdemux name=d d.video ! queue ! h264parse ! identity sync=true ! s. d.audio ! queue ! aacparse ! identity sync=true ! s."
    return running(["gst-launch-1.0", "-q", *sink, *line.split()])


@pytest.mark.parametrize("transport", by_day("tcp"))
def test_every_form_of_a_publisher_is_in_step(server, clip, certificate, aiortc, tmp_path, transport):
    live = start(lambda vhost, root: server(every_form.VHOST + " rtsp { enabled on; }", root=root + every_form.RTC + LOW_LATENCY), root=rtsps(*certificate))
    with contextlib.ExitStack() as stack:
        for query in ("", "?vhost=ll.test"):
            stack.enter_context(Publisher(url_of(live, transport, query), clip("basic"), transport="udp" if transport == "udp" else "tcp"))
        wait_published(live)
        by_rtsp = lambda: out_of_step(rtsp_url(live), clip("basic"), tmp_path, options=("-rtsp_transport", "tcp"))  # noqa: E731
        steps = assert_every_form(live, clip("basic"), tmp_path, more=(lambda: whep_out_of_step(live, clip("basic"), aiortc), by_rtsp))
        sender = clients(live, "rtsp-publish")
    assert max(steps) <= STEP_MS, steps
    assert len(sender) == 2 and {one["publish"] for one in sender} == {True}


@needs_gstreamer
@pytest.mark.parametrize("transport", by_day("udp"))
def test_every_form_of_gstreamer_is_in_step(server, clip, long_clip, certificate, aiortc, tmp_path, transport):
    live = start(lambda vhost, root: server(every_form.VHOST + " rtsp { enabled on; }", root=root + every_form.RTC + LOW_LATENCY), root=rtsps(*certificate))
    # TLS is no transport to it but a property of one: with "tls" alone, no protocol is left.
    protocol = "tcp+tls" if transport == "tls" else transport
    with gstreamer_publishes(url_of(live, transport), protocol, long_clip), gstreamer_publishes(url_of(live, transport, "?vhost=ll.test"), protocol, long_clip):
        wait_published(live)
        # With an option, pictures keep the times of their packets, which are those of GStreamer's clock.
        by_whep = lambda: whep_out_of_step(live, clip("basic"), aiortc)  # noqa: E731
        (step,) = assert_every_form(live, clip("basic"), tmp_path, more=(by_whep,), options=["-analyzeduration", "2000000"])
    assert step <= STEP_MS


def test_g711_becomes_opus_and_aac(server, clip, aiortc):
    live = start(lambda vhost, root: server(every_form.VHOST + " rtsp { enabled on; }", root=root + every_form.RTC))
    with Publisher(rtsp_url(live), clip("basic"), options="-c:v copy -c:a pcm_alaw -ar 8000 -ac 1"):
        wait_published(live)
        played, step = beside(lambda: play_check.play(live.url("cam"), SECONDS), lambda: whep_out_of_step(live, clip("basic"), aiortc))
    assert (played.problems(), played.audio.codec) == ([], "aac")
    assert step <= STEP_MS


def gstreamer_plays(url: str, transport: str) -> list[str]:
    protocol = {"tcp": "tcp", "udp": "udp", "tls": "tcp+tls"}[transport]
    source = ["rtspsrc", f"location={url}", f"protocols={protocol}", "tls-validation-flags=0", "latency=200", "name=s", "s.", "!",
              "application/x-rtp,media=audio", "!", "decodebin", "!", "audioconvert", "!", "fakesink", "s.", "!", "application/x-rtp,media=video", "!", "decodebin"]
    return players.gstreamer(url, SECONDS, "av", source)


def ffmpeg_plays(url: str, transport: str) -> list[str]:
    return play(url, SECONDS, transport="udp" if transport == "udp" else "tcp").problems()


def mpv_plays(url: str, transport: str) -> list[str]:
    return players.mpv(url, SECONDS, "av", [f"--rtsp-transport={'udp' if transport == 'udp' else 'tcp'}", "--tls-verify=no"])


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_programs_play(server, clip, certificate, transport):
    live = start(server, root=rtsps(*certificate))
    calls = {"ffmpeg": ffmpeg_plays} | ({"gstreamer": gstreamer_plays} if installed("gst-launch-1.0") else {}) | ({"mpv": mpv_plays} if installed("mpv") else {})
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        found = dict(zip(calls, beside(*(lambda call=call: call(url_of(live, transport), transport) for call in calls.values()))))
    assert not any(found.values()), found
    if len(calls) < 3:
        pytest.skip("not all players are here (install-packages.sh players)")


def run_client(command: list) -> dict:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def assert_consecutive(numbers: list[int]) -> None:
    assert len(numbers) >= SECONDS * 20
    assert all(after == before + 1 or (before == play_check.CLIP_FRAMES - 1 and after == 0) for before, after in zip(numbers, numbers[1:])), numbers


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_libraries_play(server, clip, libraries, transport):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        opencv, pyav, aiortsp = beside(*(lambda name=name: run_client([libraries, CLIENTS / "client.py", name, rtsp_url(live), transport, SECONDS])
                                         for name in ("opencv", "pyav", "aiortsp")))
    assert_consecutive(opencv["numbers"])
    assert_consecutive(pyav["numbers"])
    assert pyav["audio_s"] > SECONDS * 0.7
    assert aiortsp["gaps"] == 0 and aiortsp["images"] >= SECONDS * 20


# Its program is compiled first.
@pytest.mark.long
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_retina_plays(server, clip, retina, transport):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        got = run_client([retina, rtsp_url(live), transport, SECONDS])
    assert got["codecs"] == ["h264", "mpeg4-generic"] and got["lost"] == 0 and got["first_is_key"]
    assert min(got["frames"]) > SECONDS * 20 and got["reports"] >= 2


def test_a_stream_by_rtmp_is_in_step_by_rtsp(server, clip, tmp_path):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        steps = beside(*(lambda way=way: out_of_step(rtsp_url(live), clip("basic"), tmp_path, options=("-rtsp_transport", way)) for way in ("tcp", "udp")))
    assert max(steps) <= STEP_MS, steps


@pytest.mark.skipif(not has_srt(), reason="this ffmpeg has no libsrt")
def test_a_stream_by_srt_is_in_step_by_rtsp(server, clip, tmp_path):
    live = start(server, root="} srt_server { enabled on; listen 127.0.0.1:$srt;", vhost="srt { enabled on; }")
    with Sender(srt_url(live, "#!::r=live/cam,m=publish"), clip("basic")):
        wait_published(live)
        played, step = beside(lambda: play(rtsp_url(live), SECONDS), lambda: out_of_step(rtsp_url(live), clip("basic"), tmp_path, options=("-rtsp_transport", "tcp")))
    assert played.problems() == []
    assert step <= STEP_MS


def test_a_stream_by_whip_plays_by_rtsp(server, aiortc):
    live = start(server, root="} " + aiortc_client.ROOT[:-2], vhost=aiortc_client.VHOST)
    whip = aiortc_client.Client(aiortc, "whip", f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whip/?app=live&stream=cam", "H264")
    try:
        wait_published(live)
        wait_playable(rtsp_url(live))
        played = play(rtsp_url(live), SECONDS)
        assert played.problems(numbered=False) == []
        whip.result()
    finally:
        whip.kill()
    wait_until(lambda: not clients(live, "rtsp-play"), 20, "the players have left")
