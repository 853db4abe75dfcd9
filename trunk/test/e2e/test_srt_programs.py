"""SRT with the programs of others, and every form of what is published by SRT: GStreamer publishes; GStreamer, mpv and VLC play, VLC
without a stream id; H.264, HEVC, several audio tracks and SCTE-35 come out as RTMP, FLV, HLS, low-latency HLS and WHEP, audio in step with video."""

import subprocess
from pathlib import Path

import every_form
import play_check
import players
import pytest
from clips import find_new_ffmpeg
from every_form import SECONDS, assert_every_form, fixture_long_clip, out_of_step, running, whep_out_of_step  # noqa: F401
from live_server import installed, wait_until
from srt_stage import PATIENT, SECRET, Sender, beside, client, http, needs_tools, pytestmark, srt_url, start, wait_published  # noqa: F401
from srt_streams import Feeder, fixture_rich  # noqa: F401
from transport_stream import STEP_MS

PUBLISH = "#!::r=live/cam,m=publish"
DEFAULT = 'default_streamid "#!::r=live/cam,m=request";'


def gstreamer_publishes(live, file: Path, keys: dict):
    """Its h264parse leaves the parameter sets out after the first key frame."""
    secret = [f"passphrase={keys['passphrase']}", f"pbkeylen={keys['pbkeylen']}"] if keys else []
    line = f"filesrc location={file} ! flvdemux name=d d.video ! queue ! h264parse ! mpegtsmux name=m alignment=7 d.audio ! queue ! aacparse ! m. m."
    return running(["gst-launch-1.0", "-q", *line.split(), "!", "srtsink", f"uri=srt://127.0.0.1:{live.ports['srt']}?mode=caller", f"streamid={PUBLISH}",
                    "wait-for-connection=false", "sync=true", *secret])


@pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer (install-packages.sh players)")
@pytest.mark.parametrize("bits", [0, pytest.param(256, marks=pytest.mark.long)])
def test_other_programs_publish_and_play(server, clip, long_clip, tmp_path, bits):
    keys = {"passphrase": SECRET, "pbkeylen": bits // 8} if bits else {}
    live = start(server, root=DEFAULT + (f' passphrase "{SECRET}";' if bits else ""))
    url = srt_url(live, "live/cam", **keys, **PATIENT)
    milliseconds = srt_url(live, "live%2Fcam", latency=PATIENT["latency"] // 1000)
    calls = {"ffmpeg": lambda: play_check.play(url, SECONDS).problems(), "flv": lambda: out_of_step(http(live, "cam.flv"), clip("basic"), tmp_path)}
    if not bits:
        calls |= {"mpv": lambda: players.mpv(url, SECONDS, "av"), "gstreamer": lambda: players.gstreamer(milliseconds, SECONDS, "av"),
                  "vlc": lambda: players.vlc(f"srt://127.0.0.1:{live.ports['srt']}", SECONDS, "av")}
    absent = [name for name in ("mpv", "vlc") if name in calls and not installed(name)]
    with gstreamer_publishes(live, long_clip, keys):
        wait_published(live)
        sender = client(live, "srt-publish")
        # A join in the middle, after another key frame.
        wait_until(lambda: live.api("/api/v1/streams/")["streams"][0]["frames"] > 60, 20, "a second key frame has come")
        found = dict(zip(calls, beside(*(call if name not in absent else lambda: [] for name, call in calls.items()))))
    assert found.pop("flv") <= STEP_MS
    assert not any(found.values()), found
    assert sender["srt"]["key_bits"] == bits and sender["srt"]["peer_version"].startswith("1.5")
    if absent:
        pytest.skip(f"not all players are here: no {', '.join(absent)} (install-packages.sh players)")


EVERY_FORM = "srt { enabled on; } " + every_form.VHOST
LOW_LATENCY = " vhost ll.test { srt { enabled on; } " + every_form.LOW_LATENCY + " }"
PUBLISH_LL = "#!::h=ll.test,r=live/cam,m=publish"


def start_every_form(server):
    return start(lambda vhost, root: server(EVERY_FORM, root=root + every_form.RTC + LOW_LATENCY))


@needs_tools
def test_every_form_of_several_audio_tracks_and_cues_is_in_step(server, clip, rich, aiortc, tmp_path):
    """H.264, AAC, AC-3, MP2 and SCTE-35. RTMP and FLV by a program that knows no tracks: it gets the first of each kind."""
    live = start_every_form(server)
    with Feeder(srt_url(live, PUBLISH), rich, 40), Feeder(srt_url(live, PUBLISH_LL), rich, 40):
        wait_published(live)
        step, = assert_every_form(live, clip("basic"), tmp_path, more=(lambda: whep_out_of_step(live, clip("basic"), aiortc),))
    assert step <= STEP_MS


@pytest.mark.long
def test_every_form_of_h264_and_aac_is_in_step(server, clip, aiortc, tmp_path):
    live = start_every_form(server)
    with Sender(srt_url(live, PUBLISH), clip("basic")), Sender(srt_url(live, PUBLISH_LL), clip("basic")):
        wait_published(live)
        step, = assert_every_form(live, clip("basic"), tmp_path, more=(lambda: whep_out_of_step(live, clip("basic"), aiortc),))
    assert step <= STEP_MS


@pytest.mark.long
def test_every_form_of_hevc_is_in_step(server, clip, tmp_path):
    """But for WHEP: no client here decodes HEVC."""
    live, file = start_every_form(server), tmp_path / "hevc.mkv"
    subprocess.run([find_new_ffmpeg() or pytest.skip("no ffmpeg 8"), "-v", "error", "-i", str(clip("hevc")), "-c", "copy", str(file)], check=True, timeout=60)
    with Sender(srt_url(live, PUBLISH), file), Sender(srt_url(live, PUBLISH_LL), file):
        wait_published(live)
        assert_every_form(live, file, tmp_path, "hevc", newer=("rtmp", "flv"))
