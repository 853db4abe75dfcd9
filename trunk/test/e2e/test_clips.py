"""Clips: a span around now as a file of its own, which no rule deletes."""

import json
import urllib.error
import urllib.request

import pytest

from hook_server import HookServer
from live_server import wait_until
from playback import FMP4, PLAYBACK, SEGMENTS, Playback, files_of, follow_each_other, moment, numbers, recording, shown
from players import FfmpegPublisher
from recordings import duration_of


def ask_clip(live, stream: str, body) -> tuple[int, dict]:
    data = json.dumps(body).encode() if not isinstance(body, bytes) else body
    request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/streams/{stream}/clip", data=data,
                                     headers={"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


@pytest.mark.parametrize("dvr", [FMP4, SEGMENTS], ids=["session", "segments"])
def test_a_span_around_now_becomes_a_file(server, clip, tmp_path, dvr):
    with HookServer() as hooks:
        live, library = recording(server, dvr, vhost=f"http_hooks {{ enabled on; on_dvr {hooks.url('/on_dvr')}; }}", root=PLAYBACK + "recordings { delete_after 12; }\n")
        with FfmpegPublisher(live.url("cam"), clip("bframes"), speed=1):
            wait_until(lambda: library.seconds() > 3, 30, "three seconds are listed")
            (stream,) = live.api("/api/v1/streams/")["streams"]
            status, answer = ask_clip(live, stream["id"], {"before": 3, "after": 3})
            assert status == 200 and answer["data"]["duration"] == 6
            name = answer["data"]["file"]
            assert "clips/live/cam" in name
            event = wait_until(lambda: [event.body for event in hooks.events if event.action == "on_dvr" and event.body["file"] == name], 30, "on_dvr")[0]
            assert (event["app"], event["stream"]) == ("live", "cam")
            (kept,) = wait_until(lambda: files_of(live, "/clips/live/cam"), 10, "the clip is listed")
            assert kept["pinned"] and not kept["recording"]
            # It begins with the key frame before, and has all frames.
            seconds = duration_of(live.folder / name)
            # The span is of the wall clock: on a busy machine the publisher may be late with its end, and send more of it later.
            assert 3 < seconds < 12
            frames = numbers(live.folder / name)
            # Cut in the order of decoding: the last frame is shown after up to two B-frames that follow it there.
            assert follow_each_other(frames[:-1]) and len(frames) == pytest.approx(seconds * 25, abs=3), (seconds, frames[-5:])
            part = library.get(tmp_path / "part.mp4", kept["start"], 2, path="clips/live/cam")
            assert len(shown(part)) == 50
            for body in (b"", b"[]", {}, {"before": -1}, {"before": 3_000, "after": 700}, {"before": "3"}):
                assert ask_clip(live, stream["id"], body)[0] == 400, body
            assert ask_clip(live, "vid-none", {"before": 1})[0] == 404
        wait_until(lambda: not files_of(live), 60, "the recordings are deleted")
        assert files_of(live, "/clips/live/cam") == [kept]


# Off, of another format, and for another stream only.
WITHOUT = {"off": "dvr { dvr_path $folder/rec/[app]/[stream].[timestamp].flv; }", "flv": "dvr { enabled on; dvr_path $folder/rec/[app]/[stream].[timestamp].flv; }",
           "other": "dvr { enabled on; dvr_apply live/other; dvr_format fmp4; dvr_path $folder/rec/[app]; }"}


@pytest.mark.parametrize("dvr", list(WITHOUT))
def test_a_stream_that_is_not_recorded_gives_clips_of_its_ring(server, clip, tmp_path, dvr):
    """From the newest key frame on: what players get at once, and what is published up to the end of the span."""
    with HookServer() as hooks:
        live = server(vhost=WITHOUT[dvr] + f"http_hooks {{ enabled on; on_dvr {hooks.url('/on_dvr')}; }}", root=PLAYBACK)
        publisher = FfmpegPublisher(live.url("cam"), clip("basic"), speed=1)
        try:
            (stream,) = wait_until(lambda: [one for one in live.api("/api/v1/streams/")["streams"] if one["frames"] > 30], 15, "the stream")
            status, answer = ask_clip(live, stream["id"], {"before": 60, "after": 3})
            assert status == 200 and 3 <= answer["data"]["duration"] < 6, answer
            name = answer["data"]["file"]
            assert "clips/live/cam" in name and name.endswith(".mp4")
            event = wait_until(lambda: [event.body for event in hooks.events if event.action == "on_dvr" and event.body["file"] == name], 30, "on_dvr")[0]
            assert (event["app"], event["stream"]) == ("live", "cam") and "error" not in event
            seconds, frames = duration_of(live.folder / name), numbers(live.folder / name)
            assert seconds == pytest.approx(answer["data"]["duration"], abs=1)
            assert follow_each_other(frames) and len(frames) == pytest.approx(seconds * 25, abs=2)
            (kept,) = wait_until(lambda: files_of(live, "/clips/live/cam"), 10, "the clip is listed")
            assert kept["pinned"] and abs(moment(kept["start"]) - moment(answer["data"]["start"])).total_seconds() < 1
            library = Playback(live)
            assert len(shown(library.get(tmp_path / "part.mp4", kept["start"], 2, path="clips/live/cam"))) == 50
            # A stop keeps what is there by then.
            assert ask_clip(live, stream["id"], {"before": 1, "after": 3_000})[0] == 200
            wait_until(lambda: list((live.folder / "rec" / "clips").rglob("*.tmp")), 15, "another clip is being recorded")
            live.stop()
        finally:
            publisher.kill()
        clips = sorted((live.folder / "rec" / "clips").rglob("*.mp4"))
        assert len(clips) == 2 and all(duration_of(path) > 0 for path in clips)


def test_a_stream_that_is_not_published_gives_no_clip(server, clip):
    live = server(root=PLAYBACK)
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
        (stream,) = wait_until(lambda: live.api("/api/v1/streams/")["streams"], 15, "the stream")
    wait_until(lambda: not any(one["publish"]["active"] for one in live.api("/api/v1/streams/")["streams"]), 20, "its publisher has left")
    status, answer = ask_clip(live, stream["id"], {"before": 1})
    assert status == 404 and ("neither published nor recorded" in answer["message"] or "no such stream" in answer["message"])
    assert Playback(live).ask("/list", path="clips/live/cam")[0] in (404, 503)
