"""Recordings as a library: listed and played while they grow, after a kill, across gaps and files; kept, pinned and deleted.

Each complaint about other servers (doc/conformance/recordings.md) is a test."""

import json
import os
import random
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from hook_server import Answer, HookServer
from live_server import TRUNK, wait_until
from playback import PLAYBACK, SEGMENTS, Playback, files_of, follow_each_other, later, moment, numbers, record, recording, shown, times
from players import FfmpegPublisher
from recordings import SPEED, assert_decodes, duration_of

FRAME_S = 0.04


def test_a_recording_is_played_while_it_grows(server, clip, tmp_path):
    live, library = recording(server)
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=SPEED):
        wait_until(lambda: library.seconds() > 5, 20, "five seconds are listed")
        (span,) = library.spans()
        for form in ("mp4", "fmp4"):
            excerpt = library.get(tmp_path / f"{form}.mp4", span["start"], 4, form)
            assert_decodes(excerpt, 95)
            assert numbers(excerpt)[:1] == numbers(library.get(tmp_path / "again.mp4", span["start"], 2, form))[:1]
        assert files_of(live)[0]["recording"]
        assert live.api("/api/v1/recordings")["recordings"][0]["recording"]
    wait_until(lambda: not files_of(live)[0]["recording"], 15, "the recording is complete")
    (span,) = library.spans()
    assert span["duration"] == pytest.approx(duration_of(next((tmp_path / "server0" / "rec" / "live").glob("*.mp4"))), abs=0.1)


def test_an_excerpt_begins_and_ends_at_the_exact_frame(server, clip, tmp_path):
    live, library = recording(server)
    record(live, library, clip, 9)
    (span,) = library.spans()
    whole = numbers(library.get(tmp_path / "whole.mp4", span["start"], span["duration"]))
    shown = times(tmp_path / "whole.mp4")
    assert follow_each_other(whole)
    for offset, seconds in ((0, 2), (1.0, 2), (3.4, 2.2), (5.02, 1)):
        start = later(span["start"], offset)
        wanted = [number for number, at in zip(whole, shown) if offset - 0.001 <= at < offset + seconds - 0.001]
        movie = numbers(library.get(tmp_path / "part.mp4", start, seconds))
        assert movie == wanted, f"mp4 from {offset}"
        # In fragments, frames for decoding only last one tick each.
        fragments = library.get(tmp_path / "part.f.mp4", start, seconds, "fmp4")
        hidden = sum(at < 0 for at in times(fragments))
        # At the end, frames that are shown later may be needed for decoding.
        assert numbers(fragments)[hidden:][:len(wanted)] == wanted and len(numbers(fragments)) <= hidden + len(wanted) + 2, f"fmp4 from {offset}"
        assert times(fragments)[-1] - times(fragments)[0] == pytest.approx(seconds, abs=4 * FRAME_S)


