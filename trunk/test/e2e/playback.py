"""A client of the playback port: lists and excerpts of recordings, and the frame numbers in them."""

import json
import subprocess
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import play_check
from live_server import wait_until
from players import FfmpegPublisher
from recordings import SPEED

FMP4 = "dvr_format fmp4; dvr_path $folder/rec/[app]/[stream].[timestamp].mp4;"
SEGMENTS = FMP4 + " dvr_plan segment; dvr_duration 2;"
PLAYBACK = "playback { enabled on; listen 127.0.0.1:$playback; }\n"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Playback:
    def __init__(self, live):
        self.live, self.origin = live, f"http://127.0.0.1:{live.ports['playback']}"

    def ask(self, where: str, headers: dict | None = None, method: str = "GET", **query) -> tuple[int, dict, bytes]:
        request = urllib.request.Request(f"{self.origin}{where}?{urlencode(query)}", headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, {name.lower(): value for name, value in refused.headers.items()}, refused.read()

    def read(self, address: str) -> bytes:
        """What a line of a playlist names."""
        with urllib.request.urlopen(self.origin + address, timeout=30) as answer:
            return answer.read()

    def spans(self, path: str = "live/cam", **query) -> list[dict]:
        """None: an empty list."""
        status, _, body = self.ask("/list", path=path, **query)
        assert status in (200, 404, 503), body
        return json.loads(body) if status == 200 else []

    def seconds(self, path: str = "live/cam") -> float:
        return sum(span["duration"] for span in self.spans(path))

    def get(self, into: Path, start: str | datetime, seconds: float, form: str = "mp4", path: str = "live/cam") -> Path:
        text = start if isinstance(start, str) else start.isoformat()
        status, headers, body = self.ask("/get", path=path, start=text, duration=seconds, format=form)
        assert status == 200, body[:300]
        assert headers["content-type"] == "video/mp4"
        into.write_bytes(body)
        return into


def later(start: str, seconds: float) -> datetime:
    return moment(start) + timedelta(seconds=seconds)


def numbers(path: Path) -> list[int]:
    """The frames that are shown, by the numbers in their pictures. ffmpeg decodes those before the asked time too; their times are below zero."""
    played = play_check.play(str(path), 3_600, want="av")
    assert not played.complaints, played.complaints
    return played.frames


def times(path: Path | str, kind: str = "v") -> list[float]:
    command = ["ffprobe", "-v", "error", "-select_streams", kind, "-show_entries", "packet=pts_time", "-of", "csv=p=0", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(float(line.strip(",")) for line in text.split())


def shown(path: Path) -> list[float]:
    """The times of the frames that a decoder shows, from the asked time on."""
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time", "-of", "csv=p=0", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [time for time in sorted(float(line.strip(",")) for line in text.split()) if time > -5e-6]


def follow_each_other(frames: list[int]) -> bool:
    return all(b == (a + 1) % play_check.CLIP_FRAMES for a, b in zip(frames, frames[1:]))


def recording(server, dvr: str = FMP4, root: str = PLAYBACK, vhost: str = ""):
    live = server(vhost=f"dvr {{ enabled on; {dvr} }}\n{vhost}", root=root)
    return live, Playback(live)


def record(live, library, clip, seconds: float, stream: str = "cam", name: str = "basic", speed: float = SPEED) -> None:
    """Publishes until so much more of it is listed, and until the file is complete. Two publishers in a row must not be faster than the clock."""
    before = library.seconds(f"live/{stream}")
    with FfmpegPublisher(live.url(stream), clip(name), speed=speed):
        wait_until(lambda: library.seconds(f"live/{stream}") >= before + seconds, 30, f"{seconds} s of {stream} are listed")
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 15, "the recording is closed")


def files_of(live, stream: str = "/live/cam") -> list[dict]:
    try:
        return live.api(f"/api/v1/recordings/files?stream={stream}&count=10000")["files"]
    except urllib.error.HTTPError as error:
        assert error.code == 404
        return []
