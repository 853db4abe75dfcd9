"""Encoders that send video in forms of their own: every player and every file gets whole pictures."""

import subprocess
import time

import pytest

import odd_video
from live_server import wait_until
from rtmp_client import AUDIO, DATA, VIDEO, Player, RtmpClient, read_flv

HLS = "hls { enabled on; hls_fragment 1; hls_window 12; hls_path $folder/html; hls_m3u8_file [app]/[stream].m3u8; hls_ts_file [app]/[stream]-[seq].ts; }"


class Encoder:
    """Sends tags as they are, so many times faster than real time."""

    def __init__(self, live, stream: str, speed: float = 2):
        self.client, self.speed = RtmpClient(live.ports["rtmp"]), speed
        assert self.client.publish(stream)["code"] == "NetStream.Publish.Start"
        self.began, self.first_ms = time.monotonic(), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    def send(self, tags) -> "Encoder":
        for tag in tags:
            self.first_ms = tag.timestamp if self.first_ms is None else self.first_ms
            time.sleep(max(0.0, self.began + (tag.timestamp - self.first_ms) / 1000 / self.speed - time.monotonic()))
            self.client.send_message(tag.type, tag.payload, tag.timestamp)
        return self


def until(tags, end_ms: int, start_ms: int = 0) -> list:
    return [tag for tag in tags if start_ms <= tag.timestamp < end_ms]


def video_of(live, stream: str) -> dict:
    return next(one["video"] for one in live.api("/api/v1/streams/")["streams"] if one["name"] == stream)


def listed(live, stream: str) -> list[str]:
    playlist = live.folder / f"html/live/{stream}.m3u8"
    return [line for line in playlist.read_text().splitlines() if line and line[0] != "#"] if playlist.exists() else []


def decode(path) -> tuple[int, str]:
    """How many pictures ffmpeg decodes, and its complaints."""
    done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"],
                          capture_output=True, text=True, check=False)
    return sum(line[:1].isdigit() for line in done.stdout.splitlines()), done.stderr


def test_a_bad_sequence_header_does_not_replace_the_good_one(server, clip):
    live, tags = server(vhost=HLS), read_flv(clip("basic"))
    good = next(tag.payload for tag in tags if tag.type == VIDEO)
    with Encoder(live, "cam") as encoder:
        encoder.send(odd_video.bad_headers(until(tags, 4000), 2400))
        late = Player(live.ports["rtmp"], "cam")
        late.start()
        wait_until(lambda: any(message.type == VIDEO for message in late.messages), 10, "the late player gets video")
        assert next(message.payload for message in late.messages if message.type == VIDEO) == good
        video = video_of(live, "cam")
        assert (video["width"], video["height"]) == (640, 360), video
        late.stop()
        wait_until(lambda: len(listed(live, "cam")) >= 1, 10, "a fragment")
    wait_until(lambda: "dropped a bad video sequence header" in live.log(), 5, "a line in the log")
    assert live.log().count("dropped a bad video sequence header") == 1
    wait_until(lambda: sum(decode(live.folder / "html/live" / name)[0] for name in listed(live, "cam")) == 100, 15, "all pictures, also those of that GOP", 0.5)


@pytest.mark.parametrize("name", ["basic", "hevc"])
def test_key_frames_without_a_frame_type_are_found(server, clip, name):
    tags = list(odd_video.without_frame_types(until(read_flv(clip(name)), 5000)))
    origin = server(vhost=HLS)
    edge = server(vhost=f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }}")
    with Encoder(origin, "cam") as encoder:
        encoder.send(until(tags, 500))
        player = Player(edge.ports["rtmp"], "cam")
        player.start()
        encoder.send(until(tags, 5000, 500))
        wait_until(lambda: len([one for one in player.messages if one.is_key_frame() or one.payload[0] == 0x91 or one.payload[0] == 0x93]) >= 2, 10,
                   lambda: f"key frames by the edge: {[(one.timestamp, one.payload[:5]) for one in player.messages if one.type == VIDEO][:5]}")
        wait_until(lambda: len(listed(origin, "cam")) >= 2, 10, "more than one fragment")
    player.stop()