@pytest.mark.parametrize("ending", ["flv", "mp4"])
def test_recordings_in_other_containers_are_cut_at_the_exact_frame(server, clip, tmp_path, ending):
    """FLV, and MP4 whose index is after the media."""
    live, library = recording(server, f"dvr_path $folder/rec/[app]/[stream].[timestamp].{ending};")
    with FfmpegPublisher(live.url("cam"), clip("bframes"), speed=SPEED):
        wait_until(lambda: any(one["duration"] > 9 for one in live.api("/api/v1/dvrs")["dvrs"]), 30, "nine seconds are recorded")
    wait_until(library.spans, 15, "the recording is listed")
    assert [one["file"].rsplit(".", 1)[1] for one in files_of(live)] == [ending]
    (span,) = library.spans()
    whole = numbers(library.get(tmp_path / "whole.mp4", span["start"], span["duration"]))
    # The publisher was killed anywhere: of the last four frames those that are decoded last did not arrive.
    assert follow_each_other(whole[:-4]) and len(whole) == pytest.approx(span["duration"] / FRAME_S, abs=5)
    assert_decodes(tmp_path / "whole.mp4", len(whole))
    for offset, seconds in ((0, 2), (3.4, 2.2), (5.0, 1)):
        first = round(offset / FRAME_S)
        wanted = whole[first:first + round(seconds / FRAME_S)]
        start = later(span["start"], offset)
        assert numbers(library.get(tmp_path / "part.mp4", start, seconds)) == wanted, f"mp4 from {offset}"
        fragments = library.get(tmp_path / "part.f.mp4", start, seconds, "fmp4")
        hidden = sum(at < -5e-6 for at in times(fragments))
        found = numbers(fragments)[hidden:]
        assert found[:len(wanted)] == wanted and len(found) <= len(wanted) + 2, f"fmp4 from {offset}"
    part = library.get(tmp_path / "part.mp4", span["start"], 3).read_bytes()
    status, headers, body = library.ask("/get", headers={"Range": "bytes=1000-60999"}, path="live/cam", start=span["start"], duration=3, format="mp4")
    assert (status, body, headers["content-range"]) == (206, part[1000:61000], f"bytes 1000-60999/{len(part)}")


@pytest.mark.parametrize("name", ["basic", pytest.param("bframes", marks=pytest.mark.long), "pyramid"])
def test_a_span_has_exactly_its_frames(server, clip, tmp_path, name):
    """With B-frames, frames are shown in another order than they are decoded in."""
    live, library = recording(server)
    record(live, library, clip, 8, name=name)
    (span,) = library.spans()
    for offset, seconds in ((0, 2), (2, 4), (1.0, 2), (3.4, 1.2), (0.04, 1), (4.96, 0.04)):
        wanted = [round(at * FRAME_S, 2) for at in range(round(seconds / FRAME_S))]
        movie = library.get(tmp_path / "span.mp4", later(span["start"], offset), seconds)
        assert [round(at, 2) for at in shown(movie)] == wanted, f"mp4 from {offset}"
        assert follow_each_other(numbers(movie))
        fragments = [round(at, 2) for at in shown(library.get(tmp_path / "span.f.mp4", later(span["start"], offset), seconds, "fmp4"))]
        # Times are counted from the first frame for decoding; one or two after the end may be needed by others before it.
        assert len(fragments) - len(wanted) in range(3), f"fmp4 from {offset}: {fragments}"
        assert [round(at - fragments[0], 2) for at in fragments[:len(wanted)]] == wanted, f"fmp4 from {offset}"
    group = library.get(tmp_path / "group.mp4", span["start"], 2, "fmp4")
    assert len(shown(group)) == 50, "a group of pictures, and nothing more"
    everything = shown(library.get(tmp_path / "all.mp4", span["start"], span["duration"]))
    # The publisher was killed anywhere: sound may last longer, and of the last four frames those that are decoded last did not arrive.
    assert -5 < len(everything) - span["duration"] / FRAME_S < 1.01
    assert max(b - a for a, b in zip(everything, everything[1:]) if b < everything[-1] - 4 * FRAME_S) < 1.5 * FRAME_S, "none is missing up to the end"


def test_recordings_conf_as_shipped_survives_a_kill(server, clip, tmp_path):
    text = (TRUNK / "conf" / "recordings.conf").read_text()
    for port, name in (("1935", "rtmp"), ("127.0.0.1:1985", "api"), ("8080", "http"), ("9996", "playback")):
        assert f"listen          {port};" in text or f"listen              {port};" in text
        text = text.replace(f" {port};", f" 127.0.0.1:${name};")
    live = server(conf=text + "pid $folder/srs.pid;\n")
    library = Playback(live)
    publisher = FfmpegPublisher(live.url("rec"), clip("basic"), speed=SPEED)
    try:
        wait_until(lambda: library.seconds("live/rec") > 6, 20, "six seconds are listed")
        (before,) = library.spans("live/rec")
        live.kill()
    finally:
        publisher.kill()
    live.start()
    wait_until(lambda: library.spans("live/rec"), 10, "the recording is listed")
    (after,) = library.spans("live/rec")
    assert after["start"] == before["start"]
    assert after["duration"] >= before["duration"] - 0.001
    excerpt = library.get(tmp_path / "part.mp4", later(after["start"], 3), 3, path="live/rec")
    assert len(numbers(excerpt)) == 75 and follow_each_other(numbers(excerpt))


