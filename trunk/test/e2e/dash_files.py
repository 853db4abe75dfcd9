"""MPEG-DASH by hand: the manifest and the segments that it lists."""

import urllib.request
import xml.etree.ElementTree

from live_server import wait_until

NS = {"d": "urn:mpeg:dash:schema:mpd:2011"}


def segments(tree, track: str) -> list[tuple[int, int]]:
    """Start and length of the segments of a track, in milliseconds."""
    timeline = tree.find(f".//d:Representation[@id='{track}']/d:SegmentTemplate/d:SegmentTimeline", NS)
    return [(int(one.get("t")), int(one.get("d"))) for one in timeline]


def fetch(live, path: str, limit_s: float = 20) -> tuple[str, bytes]:
    with urllib.request.urlopen(f"http://{live.host}:{live.ports['http']}{path}", timeout=limit_s) as answer:
        return answer.headers["Content-Type"], answer.read()


def mpd(live, path: str):
    kind, body = fetch(live, path)
    assert kind == "application/dash+xml"
    return xml.etree.ElementTree.fromstring(body)


def has(live, path: str, count: int, track: str = "video"):
    """The MPD when it lists so many segments."""
    def look():
        try:
            tree = mpd(live, path)
        except OSError:
            return None
        return tree if len(segments(tree, track)) >= count else None
    return wait_until(look, 30, f"{count} segments in {path}", 0.05)