FORMS = {
    "pieces": ("basic", odd_video.one_unit_a_message),
    # The first key frame is forwarded before the server knows that its slices arrive one by one, and again as a whole.
    "slices": ("slices", lambda tags: odd_video.one_unit_a_message(tags, delimiter=False)),
    "slices_and_pieces": ("slices", odd_video.one_unit_a_message),
    "filler": ("basic", odd_video.trailing_filler),
    "annex_b": ("basic", odd_video.annex_b),
    "annex_b_now_and_then": ("slices", lambda tags: odd_video.annex_b(tags, every=2)),
    "annex_b_pieces": ("slices", lambda tags: odd_video.annex_b(odd_video.one_unit_a_message(tags))),
}
SECONDS = 5
OUTPUTS = """{hls}
dvr {{ enabled on; dvr_path $folder/html/[app]/[stream].mp4; }}"""
FMP4 = "vhost fmp4.test { dvr { enabled on; dvr_format fmp4; dvr_path $folder/html/fmp4/[stream].mp4; } }"


def packets_of(path, kind: str = "v") -> list[float]:
    """The decoding times of a file's packets."""
    done = subprocess.run(["ffprobe", "-v", "error", "-select_streams", kind, "-show_entries", "packet=dts_time", "-of", "csv=p=0", str(path)],
                          capture_output=True, text=True, check=True)
    return [float(line.rstrip(",")) for line in done.stdout.split() if line.rstrip(",") != "N/A"]


def assert_pictures(path, frames: int, once_more: int = 0) -> None:
    """A packet for each picture, a frame apart, which decode without a complaint; so many of the first may be there once more."""
    times = packets_of(path)
    assert frames <= len(times) <= frames + once_more, f"{path.name}: {len(times)} packets of {frames} pictures"
    times = times[len(times) - frames:]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert all(0.035 < gap < 0.045 for gap in gaps), f"{path.name}: {sorted(gaps)[:3]} to {sorted(gaps)[-3:]}"
    pictures, complaints = decode(path)
    assert pictures >= frames and (once_more or not complaints), f"{path.name}: {pictures} pictures, {complaints[:300]}"


@pytest.mark.parametrize("form", FORMS)
def test_every_output_gets_whole_pictures(server, clip, form):
    name, make = FORMS[form]
    live = server(vhost=OUTPUTS.format(hls=HLS), root=FMP4)
    plain = until(read_flv(clip(name)), SECONDS * 1000)
    tags, frames = list(make(plain)), sum(odd_video.is_frame(tag) for tag in plain)
    with Encoder(live, "cam") as encoder, Encoder(live, "cam?vhost=fmp4.test") as other:
        player = None
        for start in range(0, SECONDS * 1000, 500):
            encoder.send(until(tags, start + 500, start))
            other.send(until(tags, start + 500, start))
            if player is None:
                player = Player(live.ports["rtmp"], "cam")
                player.start()
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 15, "the recordings are closed")
    # The beginning of the first key frame is forwarded before the rest arrives.
    once_more = 1 if form == "slices" else 0
    html, whole = live.folder / "html", live.folder / "whole.ts"
    whole.write_bytes(b"".join((html / "live" / name).read_bytes() for name in listed(live, "cam")))
    for path in (html / "live/cam.mp4", html / "fmp4/cam.mp4", whole):
        assert_pictures(path, frames, once_more)
    messages = [one for one in player.stop() if one.type == VIDEO and one.payload[1] == 1]
    assert frames - 1 <= len(messages) <= frames + once_more, "the last one may be on its way when the stream ends"
    assert len({one.timestamp for one in messages}) >= frames - 1
    complaints = [line for line in live.complaints() if "environment variable" not in line]
    assert not complaints, complaints


@pytest.mark.parametrize("form", ["pieces", "annex_b"])
def test_chromium_plays_to_the_end(server, clip, chromium, form):
    name, make = FORMS[form]
    live = server(vhost=OUTPUTS.format(hls=HLS))
    tags = list(make(until(read_flv(clip(name)), SECONDS * 1000)))
    with Encoder(live, "cam", speed=5) as encoder:
        encoder.send(tags)
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 15, "the recording is closed")
    page = chromium.page().goto(f"http://127.0.0.1:{live.ports['http']}/live/cam.mp4")
    page.wait("document.querySelector('video')")
    page.value("(() => { const video = document.querySelector('video'); video.muted = true; video.playbackRate = 4; video.play(); })()")
    page.wait("(video => video.ended || video.error != null)(document.querySelector('video'))", 20)
    assert page.value("document.querySelector('video').error?.message ?? ''") == ""
    page.close()