@pytest.mark.parametrize("times_killed", [5, pytest.param(50, marks=pytest.mark.long)])
def test_every_second_before_the_last_part_plays_after_a_kill(server, clip, tmp_path, times_killed):
    live, library = recording(server)
    chance = random.Random(52)
    for round_ in range(times_killed):
        path = f"live/cam{round_}"
        publisher = FfmpegPublisher(live.url(f"cam{round_}"), clip(("basic", "bframes", "pyramid")[round_ % 3]), speed=SPEED)
        try:
            wait_until(lambda: library.seconds(path) > 1, 20, "a second is listed")
            time.sleep(chance.random())
            (before,) = library.spans(path)
            live.kill()
        finally:
            publisher.kill()
        live.start()
        wait_until(lambda: library.spans(path), 10, "the recording is listed")
        (after,) = library.spans(path)
        assert after["duration"] >= before["duration"] - 0.001, round_
        excerpt = library.get(tmp_path / "all.mp4", after["start"], after["duration"], path=path)
        frames = numbers(excerpt)
        assert follow_each_other(frames) and abs(len(frames) - after["duration"] * 25) <= 1.5, round_
        assert len(shown(tmp_path / "all.mp4")) == len(frames), round_


def test_the_spans_before_and_after_a_break_are_listed_and_served(server, clip, tmp_path):
    """mtx#3510, #3816, #3243, #2214: only the first span is served when the stream broke in between."""
    live, library = recording(server)
    record(live, library, clip, 3, speed=1)
    time.sleep(1)
    record(live, library, clip, 3, speed=1)
    first, second = library.spans()
    gap = (moment(second["start"]) - moment(first["start"])).total_seconds() - first["duration"]
    assert gap > 0.5
    whole = (moment(second["start"]) - moment(first["start"])).total_seconds() + second["duration"]
    for form in ("mp4", "fmp4"):
        excerpt = library.get(tmp_path / f"{form}.mp4", first["start"], whole, form)
        assert len(numbers(excerpt)) == pytest.approx((first["duration"] + second["duration"]) * 25, abs=4)
        assert times(excerpt)[-1] == pytest.approx(whole, abs=0.2), "the time goes on in the gap"
    # Asked for in the gap: it begins with the second one.
    inside = library.get(tmp_path / "gap.mp4", later(first["start"], first["duration"] + gap / 2), 60)
    assert len(numbers(inside)) == pytest.approx(second["duration"] * 25, abs=2)


def test_segments_of_one_publisher_are_one_span_of_the_right_length(server, clip, tmp_path):
    """mtx#4354, #4711, #4188: 5 minutes asked, 3 s or 20 minutes got; 149 h in the list; durations that drift."""
    live, library = recording(server, SEGMENTS)
    record(live, library, clip, 10, speed=1)
    assert len(files_of(live)) >= 5
    (span,) = library.spans()
    media = sum(duration_of(path) for path in (live.folder / "rec").rglob("*.mp4"))
    # The sound of a file may end a frame after its video.
    assert span["duration"] == pytest.approx(media, abs=0.1 + 0.05 * len(files_of(live)))
    for form in ("mp4", "fmp4"):
        excerpt = library.get(tmp_path / f"{form}.mp4", span["start"], span["duration"], form)
        frames = numbers(excerpt)
        assert follow_each_other(frames) and len(frames) == pytest.approx(span["duration"] * 25, abs=2), form
        gaps = [b - a for a, b in zip(times(excerpt, "a"), times(excerpt, "a")[1:])]
        assert max(gaps) < 0.05, "no gap in the sound between two files"
    assert duration_of(library.get(tmp_path / "five.mp4", later(span["start"], 1), 5)) == pytest.approx(5, abs=0.05)


