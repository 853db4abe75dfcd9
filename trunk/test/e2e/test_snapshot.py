"""Snapshots: the newest key frame of a stream as a JPEG, by the API."""

import json
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from clips import find_new_ffmpeg
from live_server import wait_until
from players import FfmpegPublisher

pytestmark = pytest.mark.workers


def ask(live, name: str, limit_s: float = 30) -> tuple[int, str, bytes]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['api']}/api/v1/snapshot/{name}", timeout=limit_s) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read()


def seen(jpeg: bytes, folder) -> tuple[list, float, float]:
    """Size of the picture, and its darkest and brightest."""
    path = folder / "shot.jpg"
    path.write_bytes(jpeg)
    graph = f"movie={path},signalstats"
    command = ["ffprobe", "-v", "error", "-f", "lavfi", "-i", graph, "-show_entries",
               "frame=width,height:frame_tags=lavfi.signalstats.YMIN,lavfi.signalstats.YMAX", "-of", "json"]
    (frame,) = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["frames"]
    tags = frame["tags"]
    return [frame["width"], frame["height"]], float(tags["lavfi.signalstats.YMIN"]), float(tags["lavfi.signalstats.YMAX"])


@pytest.fixture(name="live")
def fixture_live(server):
    return server(root="vhost late.test { play { gop_cache off; } }\n")


def test_the_newest_key_frame_is_a_picture(live, clip, tmp_path):
    assert ask(live, "live/cam.jpg")[0] == 404
    assert ask(live, "cam.png")[0] == 404
    with FfmpegPublisher(live.url("cam"), clip("basic")), FfmpegPublisher(live.url("cam?vhost=late.test"), clip("bframes")), \
            FfmpegPublisher(live.url("audio"), clip("audio")):
        for name in ("live/cam.jpg", "live/cam.jpg?vhost=late.test"):
            wait_until(lambda one=name: ask(live, one)[0] == 200, 30, f"a snapshot, {name}")
        wait_until(lambda: b"no video" in ask(live, "live/audio.jpg")[2], 20, "the audio")
        together = []
        threads = [threading.Thread(target=lambda: together.append(ask(live, "live/cam.jpg"))) for _ in range(20)]
        threads += [threading.Thread(target=lambda: together.append(ask(live, "live/cam.jpg?vhost=late.test")))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {(status, kind) for status, kind, _ in together} == {(200, "image/jpeg")}
        assert len({body for _, _, body in together}) <= 4, "those who ask together get one picture"
        for body in {body for _, _, body in together}:
            size, darkest, brightest = seen(body, tmp_path)
            assert size == [640, 360] and brightest - darkest > 100
        status, _, body = ask(live, "live/audio.jpg")
        assert status == 404 and "no video" in json.loads(body)["message"]
    wait_until(lambda: ask(live, "live/cam.jpg")[0] == 404, 15, "nobody publishes any more")
    live.assert_alive()


def test_hevc_too(live, clip, tmp_path):
    with FfmpegPublisher(live.url("cam"), clip("hevc"), ffmpeg=find_new_ffmpeg()):
        wait_until(lambda: ask(live, "live/cam.jpg")[0] == 200, 30, "a snapshot")
        size, darkest, brightest = seen(ask(live, "live/cam.jpg")[2], tmp_path)
    assert size == [640, 360] and brightest - darkest > 100
