"""Between WebRTC and everything else: Chromium publishes and ffmpeg plays by RTMP, FLV and HLS; ffmpeg publishes by RTMP and Chromium
plays, with picture and sound, B-frames or not."""

import json
import subprocess

import pytest

import players
from live_server import wait_until
from test_rtc import FRAMES, ROOT, SIZE, fixture_chromium, fixture_html, fixture_site  # noqa: F401 (fixtures)

TO_RTMP = "rtc { enabled on; rtc_to_rtmp on; pli_for_rtmp 2; } hls { enabled on; hls_fragment 2; hls_window 10; hls_path $folder/html; }"
TO_RTC = "rtc { enabled on; rtmp_to_rtc on; }"

# Sound that was received, and how much of it was made up because packets came late or never.
SOUND = """(async () => {
    const reports = [...(await window.rtc.getStats()).values()].filter((one) => one.type === 'inbound-rtp' && one.kind === 'audio');
    const one = reports[0] ?? {};
    return { energy: one.totalAudioEnergy ?? 0, samples: one.totalSamplesReceived ?? 0, concealed: one.concealedSamples ?? 0 };
})()"""
# The page keeps its connection to itself.
KEEP_CONNECTION = """(() => {
    const Real = window.RTCPeerConnection;
    window.RTCPeerConnection = function (...args) { return (window.rtc = new Real(...args)); };
    window.RTCPeerConnection.prototype = Real.prototype;
})()"""


def probe(url: str) -> dict[str, dict]:
    """What ffprobe finds, by kind."""
    command = ["ffprobe", "-v", "error", "-rw_timeout", "15000000", "-show_streams", "-of", "json", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=40, check=False)
    assert done.returncode == 0, done.stderr
    return {stream["codec_type"]: stream for stream in json.loads(done.stdout)["streams"]}


def decode(url: str, seconds: float) -> None:
    """Plays and decodes all of it; whatever ffmpeg complains of is wrong."""
    command = ["ffmpeg", "-v", "error", "-rw_timeout", "15000000", "-i", url, "-t", str(seconds), "-f", "null", "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_what_chromium_publishes_is_played_by_all(site):
    one = site(vhost=TO_RTMP)
    one.publish("cam", "&codec=h264")
    live = one.live
    players.wait_playable(live.url("cam"), 20)
    for url in (live.url("cam"), f"http://127.0.0.1:{live.ports['http']}/live/cam.flv"):
        found = probe(url)
        assert (found["video"]["codec_name"], found["audio"]["codec_name"]) == ("h264", "aac"), url
        assert found["audio"]["sample_rate"] == "48000" and found["audio"]["channels"] == 2
        assert found["video"]["width"] > 0
    decode(live.url("cam"), 3)
    playlist = f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8"
    players.wait_playable(playlist, 20)
    assert set(probe(playlist)) == {"video", "audio"}
    assert not live.complaints()


@pytest.mark.parametrize("b_frames", [0, 3])
def test_what_rtmp_publishes_is_played_by_chromium(site, clip, tmp_path, b_frames):
    one = site(vhost=TO_RTC)
    source = clip("basic")
    if b_frames:
        source = tmp_path / "b.flv"
        command = ["ffmpeg", "-v", "error", "-i", clip("basic"), "-t", "8", "-c:a", "copy", "-c:v", "libx264", "-preset", "veryfast", "-bf",
                   str(b_frames), "-g", "50", "-f", "flv", source]
        subprocess.run(command, check=True, timeout=60)
    with players.FfmpegPublisher(one.live.url("cam"), source):
        players.wait_playable(one.live.url("cam"))
        page = one.play("cam")
        before = page.value(FRAMES)
        wait_until(lambda: page.value(FRAMES) > before + 25, 15, "25 frames")
        assert page.value(SIZE) == 640
        wait_until(lambda: "H264" in page.text("#codecs").upper() and "OPUS" in page.text("#codecs").upper(), 5, "the codecs")
        stream = one.live.api("/api/v1/streams/")["streams"][0]
        assert stream["b_frames"] == bool(b_frames)
    assert ("B-frames" in one.live.log()) == bool(b_frames)