def test_plain_mp4_has_its_index_first_and_serves_ranges(server, clip):
    """mtx#4323: plain MP4 for scrubbing in editors and phones. Fragments of a short span serve ranges too."""
    live, library = recording(server, SEGMENTS)
    record(live, library, clip, 8)
    for form in ("mp4", "fmp4"):
        expect_ranges(library, form)


def expect_ranges(library, form: str) -> None:
    (span,) = library.spans()
    query = {"path": "live/cam", "start": span["start"], "duration": 7, "format": form}
    status, headers, whole = library.ask("/get", **query)
    assert status == 200 and headers["accept-ranges"] == "bytes" and int(headers["content-length"]) == len(whole)
    assert whole[4:8] == b"ftyp" and whole.index(b"moov") < whole.index(b"mdat")
    assert (whole.index(b"moof") < whole.index(b"mdat")) == (form == "fmp4")
    chance = random.Random(9)
    places = [(0, 0), (0, len(whole) - 1), (len(whole) - 1, len(whole) - 1), (whole.index(b"mdat") - 4, whole.index(b"mdat") + 20)]
    places += [tuple(sorted(chance.sample(range(len(whole)), 2))) for _ in range(20)]
    for first, last in places:
        status, headers, part = library.ask("/get", {"Range": f"bytes={first}-{last}"}, **query)
        assert status == 206 and headers["content-range"] == f"bytes {first}-{last}/{len(whole)}"
        assert part == whole[first:last + 1], (first, last)
    assert library.ask("/get", {"Range": f"bytes={len(whole)}-"}, **query)[0] == 416
    status, headers, body = library.ask("/get", method="HEAD", **query)
    assert status == 200 and int(headers["content-length"]) == len(whole) and not body


def test_only_complete_files_that_are_not_pinned_are_deleted(server, clip):
    """mtx#3182, #2525, #3556, #4331: files not deleted; the file being written deleted."""
    live, library = recording(server, SEGMENTS, PLAYBACK + "recordings { delete_after 5; }\n")
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
        wait_until(lambda: len(files_of(live)) >= 3, 20, "three files")
        first = files_of(live)[-2]
        change = f"stream=/live/cam&begin={first['start']}&end={later(first['start'], 0.001).isoformat().replace('+', '%2B')}"
        assert json.loads(ask_api(live, "PUT", f"/api/v1/recordings/pin?{change}"))["data"]["changed"] == 1
        wait_until(lambda: live.api("/api/v1/recordings/disk")["data"]["deleted_files"] >= 3, 60, "files are deleted")
    wait_until(lambda: [one["file"] for one in files_of(live)] == [first["file"]], 40, "all but the pinned one are deleted")
    wait_until(lambda: [path.name for path in (live.folder / "rec").rglob("*.mp4")] == [os.path.basename(first["file"])], 5, "on the disk too")
    live.wait_log("recordings: deleted")
    assert json.loads(ask_api(live, "DELETE", f"/api/v1/recordings/files?{change}"))["data"] == {"changed": 0, "kept": 1}
    assert json.loads(ask_api(live, "DELETE", f"/api/v1/recordings/pin?{change}"))["data"]["changed"] == 1
    wait_until(lambda: not live.api("/api/v1/recordings")["recordings"], 20, "the last one is deleted")
    assert library.ask("/list", path="live/cam")[0] == 404


