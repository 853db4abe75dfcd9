"""Between WebRTC and everything else: Chromium publishes and ffmpeg plays by RTMP, FLV and HLS; ffmpeg publishes by RTMP and Chromium
plays, with video and audio."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

import players
from ffmpeg_children import ffmpegs
from live_server import conf, wait_until
from play_check import own_times
from rtc_site import LISTEN, TO_RTC, fixture_site  # noqa: F401

pytestmark = pytest.mark.workers

# Frames that a busy browser has received and not decoded yet. One that cannot decode a frame drops all up to the next key frame, of 50 frames.
# A second of pictures may wait in a browser that has no CPU.
UNDECODED_MAX = 25

TO_RTMP = """rtc { enabled on; rtc_to_rtmp on; pli_for_rtmp 2; } http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
    hls { enabled on; hls_fragment 2; hls_window 10; hls_path $folder/html; }"""


def probe(url: str) -> dict[str, dict]:
    """What ffprobe finds, by kind."""
    command = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return {stream["codec_type"]: stream for stream in json.loads(done.stdout)["streams"]}


def test_a_chromium_stream_plays_over_every_protocol(site):
    one = site(vhost=TO_RTMP)
    one.publish("cam", "&codec=h264")
    live = one.live
    players.wait_playable(live.url("cam"), 40)
    http = f"http://127.0.0.1:{live.ports['http']}/live/cam"
    for url in (live.url("cam"), http + ".flv"):
        found = probe(url)
        assert (found["video"]["codec_name"], found["audio"]["codec_name"]) == ("h264", "aac"), url
        assert found["audio"]["sample_rate"] == "48000" and found["audio"]["channels"] == 2
        assert found["video"]["width"] > 0
    # By their own times: a camera's are not even, and those of the rate that ffmpeg guesses would meet.
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", live.url("cam"), "-t", "3", *own_times(), "-f", "null", "-"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    wait_until(lambda: live.api("/api/v1/streams/")["streams"][0]["frames"] > 60, 30, "frames are counted")
    players.wait_playable(http + ".m3u8", 40)
    assert set(probe(http + ".m3u8")) == {"video", "audio"}


def test_chromium_plays_an_rtmp_stream(site, clip):
    one = site(vhost=TO_RTC)
    with players.FfmpegPublisher(one.live.url("cam"), clip("basic")):
        players.wait_playable(one.live.url("cam"))
        page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{one.live.ports['http']}/players/whip.html")
        heard = json.loads(page.value(LISTEN % "cam"))
        stream = one.live.api("/api/v1/streams/")["streams"][0]
    video, audio = heard["video"], heard["audio"]
    assert (video["codec"], audio["codec"]) == ("video/H264", "audio/opus")
    assert video["framesDecoded"] > 70, video
    # A busy browser may freeze by itself, and its socket may overflow meanwhile; what it has got it must have been able to decode.
    assert video["frameWidth"] == 640 and video["framesDecoded"] >= video["framesReceived"] - UNDECODED_MAX and video["pliCount"] <= 1, video
    assert audio["packetsReceived"] > 150 and audio["packetsLost"] < 0.1 * audio["packetsReceived"], audio
    assert audio["totalAudioEnergy"] > 0.001, audio
    assert audio["concealedSamples"] < 0.4 * audio["totalSamplesReceived"], audio
    assert stream["b_frames"] is False


def test_b_frames_are_named_and_do_no_harm(site, clip):
    """Of `pyramid` other pictures are predicted from some of the B-frames. Chromium puts no video in order: where its decoder has none to show,
    it asks for a key frame (PLI) and drops everything up to it."""
    one = site(vhost=TO_RTC)
    names = ("bframes", "pyramid")
    with players.FfmpegPublisher(one.live.url(names[0]), clip(names[0])), players.FfmpegPublisher(one.live.url(names[1]), clip(names[1])):
        for name in names:
            players.wait_playable(one.live.url(name))
        page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{one.live.ports['http']}/players/whip.html")
        both = json.loads(page.value(f"Promise.all([{', '.join(LISTEN % name for name in names)}]).then((all) => `[${{all}}]`)"))
        wait_until(lambda: all(stream["b_frames"] for stream in one.live.api("/api/v1/streams/")["streams"] if stream["name"] in names), 20, "b_frames")
        one.live.wait_log("the stream has B-frames")
    for name, seen in zip(names, both):
        video = seen["video"]
        assert video["framesReceived"] > 20, (name, video)
        assert video["framesDecoded"] >= video["framesReceived"] - UNDECODED_MAX, (name, video)
        assert video["pliCount"] <= 1 and 0 < seen["gap"] < 2500, (name, seen)


def rate(seen: dict) -> float:
    """Frames per second of media: Opus has 50 packets in a second."""
    return 50 * seen["video"]["framesReceived"] / seen["audio"]["packetsReceived"]


@pytest.mark.one_worker("each worker has a version of its own")
def test_players_of_b_frames_share_a_version_without(site, clip):
    """Two players get the 25 frames of a second in order, of one ffmpeg, which ends after them. Without B-frames they would get 9 or 10; a browser
    without CPU skips some."""
    one = site(vhost=TO_RTC.replace("rtmp_to_rtc on;", "rtmp_to_rtc on; bframes transcode;"))
    live = one.live
    transcodes = lambda: live.api("/api/v1/transcodes")["transcodes"]  # noqa: E731
    with players.FfmpegPublisher(live.url("bframes"), clip("bframes")):
        players.wait_playable(live.url("bframes"))
        wait_until(lambda: live.api("/api/v1/streams/")["streams"][0]["b_frames"], 20, "b_frames")
        page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{live.ports['http']}/players/whip.html")
        both = json.loads(page.value(f"Promise.all([{LISTEN % 'bframes'}, {LISTEN % 'bframes'}]).then((all) => `[${{all}}]`)"))
        (shown,) = transcodes()
        assert shown["engine"] == "webrtc" and shown["output"] == "WebRTC players" and shown["starts"] == 1 and len(ffmpegs(live)) == 1
        assert [stream["name"] for stream in live.api("/api/v1/streams/")["streams"]] == ["bframes"]
        wait_until(lambda: not transcodes() and not ffmpegs(live), 30, "the end of ffmpeg after the last player")
    for seen in both:
        assert 15 < rate(seen) < 28, seen
        assert seen["video"]["pliCount"] <= 1 and 0 < seen["gap"] < 2500, seen


def test_a_reload_that_enables_audio_conversion_loads_the_libraries(server):
    """Before the first stream needs them: loading takes longer than any frame may."""
    rtc = "rtc {{ enabled on; rtmp_to_rtc {}; }}"
    live = server(rtc.format("off"))
    mapped = [Path(f"/proc/{pid}/maps") for pid in live.pids()]
    assert not any("libavcodec" in one.read_text() for one in mapped)
    live.write_conf(conf(rtc.format("on")))
    live.process.send_signal(signal.SIGHUP)
    wait_until(lambda: live.log().count("reload finished, code=0") == len(mapped), 20, "a reload")
    assert all("libavcodec" in one.read_text() for one in mapped) or "audio cannot be converted" in live.log()
