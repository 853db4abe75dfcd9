"""RTSP: each codec is published by ffmpeg and comes out by RTSP and by another protocol that carries it, without an error of a decoder; M-JPEG comes
out by RTSP only, also over UDP from end to end."""

import subprocess
import urllib.request
from dataclasses import dataclass

import clips
import play_check
import pytest
from every_form import beside, running
from live_server import installed, wait_until
from pull_stage import conf_of, server_with, wait_running
from rtsp_stage import Publisher, play, rtsp_url, start, streams

pytestmark = [pytest.mark.workers, pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")]
SECONDS = 3
X264 = "-c:v libx264 -preset ultrafast -g 25 -bf 0"
HTTP = "http_remux { enabled on; mount [vhost]/[app]/[stream].%s; }"


@dataclass
class Row:
    """What is encoded, the options of the publisher, the extension at which it plays over HTTP, and the codecs in the API."""

    video: str
    audio: str
    shown: tuple
    extension: str = "flv"
    options: str = ""


ROWS = {
    "H.264, AAC as RFC 3640": Row(X264, "-c:a aac -ar 48000", ("H264", "AAC")),
    "H.264, AAC in LATM": Row(X264, "-c:a aac -ar 44100", ("H264", "AAC"), options=" -rtpflags latm"),
    "H.264, A-law": Row(X264, "-c:a pcm_alaw -ar 8000 -ac 1", ("H264", "AAC")),
    "H.264, mu-law": Row(X264, "-c:a pcm_mulaw -ar 8000 -ac 1", ("H264", "AAC")),
    "H.264, MP3": Row(X264, "-c:a libmp3lame -ar 44100", ("H264", "MP3")),
    "HEVC, AAC": Row("-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=25:bframes=0", "-c:a aac -ar 48000", ("HEVC", "AAC"), "ts"),
    "AV1, Opus": Row("-c:v libsvtav1 -preset 12 -crf 45 -g 25 -svtav1-params pred-struct=1", "-c:a libopus -ar 48000", ("AV1", "Opus")),
    "VP9, Opus": Row("-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 25", "-c:a libopus -ar 48000", ("VP9", "Opus")),
    "VP8, Opus": Row("-c:v libvpx -deadline realtime -cpu-used 8 -g 25", "-c:a libopus -ar 48000", ("VP8", "Opus"), "flv"),
}


def shown(live) -> tuple:
    found = streams(live).get("cam", {})
    return tuple((found.get(kind) or {}).get("codec", "").removeprefix("Other(").removesuffix(")") for kind in ("video", "audio"))


def make(program: str, path, video: str, audio: str, seconds: int = 6):
    inputs = ["-f", "lavfi", "-i", clips._picture(), "-f", "lavfi", "-i", "sine=frequency=440:beep_factor=4"]  # pylint: disable=protected-access
    done = subprocess.run([program, "-nostdin", "-v", "error", "-y", *inputs, *video.split(), *audio.split(), "-t", str(seconds), str(path)],
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot be encoded here: {done.stderr.strip()[-200:]}")
    return path


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_each_codec_comes_out_by_rtsp_and_another_protocol(server, tmp_path, row):
    program = clips.find_new_ffmpeg()
    if program is None:
        pytest.skip("no ffmpeg with enhanced RTMP (8 or later)")
    file = make(program, tmp_path / "made.mkv", row.video, row.audio)
    live = start(server, root="} vhost ts.test { rtsp { enabled on; } " + HTTP % "ts")
    query = "?vhost=ts.test" if row.extension == "ts" else ""
    with Publisher(rtsp_url(live, query=query), file, options="-c copy -strict experimental" + row.options, program=program) as publisher:
        wait_until(lambda: shown(live) == row.shown, 40, lambda: f"{row.shown}: {shown(live)} {publisher.said()}\n{live.log()[-2000:]}")
        http = f"http://127.0.0.1:{live.ports['http']}/live/cam.{row.extension}{query}"

        def by_rtsp() -> list[str]:
            played = play(rtsp_url(live, query=query), SECONDS, ffmpeg=program)
            # ffmpeg marks no key frames of VP9 in RTP, so that it copies none; the decoded images are numbered.
            known = ["no video"] if row.shown[0] == "VP9" and len(played.frames) > SECONDS * 20 else []
            return [one for one in played.problems() if one not in known]

        by_http = lambda: play_check.play(http, SECONDS, ffmpeg=program, options=["-analyzeduration", "3000000"]).problems()  # noqa: E731
        if row.shown[0] == "VP8":  # which no FLV demuxer here has
            with urllib.request.urlopen(http, timeout=20) as media:
                assert b"vp08" in media.read(20_000)
            by_http = lambda: []  # noqa: E731
        assert beside(by_rtsp, by_http) == [[], []]


@pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer (install-packages.sh players)")
def test_ac3_of_gstreamer_comes_out(server, tmp_path):
    """ffmpeg has no payload format for it as a publisher."""
    file = make("ffmpeg", tmp_path / "made.mkv", X264, "-c:a ac3 -ar 48000", seconds=30)
    live = start(server, root="} vhost ts.test { rtsp { enabled on; } " + HTTP % "ts")
    url = rtsp_url(live, query="?vhost=ts.test")
    sink = ["rtspclientsink", "name=s", f"location={url}", "protocols=tcp"]
    line = f"filesrc location={file} ! matroskademux name=d d.video_0 ! queue ! h264parse ! identity sync=true ! s. d.audio_0 ! queue ! ac3parse ! identity sync=true ! s."
    with running(["gst-launch-1.0", "-q", *sink, *line.split()]):
        wait_until(lambda: shown(live) == ("H264", "AC3"), 40, lambda: f"{shown(live)}\n{live.log()[-2000:]}")
        http = f"http://127.0.0.1:{live.ports['http']}/live/cam.ts?vhost=ts.test"
        by_rtsp = lambda: play(url, SECONDS).problems(numbered=False)  # noqa: E731
        by_http = lambda: play_check.play(http, SECONDS, options=["-analyzeduration", "3000000"]).problems(numbered=False)  # noqa: E731
        assert beside(by_rtsp, by_http) == [[], []]


def test_mjpeg_comes_out_by_rtsp(server, tmp_path):
    file = make("ffmpeg", tmp_path / "made.mkv", "-c:v mjpeg -huffman default -q:v 6 -pix_fmt yuvj420p", "-c:a aac -ar 48000")
    live = start(server)
    with Publisher(rtsp_url(live), file):
        wait_until(lambda: shown(live) == ("MJPEG", "AAC"), 40, lambda: f"{shown(live)}\n{live.log()[-2000:]}")
        live.wait_log("is M-JPEG, which RTSP players get; other protocols do not carry it")
        audio_only = lambda: play_check.play(live.url("cam"), SECONDS, want="a").problems("a")  # noqa: E731
        assert beside(lambda: play(rtsp_url(live), SECONDS).problems(), audio_only) == [[], []]


def test_mjpeg_is_published_pulled_and_played_over_udp(server, tmp_path):
    file = make("ffmpeg", tmp_path / "made.mkv", "-c:v mjpeg -huffman default -q:v 6 -pix_fmt yuvj420p", "-c:a aac -ar 48000")
    source = start(server)
    with Publisher(rtsp_url(source), file, transport="udp"):
        wait_until(lambda: shown(source) == ("MJPEG", "AAC"), 40, lambda: f"{shown(source)}\n{source.log()[-2000:]}")
        live = server_with(server, conf_of(rtsp_url(source), options="transport udp;"))
        assert wait_running(live)["transport"] == "udp"
        published = lambda: play(rtsp_url(source), SECONDS, transport="udp").problems()  # noqa: E731
        pulled = lambda: play(rtsp_url(live, "door"), SECONDS, transport="udp").problems()  # noqa: E731
        assert beside(published, pulled) == [[], []]
