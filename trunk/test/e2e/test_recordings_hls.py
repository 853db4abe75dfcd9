"""Recordings over HLS: playlists of spans, across files and gaps, and live streams with their past, in ffmpeg and in a browser."""

import re
import subprocess
import time
import urllib.request

import pytest

from live_server import wait_until
from playback import SEGMENTS, follow_each_other, later, moment, numbers, record, recording, times
from players import FfmpegPublisher

# Frames at the end that may be shown after others that were not sent.
REORDERED_MAX = 3


def playlist(library, **query) -> str:
    status, headers, body = library.ask("/get", path="live/cam", format="hls", **query)
    assert status == 200 and headers["content-type"] == "application/vnd.apple.mpegurl", body
    return body.decode()


def lengths(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"#EXTINF:([\d.]+)", text)]


def dates(text: str) -> list:
    return [moment(one) for one in re.findall(r"#EXT-X-PROGRAM-DATE-TIME:(\S+)", text)]


def hls_url(library, span: dict, seconds: float) -> str:
    return f"{library.origin}/get?path=live/cam&format=hls&start={span['start']}&duration={seconds}"


def library_text(live, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=10) as answer:
        return answer.read().decode()


def fetch(url: str, into, *more: str) -> None:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-live_start_index", "0", "-i", url, *more, "-c", "copy", str(into)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize("name", ["basic", "bframes"])
def test_a_span_over_several_files_is_one_playlist(server, clip, tmp_path, name):
    live, library = recording(server, SEGMENTS)
    record(live, library, clip, 9, name=name, speed=1)
    (span,) = library.spans()
    text = playlist(library, start=span["start"], duration=span["duration"])
    assert sum(lengths(text)) == pytest.approx(span["duration"], abs=0.1)
    assert text.count("#EXT-X-MAP") == 1 and "DISCONTINUITY" not in text and text.endswith("#EXT-X-ENDLIST\n")
    assert max(lengths(text)) <= int(re.search(r"TARGETDURATION:(\d+)", text)[1])
    for before, at, length in zip(dates(text), dates(text)[1:], lengths(text)):
        assert (at - before).total_seconds() == pytest.approx(length, abs=0.02)
    whole = tmp_path / "whole.mkv"
    fetch(hls_url(library, span, span["duration"]), whole)
    # The publisher may have ended between a frame and those that are shown before it.
    frames = numbers(whole)[:-REORDERED_MAX]
    assert follow_each_other(frames) and len(frames) == pytest.approx(span["duration"] * 25 - REORDERED_MAX, abs=2)
    gaps = [b - a for a, b in zip(times(whole), times(whole)[1:])]
    assert max(gaps[:-REORDERED_MAX]) < 0.06, "the times go on from file to file"
    # The same frames as those of the movie.
    assert frames == numbers(library.get(tmp_path / "span.mp4", span["start"], span["duration"]))[:len(frames)]


def test_a_gap_and_another_codec_are_discontinuities(server, clip, tmp_path):
    live, library = recording(server)
    record(live, library, clip, 3, speed=1)
    time.sleep(1)
    record(live, library, clip, 3, speed=1)
    time.sleep(1)
    record(live, library, clip, 3, name="second", speed=1)
    spans = library.spans()
    assert len(spans) == 3
    seconds = (moment(spans[2]["start"]) - moment(spans[0]["start"])).total_seconds() + spans[2]["duration"]
    text = playlist(library, start=spans[0]["start"], duration=seconds)
    assert text.count("#EXT-X-DISCONTINUITY\n") == 2 and text.count("#EXT-X-MAP") == 2
    assert sum(lengths(text)) == pytest.approx(sum(span["duration"] for span in spans), abs=0.3)
    both = (moment(spans[1]["start"]) - moment(spans[0]["start"])).total_seconds() + spans[1]["duration"]
    fetch(hls_url(library, spans[0], both), tmp_path / "both.mkv")
    assert len(numbers(tmp_path / "both.mkv")) == pytest.approx((spans[0]["duration"] + spans[1]["duration"]) * 25, abs=4)
    # ffmpeg itself closes gaps of more than ten seconds.
    at = times(hls_url(library, spans[0], both))
    assert at[-1] - at[0] == pytest.approx(both, abs=0.2), "the time of the gap is kept"


def test_parts_of_files_are_served_as_named_only(server, clip):
    live, library = recording(server)
    record(live, library, clip, 5)
    (span,) = library.spans()
    text = playlist(library, start=later(span["start"], 3).isoformat(), duration=1)
    assert "#EXT-X-START:TIME-OFFSET=1.000,PRECISE=YES" in text, "the segment begins before the asked time"
    (offset, size), = re.findall(r"offset=(\d+)&bytes=(\d+)", text)
    query = {"path": "live/cam", "start": span["start"], "format": "segment", "at": 0}
    status, headers, body = library.ask("/get", **query, offset=offset, bytes=size)
    assert status == 200 and len(body) == int(size) == int(headers["content-length"]) and body[4:8] == b"moof"
    for wrong in ({"offset": int(offset) + 1, "bytes": size}, {"offset": offset, "bytes": int(size) - 1}, {"offset": 0, "bytes": size},
                  {"offset": offset, "bytes": 1 << 40}, {"offset": 1 << 50, "bytes": size}):
        assert library.ask("/get", **query, **wrong)[0] == 404, wrong
    assert library.ask("/get", path="live/cam", start=later(span["start"], 1).isoformat(), format="init")[0] == 404


def test_a_live_stream_is_played_from_its_past_without_a_gap(server, clip, tmp_path):
    live, library = recording(server, SEGMENTS)
    origin = f"http://127.0.0.1:{live.ports['http']}"
    with FfmpegPublisher(live.url("cam"), clip("bframes"), speed=1):
        wait_until(lambda: library.seconds() > 7, 30, "seven seconds are listed")
        fetch(f"{origin}/live/cam.m3u8?start=-6", tmp_path / "shifted.mkv", "-t", "12")
        (span,) = library.spans()
        first = library_text(live, "/live/cam.m3u8?start=" + span["start"])
        wait_until(lambda: len(lengths(library_text(live, "/live/cam.m3u8?start=" + span["start"]))) > len(lengths(first)) + 1, 20, "the playlist grows")
        second = library_text(live, "/live/cam.m3u8?start=" + span["start"])
        assert "ENDLIST" not in second and second.startswith(first), "nothing changes but the end"
    frames = numbers(tmp_path / "shifted.mkv")[:-REORDERED_MAX]
    # Twelve seconds: six of the past, and as much of what was to come.
    assert follow_each_other(frames) and len(frames) >= 290
    gaps = [b - a for a, b in zip(times(tmp_path / "shifted.mkv"), times(tmp_path / "shifted.mkv")[1:])]
    assert max(gaps[:-REORDERED_MAX]) < 0.06
    wait_until(lambda: "ENDLIST" in library_text(live, "/live/cam.m3u8?start=" + span["start"]), 30, "the end of the stream")
