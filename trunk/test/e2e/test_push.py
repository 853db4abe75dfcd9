"""Live HLS and DASH are pushed, to a bucket and by plain PUT: segments before the playlists that list them, and old ones are deleted."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from live_server import wait_until
from object_storage import BUCKET, KEYS, Gate, Storage
from players import FfmpegPublisher

HLS = "hls { enabled on; hls_path $folder/html; hls_fragment 1; hls_window 4; hls_dispose 2; push %s; }\n"
DASH = "dash { enabled on; dash_path $folder/html; dash_fragment 1; dash_window_size 4; dash_dispose 2; push %s; }\n"


class PutServer:
    """Keeps what is PUT, and notes playlists that list what is not there. `refuse` refuses so many requests first."""

    def __init__(self, refuse: int = 0):
        self.files: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.seen: set = set()
        self.early: list = []
        self.refused = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.refused < refuse:
                    outer.refused += 1
                    return self.answer(503)
                outer.put(self.path, body)
                outer.types[self.path] = self.headers["Content-Type"]
                return self.answer(201)

            def do_DELETE(self):  # pylint: disable=invalid-name
                self.answer(204 if outer.files.pop(self.path, None) is not None else 404)

            def do_GET(self):  # pylint: disable=invalid-name
                self.answer(200 if self.path in outer.files else 404, outer.files.get(self.path, b""))

            def answer(self, status: int, body: bytes = b"") -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def put(self, path: str, body: bytes) -> None:
        self.files[path] = body
        self.seen.add(path)
        if path.endswith(".m3u8"):
            folder = path.rsplit("/", 1)[0]
            self.early += [line for line in body.decode().split() if not line.startswith("#") and re.match(r"\S+\.(ts|m4s|m3u8)", line) and f"{folder}/{line}" not in self.files]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()


@pytest.mark.parametrize("refuse", [pytest.param(0, marks=pytest.mark.long), 4])
def test_hls_and_dash_are_pushed_by_plain_put(server, clip, refuse):
    with PutServer(refuse) as there:
        live = server(HLS % f"{there.url}/a/b" + DASH % f"{there.url}/d/")
        with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
            wait_until(lambda: there.files.get("/a/b/live/cam.m3u8", b"").count(b"#EXTINF") >= 2, 30, lambda: sorted(there.files))
            wait_until(lambda: "/a/b/live/cam-0.ts" not in there.files and "/a/b/live/cam-0.ts" in there.seen, 30, lambda: sorted(there.files))
            wait_until(lambda: b"</MPD>" in there.files.get("/d/live/cam.mpd", b""), 20, lambda: sorted(there.files))
            assert_same_files(there, live.folder / "html")
        assert there.refused == refuse and not there.early
        # With hls_dispose and dash_dispose.
        wait_until(lambda: not there.files, 30, lambda: sorted(there.files))
        assert there.types["/a/b/live/cam.m3u8"] == "application/vnd.apple.mpegurl" and there.types["/a/b/live/cam-1.ts"] == "video/MP2T"
        assert not [line for line in live.log().splitlines() if "push of" in line] or refuse


def assert_same_files(there: PutServer, folder) -> None:
    """A segment that is there is the one that is here."""
    compared = 0
    for path, body in list(there.files.items()):
        here = folder / path.removeprefix("/a/b/")
        if path.endswith(".ts") and here.exists():
            compared += here.read_bytes() == body
    assert compared >= 3


def test_hls_is_pushed_to_a_bucket(server, clip, tmp_path):
    with Storage(tmp_path / "storage") as storage, Gate(storage) as gate:
        root = f"upload {{ endpoint http://127.0.0.1:{gate.port}; bucket {BUCKET}; prefix live-[vhost]/; {KEYS} }}\n"
        live = server(HLS % "s3", root=root)
        playlist = "live-__defaultVhost__/live/cam.m3u8"
        with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
            wait_until(lambda: any(method == "DELETE" and "cam-1.ts" in target for method, target in gate.done), 30, lambda: live.log()[-1000:])
            assert playlist in storage.objects()
        assert not gate.wrong
        # Each playlist came after its segments.
        order = [target.rsplit("/", 1)[1] for method, target in gate.done if method == "PUT"]
        assert order.index("cam-0.ts") < order.index("cam.m3u8")
        wait_until(lambda: not storage.objects(), 30, lambda: storage.objects())