def test_names_lead_nowhere_else(server, clip):
    """mtx#5602: path traversal by the stream's name."""
    live, library = recording(server)
    record(live, library, clip, 1)
    for path in ("live/../live/cam", "../rec/live/cam", "/etc/passwd", "live/%2e%2e/cam", "live/cam\x00", "live/\\cam", "cam", ""):
        status, _, body = library.ask("/get", path=path, duration=1)
        assert status in (400, 404) and "error" in json.loads(body), path
        status, _, body = library.ask("/list", path=path)
        assert status in (400, 404) and "error" in json.loads(body), path
    assert library.ask("/other")[0] == 404
    assert library.ask("/get", path="live/cam", start="yesterday", duration=1)[0] == 400
    assert library.ask("/list", path="live/none")[0] == 404
    assert library.ask("/list", method="POST", path="live/cam")[0] == 405


def test_codecs_that_change_are_one_excerpt(server, clip, tmp_path):
    live, library = recording(server)
    record(live, library, clip, 3, speed=1)
    time.sleep(1)
    record(live, library, clip, 3, name="second", speed=1)
    first, second = library.spans()
    whole = (moment(second["start"]) - moment(first["start"])).total_seconds() + second["duration"]
    for form in ("mp4", "fmp4"):
        excerpt = library.get(tmp_path / f"{form}.mp4", first["start"], whole, form)
        assert len(times(excerpt)) == pytest.approx((first["duration"] + second["duration"]) * 25, abs=4)
        assert len(shown(excerpt)) == len(times(excerpt)), f"{form}: the frames of both are decoded"


def test_a_library_is_built_from_the_files_alone(server, clip, tmp_path):
    live, library = recording(server, SEGMENTS)
    record(live, library, clip, 6)
    before, files = library.spans(), files_of(live)
    live.stop()
    for left in (live.folder).glob("objs/*"):
        if left.is_file():
            left.unlink()
    live.start()
    wait_until(library.spans, 10, "the library")
    assert [span["start"] for span in library.spans()] == [span["start"] for span in before]
    assert [(one["start"], one["bytes"]) for one in files_of(live)] == [(one["start"], one["bytes"]) for one in files]


def test_on_play_is_asked_with_the_span(server, clip):
    with HookServer() as hooks:
        live, library = recording(server, vhost=f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; on_stop {hooks.url('/on_stop')}; }}")
        record(live, library, clip, 2)
        (span,) = library.spans()
        assert library.ask("/get", path="live/cam", start=span["start"], duration=1, token="a b")[0] == 200
        hooks.wait_for("on_stop", 1)
        body = [event.body for event in hooks.events if event.action == "on_play"][-1]
        assert (body["stream"], body["app"], body["vhost"]) == ("cam", "live", "__defaultVhost__")
        assert "duration=1" in body["param"] and "start=2" in body["param"] and "token=a+b" in body["param"]
        hooks.answers["/on_play"] = Answer(body='{"code": 7, "msg": "no"}')
        for path in ("/get", "/list"):
            status, _, text = library.ask(path, path="live/cam", start=span["start"], duration=1)
            assert status == 403 and "error" in json.loads(text), path


def test_clients_that_play_are_listed_and_kicked(server, clip):
    live, library = recording(server)
    record(live, library, clip, 4)
    (span,) = library.spans()
    with socket.create_connection(("127.0.0.1", live.ports["playback"])) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(f"GET /get?path=live/cam&start={span['start']}&duration=4 HTTP/1.1\r\nHost: a\r\n\r\n".encode() * 30)  # more than the buffers of the kernel take
        (client,) = wait_until(lambda: [one for one in live.api("/api/v1/clients/")["clients"] if one["type"] == "recording-play"], 10, "the client")
        ask_api(live, "DELETE", f"/api/v1/clients/{client['id']}")
        wait_until(lambda: not live.api("/api/v1/clients/")["clients"], 10, "it is gone")


