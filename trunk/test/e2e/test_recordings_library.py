"""Libraries of recordings as years of use leave them: a thousand files, a clock that was set back, four tracks of audio, several workers, and a browser."""

import json
import signal
import subprocess

import pytest

import live_server
from live_server import wait_until
from page_site import REMUX, fixture_site  # noqa: F401
from play_check import CLIP_FRAMES
from playback import FMP4, PLAYBACK, SEGMENTS, Playback, files_of, follow_each_other, later, moment, numbers, record, recording, shown, times
from players import FfmpegPublisher
from recordings import SPEED, copy_at, make_noise, start_of
from rtmp_client import AUDIO, Publisher, read_flv
from track_streams import is_setup


def test_a_thousand_files_are_one_span(server, clip, tmp_path):
    live, library = recording(server, SEGMENTS)
    record(live, library, clip, 5)
    one = next(file for file in files_of(live) if file["duration"] == pytest.approx(2, abs=0.05))
    live.stop()
    path, folder = live.folder / one["file"], live.folder / "rec" / "live"
    begun, length = start_of(path), round(one["duration"] * 1e6)
    for other in folder.glob("*"):
        if other != path:
            other.unlink()
    for number in range(1, 1000):
        copy_at(path, folder / f"cam.{number}.mp4", begun + number * length)
    live.start()
    wait_until(library.spans, 20, "the library")
    (span,) = library.spans()
    assert span["duration"] == pytest.approx(1000 * one["duration"], abs=0.05)
    assert live.api("/api/v1/recordings")["recordings"][0]["files"] == 1000
    middle = library.get(tmp_path / "middle.mp4", later(span["start"], 700 * one["duration"] + 1), 5)
    # The copies follow each other by the length of the file, which is not a whole number of frames.
    assert len(shown(middle)) == pytest.approx(125, abs=2) and abs(numbers(middle)[0] - numbers(path)[25]) <= 1
    whole = library.ask("/get", path="live/cam", start=span["start"], duration=span["duration"], format="hls")[2].decode()
    assert whole.count("#EXTINF") == 1000 and "DISCONTINUITY" not in whole
    status, headers, _ = library.ask("/get", {"Range": "bytes=0-99"}, path="live/cam", start=span["start"], duration=span["duration"], format="mp4")
    assert status == 206 and int(headers["content-range"].split("/")[1]) > 900 * path.stat().st_size


