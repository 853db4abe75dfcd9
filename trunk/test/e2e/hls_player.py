"""An HLS player that fetches playlists and fragments by hand and judges each update."""

import re
import urllib.error
import urllib.request

import hls_check
from live_server import wait_until

MASTER = re.compile(r"^#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+.*\n(/live/\w+\.m3u8\?hls_ctx=[0-9a-z]{8}(?:&vhost=[\w.]+)?)\n$")


def update_complaints(old: str, new: str) -> list[str]:
    """But for segments between two looks: a publisher that catches up may send more than a window at once."""
    return [one for one in hls_check.check_update(old, new) if "were never listed" not in one]


class Player:
    """What a player does, by hand."""

    def __init__(self, live, path: str = "/live/cam.m3u8"):
        self.base = f"http://127.0.0.1:{live.ports['http']}"
        self.path = path

    def get(self, path: str, limit_s: float = 8) -> tuple[int, str, bytes]:
        try:
            with urllib.request.urlopen(self.base + path, timeout=limit_s) as answer:
                return answer.status, answer.headers.get("Content-Type", ""), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Content-Type", ""), error.read()

    def join(self) -> "Player":
        status, kind, body = wait_until(lambda: (got := self.get(self.path))[0] == 200 and got, 20, f"a publisher of {self.path}")
        assert kind == "application/vnd.apple.mpegurl", (status, kind, body)
        match = MASTER.match(body.decode())
        assert match, body
        self.path = match[1]
        return self

    def wait(self) -> "Player":
        """Until there is a playlist."""
        wait_until(lambda: self.get(self.path)[0] == 200, 30, f"a playlist of {self.path}")
        return self

    def playlist(self, query: str = "") -> str:
        status, kind, body = self.get(self.path + query)
        assert (status, kind) == (200, "application/vnd.apple.mpegurl"), (status, kind, body)
        assert hls_check.check(body.decode()) == []
        return body.decode()

    def has(self, count: int) -> str:
        """A playlist with so many segments; each that comes on the way is an update of the one before."""
        seen = []

        def look():
            status, _, body = self.get(self.path)
            if status == 200:
                seen.append(body.decode())
                assert hls_check.check(seen[-1]) == []
                assert len(seen) < 2 or update_complaints(seen[-2], seen[-1]) == []
            return status == 200 and len(hls_check.parse(body.decode()).segments) >= count and body.decode()

        return wait_until(look, 30, f"{count} segments", 0.1)

    def fragments(self, playlist: str) -> list[bytes]:
        loaded = []
        for segment in hls_check.parse(playlist).segments:
            status, kind, body = self.get("/live/" + segment.uri)
            assert (status, kind) == (200, "video/MP2T"), (segment.uri, status, kind)
            assert len(body) % 188 == 0 and body[0] == 0x47
            loaded.append(body)
        return loaded
