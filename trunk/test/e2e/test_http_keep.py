"""Kept HTTP connections: which clients may keep one, for how long, and that another request can follow every kind of answer."""

import http.client
import json
import re
import subprocess
import time

import pytest

import hls_check
from http_streams import HttpStream
from live_server import conf, wait_until
from players import FfmpegPublisher

pytestmark = pytest.mark.workers

VHOST = """http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
hls { enabled on; hls_fragment 1; hls_window 12; hls_path $folder/html; }
dash { enabled on; dash_fragment 1; dash_path $folder/html; }
"""
ASKED = re.compile(r"HTTP #\d+ (127\.0\.0\.1:\d+) GET http://[^/]+(/[^,]*),")


class Kept:
    """One connection for many requests; a new one is a failure."""

    def __init__(self, port: int):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.connection.connect()
        self.socket = self.connection.sock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, path: str, status: int = 200, method: str = "GET", body: bytes | None = None, stays: bool = True, **headers) -> bytes:
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == status, (path, answer.status, text)
        assert answer.headers["Connection"] == ("keep-alive" if stays else "close"), (path, answer.headers.items())
        assert not stays or self.connection.sock is self.socket, f"{path}: another connection"
        return text

    def segments(self, playlist: str) -> list[str]:
        return ["/live/" + segment.uri for segment in hls_check.parse(self.ask(playlist).decode()).segments]


def session(kept: Kept) -> str:
    """The address of a player's session playlist, after the publisher has started."""
    def look():
        kept.connection.request("GET", "/live/cam.m3u8")
        answer = kept.connection.getresponse()
        text = answer.read().decode()
        return answer.status == 200 and text.strip().splitlines()[-1]
    return wait_until(look, 30, "a session")


def has_playlist(kept: Kept, path: str) -> bool:
    kept.connection.request("GET", path)
    answer = kept.connection.getresponse()
    return b"#EXTINF" in answer.read()


@pytest.mark.one_worker("what workers ask each other is a line, too")
def test_each_request_is_a_line_with_its_status(server, clip):
    live = server(VHOST)
    with Kept(live.ports["http"]) as kept:
        kept.ask("/nothing.html", 404)
        kept.ask("/nothing.html", 405, method="POST", body=b"x" * 7)
        kept.ask("/live/cam.m3u8", 404)
    with FfmpegPublisher(live.url("cam"), clip("basic")), HttpStream(live.ports["http"], "/live/cam.flv") as player:
        player.read(0.5)
        live.wait_log("/live/cam.flv, content-length=-1, status=200")  # when it begins
    live.api("/api/v1/versions")
    log = live.log()
    said = re.findall(r"HTTP #\d+ 127\.0\.0\.1:\d+ (\w+) http://127\.0\.0\.1:\d+(\S+), content-length=(-?\d+), status=(\d+)\n", log)
    assert len(said) == log.count("HTTP #"), log
    assert {("GET", "/nothing.html", "-1", "404"), ("POST", "/nothing.html", "7", "405"), ("GET", "/live/cam.m3u8", "-1", "404"),
            ("GET", "/live/cam.flv", "-1", "200"), ("GET", "/api/v1/versions", "-1", "200")} <= set(said), said


def test_every_kind_of_answer_can_be_followed_by_another(server, clip):
    live = server(VHOST)
    page = live.folder / "html" / "page.html"
    (page.parent / "folder").mkdir(parents=True)
    page.write_bytes(b"p" * 200_000)
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=2), Kept(live.ports["http"]) as kept:
        playlist = session(kept)
        wait_until(lambda: has_playlist(kept, playlist), 30, "a segment")
        for path in kept.segments(playlist):
            media = kept.ask(path)
            assert len(media) % 188 == 0 and media[0] == 0x47, path
            for _ in range(12):  # From some time on, out of a file in memory.
                assert kept.ask(path) == media, path
            assert kept.ask(path, 206, Range="bytes=188-375") == media[188:376], path
            assert kept.ask(path, method="HEAD") == b"", path
        manifest = wait_until(lambda: kept.ask("/live/cam.mpd") if (live.folder / "html/live/cam.mpd").exists() else None, 30, "an MPD")
        assert b"<MPD" in manifest
        for _ in range(3):
            assert kept.ask("/page.html") == b"p" * 200_000
            assert kept.ask("/page.html", 206, Range="bytes=-5") == b"ppppp"
            kept.ask("/page.html", 304, **{"If-None-Match": "*"})
            kept.ask("/page.html", 416, Range="bytes=200000-")
            kept.ask("/nothing.html", 404)
            kept.ask("/page.html", 405, method="POST", body=b"x" * 70_000)
            kept.ask("/folder", 302)
            assert json.loads(kept.ask("/api/v1/versions"))["code"] == 0
            kept.ask("/", method="OPTIONS")
        kept.ask("/page.html", stays=False, Connection="close")


def test_unknown_input_ends_the_connection(server):
    live = server()
    for path in ("/../x", "/" + "a" * 9000):
        with Kept(live.ports["api"]) as kept:
            kept.ask("/api/v1/versions")
            kept.ask(path, 414 if len(path) > 100 else 400, stays=False)
            assert kept.connection.sock is None


def test_curl_and_ffmpeg_keep_their_connections(server, clip):
    live = server(VHOST)
    api = f"http://127.0.0.1:{live.ports['api']}/api/v1/versions"
    done = subprocess.run(["curl", "-sv", api, api], capture_output=True, text=True, timeout=20, check=True)
    assert re.search("Re-?using existing .*connection", done.stderr) and done.stdout.count('"major"') == 2, done.stderr
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=2), Kept(live.ports["http"]) as kept:
        playlist = session(kept)
        wait_until(lambda: has_playlist(kept, playlist) and len(kept.segments(playlist)) >= 2, 30, "two segments")
        done = subprocess.run(["ffmpeg", "-nostdin", "-v", "warning", "-i", f"http://127.0.0.1:{live.ports['http']}{playlist}", "-t", "6", "-c", "copy", "-f", "null",
                               "-"], capture_output=True, text=True, timeout=40, check=True)
        assert "keepalive" not in done.stderr, done.stderr
        own = str(kept.socket.getsockname()[1])
    asked = [(peer, path) for peer, path in ASKED.findall(live.log()) if not peer.endswith(":" + own) and ".ts" in path]
    # The first ones are asked for over connections of their own.
    assert len(asked) >= 3 and len({peer for peer, _ in asked}) < len(asked), asked


def test_a_crowded_server_keeps_no_idle_connections(server):
    few = server(conf=conf().replace("max_connections     1000", "max_connections     4"))
    with Kept(few.ports["api"]) as first, Kept(few.ports["api"]) as second:
        first.ask("/api/v1/versions")
        second.ask("/api/v1/versions")
        for _ in range(3):
            with Kept(few.ports["api"]) as third:
                third.ask("/api/v1/versions", stays=False)
        first.ask("/api/v1/versions")


@pytest.mark.long
def test_a_silent_connection_is_closed(server):
    live = server()
    with Kept(live.ports["api"]) as kept:
        kept.ask("/api/v1/versions")
        begin = time.monotonic()
        kept.socket.settimeout(30)
        assert kept.socket.recv(1) == b"" and 14 < time.monotonic() - begin < 20