def test_a_clock_that_was_set_back_leaves_two_spans_of_one_hour(server, clip, tmp_path):
    live, library = recording(server, SEGMENTS)
    record(live, library, clip, 9)
    files = sorted(files_of(live), key=lambda file: file["start"])
    live.stop()
    later_half = [live.folder / file["file"] for file in files[len(files) // 2:]]
    # Half an hour later, the clock is set back by an hour.
    back = start_of(later_half[0]) - start_of(live.folder / files[0]["file"]) - 1_000_000
    for path in later_half:
        copy_at(path, path, start_of(path) - back)
    live.start()
    wait_until(library.spans, 20, "the library")
    spans = library.spans()
    assert len(spans) == 2 and moment(spans[1]["start"]) < later(spans[0]["start"], spans[0]["duration"]), "they overlap"
    first = library.get(tmp_path / "first.mp4", spans[0]["start"], 0.9)
    second = library.get(tmp_path / "second.mp4", spans[1]["start"], spans[1]["duration"])
    assert numbers(first)[0] == 0 and follow_each_other(numbers(second)[:-3]) and numbers(second)[0] > 20
    assert len(numbers(second)) == pytest.approx(spans[1]["duration"] * 25, abs=3)


@pytest.mark.parametrize("way", ["row", "takeover"])
def test_two_publishers_of_one_name_lose_no_frame(server, clip, tmp_path, way):
    """The second one starts when the first has left, or replaces it."""
    live, library = recording(server, vhost="publish { takeover on; }" if way == "takeover" else "")
    publisher = FfmpegPublisher(live.url("cam"), clip("basic"))
    try:
        wait_until(lambda: library.seconds() > 3, 30, "three seconds are listed")
        if way == "row":
            publisher.stop(signal.SIGINT)
        with FfmpegPublisher(live.url("cam"), clip("basic")):
            wait_until(lambda: publisher.process.poll() is not None, 20, "the first one has left")
            before = library.seconds()
            wait_until(lambda: library.seconds() > before + 3, 30, "three more seconds are listed")
    finally:
        publisher.kill()
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 15, "the recordings are closed")
    spans = library.spans()
    whole = (moment(spans[-1]["start"]) - moment(spans[0]["start"])).total_seconds() + spans[-1]["duration"]
    recorded = sum(len(times(file)) for file in (live.folder / "rec/live").glob("cam.*.mp4"))
    assert recorded > 2 * 3 * 25 - 5
    for form in ("mp4", "fmp4"):
        frames = numbers(library.get(tmp_path / f"{form}.mp4", spans[0]["start"], whole, form))
        breaks = [b for a, b in zip(frames, frames[1:]) if b != (a + 1) % CLIP_FRAMES]
        assert breaks == [0], f"{form}: one place where the second one begins"
        assert len(frames) == recorded, form


def test_recordings_of_an_earlier_process_are_deleted_by_the_rules(server, clip):
    """mtx#3182, #2525, #3556: files not deleted. Nobody publishes the stream since the start; other streams are younger, and stay."""
    live, library = recording(server, SEGMENTS)
    record(live, library, clip, 3, stream="old")
    record(live, library, clip, 3, stream="new")
    live.stop()
    old = sorted((live.folder / "rec").rglob("old.*.mp4"))
    assert len(old) >= 2
    for path in old:
        copy_at(path, path, start_of(path) - 8 * 86_400_000_000)
    live.conf_path.write_text(live.conf_path.read_text() + "recordings { delete_after 604800; }\n")
    live.start()
    wait_until(lambda: not [path for path in old if path.exists()], 30, "the old ones are deleted")
    assert not library.spans("live/old") and library.seconds("live/new") > 2.9
    assert live.api("/api/v1/recordings/disk")["data"]["deleted_files"] == len(old)


def test_four_tracks_of_audio_are_played(server, clip, tmp_path):
    live, library = recording(server)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.tags = []
    for tag in read_flv(clip("basic")):
        publisher.tags.append(tag)
        if tag.type == AUDIO:
            publisher.tags += [type(tag)(AUDIO, tag.timestamp, bytes([0x95, 0 if is_setup(tag) else 1]) + b"mp4a" + bytes([number]) + tag.payload[2:])
                               for number in (1, 2, 3)]
    publisher.start()
    wait_until(lambda: library.seconds() > 5, 30, "five seconds are listed")
    publisher.stop()
    (span,) = library.spans()
    for form in ("mp4", "fmp4"):
        excerpt = library.get(tmp_path / f"{form}.mp4", later(span["start"], 1.5), 2, form)
        command = ["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=codec_type,nb_read_packets", "-of", "json", str(excerpt)]
        streams = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["streams"]
        sounds = [int(stream["nb_read_packets"]) for stream in streams if stream["codec_type"] == "audio"]
        assert len(streams) == 5 and len(sounds) == 4 and max(sounds) - min(sounds) <= 1 and min(sounds) >= 85, form
    assert len(shown(tmp_path / "mp4.mp4")) == 50


def test_a_high_bit_rate_is_recorded_and_played(server, tmp_path):
    """mtx#4791: a high bit rate makes it fail. Fragments of six megabytes, and the frames of all of them."""
    noise = make_noise(tmp_path / "noise.flv", 5, 50)
    live, library = recording(server)
    with FfmpegPublisher(live.url("cam"), noise, speed=1):
        wait_until(lambda: library.seconds() > 4, 60, "four seconds are listed")
    (span,) = library.spans()
    for form in ("mp4", "fmp4"):
        assert len(shown(library.get(tmp_path / f"{form}.mp4", later(span["start"], 1), 2, form))) == 50, form
    assert "the recording has ended" not in live.log()


def test_recordings_of_all_workers_are_played_by_any(server, clip, tmp_path):
    live, library = recording(server, SEGMENTS, "workers 3;\n" + PLAYBACK)
    others = []
    try:
        for number in range(6):
            others.append(FfmpegPublisher(live.url(f"cam{number}"), clip("basic"), speed=1))
        for number in range(6):
            wait_until(lambda path=f"live/cam{number}": library.seconds(path) > 3, 60, f"cam{number} is listed while it is recorded")
    finally:
        for one in others:
            one.kill()
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 20, "the recordings are closed")
    for number in range(6):
        path = f"live/cam{number}"
        whole = wait_until(lambda path=path, number=number: [span for span in library.spans(path) if span["duration"] > 3], 20, "the whole span")[0]
        frames = numbers(library.get(tmp_path / "part.mp4", whole["start"], 3, path=path))
        assert follow_each_other(frames) and len(frames) == 75, path


def test_a_browser_plays_what_a_kill_has_left(site, clip):
    one = site(conf=live_server.conf(REMUX + f"dvr {{ enabled on; {FMP4} }}\n", PLAYBACK))
    library = Playback(one.live)
    publisher = FfmpegPublisher(one.live.url("cam"), clip("pyramid"), speed=SPEED)
    try:
        wait_until(lambda: library.seconds() > 4, 20, "four seconds are listed")
        one.live.kill()
    finally:
        publisher.kill()
    one.live.start()
    wait_until(library.spans, 10, "the recording is listed")
    (span,) = library.spans()
    page = one.open("/404.html")
    for form in ("mp4", "fmp4"):
        address = f"{one.origin}/recordings/get?path=live/cam&start={span['start']}&duration={span['duration']}&format={form}"
        page.value(f"(() => {{ const video = document.createElement('video'); video.id = 'v{form}'; video.muted = true; video.src = '{address}'; video.playbackRate = 4; document.body.append(video); video.play(); }})()")
        page.wait(f"document.getElementById('v{form}').ended", 60)
        frames = page.value(f"document.getElementById('v{form}').getVideoPlaybackQuality().totalVideoFrames")
        assert frames == pytest.approx(span["duration"] * 25, abs=3), form
        assert page.value(f"document.getElementById('v{form}').duration") == pytest.approx(span["duration"], abs=0.2), form