def test_full_disk_loses_the_oldest_recordings(server, clip, tmp_path):
    """A file system of its own where that is allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], capture_output=True, check=False).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    try:
        dvr = f"dvr_format fmp4; dvr_plan segment; dvr_duration 2; dvr_path {disk}/[app]/[stream].[timestamp].mp4;"
        live, library = recording(server, dvr, PLAYBACK + "recordings { min_free 3; }\n")
        with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
            wait_until(lambda: live.api("/api/v1/recordings/disk")["data"]["deleted_files"] >= 6, 120, "old recordings are deleted")
            assert all(one["error"] is None for one in live.api("/api/v1/dvrs")["dvrs"])
            disk_now = live.api("/api/v1/recordings/disk")["data"]
            assert disk_now["growth_bytes_per_second"] > 0 and disk_now["free_bytes"] >= 1 << 20
            (span,) = library.spans()
            frames = numbers(library.get(tmp_path / "rest.mp4", later(span["start"], 1), span["duration"] - 2))
            assert follow_each_other(frames)
        live.stop()
        live.process = None
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def test_many_clients_play_at_once(server, clip):
    live, library = recording(server)
    record(live, library, clip, 5)
    (span,) = library.spans()
    bodies: list = []

    def play(form: str) -> None:
        bodies.append((form, library.ask("/get", path="live/cam", start=span["start"], duration=4, format=form)[2]))

    players = [threading.Thread(target=play, args=(form,)) for form in ("mp4", "fmp4") * 20]
    for one in players:
        one.start()
    for one in players:
        one.join(60)
    assert len(bodies) == 40 and len(set(bodies)) == 2


def test_equal_movies_share_a_header_until_the_recording_changes(server, clip):
    live, library = recording(server, root=PLAYBACK + "exporter { enabled on; listen 127.0.0.1:$exporter; }\n")
    record(live, library, clip, 5)
    (span,) = library.spans()
    query = {"path": "live/cam", "start": span["start"], "duration": 4, "format": "mp4"}
    # Fragments of the same span have their own.
    fragments = [library.ask("/get", **{**query, "format": "fmp4"})[2] for _ in range(2)]
    assert fragments[0] == fragments[1] and headers_of(live) == (1, 1)
    bodies: list = []
    players = [threading.Thread(target=lambda: bodies.append(library.ask("/get", **query)[2])) for _ in range(20)]
    for one in players:
        one.start()
    for one in players:
        one.join(60)
    assert len(bodies) == 20 and len(set(bodies)) == 1 and headers_of(live) == (2, 20)
    (whole,) = set(bodies)
    for first, last in ((0, 9), (100, 30_000), (len(whole) - 50, len(whole) - 1)):
        assert library.ask("/get", {"Range": f"bytes={first}-{last}"}, **query)[2] == whole[first:last + 1]
    assert headers_of(live) == (2, 23)
    assert library.ask("/get", **{**query, "duration": 3})[2] != whole and headers_of(live) == (3, 23)
    (path,) = (live.folder / "rec").rglob("*.mp4")
    path.write_bytes(path.read_bytes())
    assert library.ask("/get", **query)[2] == whole and headers_of(live) == (4, 23), "the file was written to"
    path.unlink()
    assert library.ask("/get", **query)[0] == 404


def headers_of(live) -> tuple[int, int]:
    """Of movies: computed from recordings, and shared."""
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    made, shared = (re.search(rf'millrace_recordings_movie_headers_total{{from="{which}"}} (\d+)', text) for which in ("recordings", "memory"))
    return int(made[1]), int(shared[1])


def test_a_growing_recording_has_a_new_header(server, clip, tmp_path):
    live, library = recording(server)
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=SPEED):
        wait_until(library.spans, 20, "the recording is listed")
        start, before = library.spans()[0]["start"], 0
        for _ in range(3):
            wait_until(lambda: library.seconds() > before + 2, 20, "two more seconds are listed")
            # More than there is: up to the end of what is written.
            frames = len(shown(library.get(tmp_path / "part.mp4", start, 600)))
            assert frames / 25 > before + 1.9
            before = frames / 25


def ask_api(live, method: str, path: str) -> bytes:
    request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}{path}", method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()
