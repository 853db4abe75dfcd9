"""A server whose streams have a ladder, and its playlists."""

import json
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import hls_check
from dash_files import NS, mpd
from live_server import wait_until

RUNGS = "rendition 240p { vbitrate 200; } rendition 120p { vbitrate 80; }"
# No fragment ends without a key frame: the clip has some 2.2 s apart.
OUTPUTS = """hls { enabled on; hls_fragment 1; hls_aof_ratio 5; hls_window 20; hls_path $folder/html; }
dash { enabled on; dash_fragment 1; dash_window_size 12; dash_path $folder/html; }"""
SIZES = ["640x360", "426x240", "214x120"]


def ladder(more: str = "", rungs: str = RUNGS) -> str:
    return f"ladder {{ enabled on; vpreset ultrafast; vthreads 1; {rungs} {more} }}\n{OUTPUTS}\n"


def get(live, path: str) -> bytes | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=30) as answer:
            return answer.read()
    except urllib.error.HTTPError:
        return None


def variants(live, stream: str = "cam") -> list[tuple[dict, str]]:
    """The attributes and the URI of each, from the master playlist; none before there is one."""
    first = get(live, f"/live/{stream}.m3u8")
    if first is None:
        return []
    lines = first.decode().splitlines()
    if len(lines) == 3 and "hls_ctx" in lines[2]:  # the playlist of a session
        second = get(live, lines[2])
        if second is None:
            return []
        lines = second.decode().splitlines()
    found = []
    for tag, uri in zip(lines, lines[1:]):
        if tag.startswith("#EXT-X-STREAM-INF:"):
            found.append((hls_check.attributes(tag.split(":", 1)[1], [], tag), uri if uri.startswith("/") else f"/live/{uri}"))
    return found


def has_variants(live, count: int, limit_s: float = 30, stream: str = "cam") -> list[tuple[dict, str]]:
    return wait_until(lambda: len(found := variants(live, stream)) == count and found, limit_s,
                      lambda: f"{count} variants and not {variants(live, stream)}; {live.log()[-1500:]}")


def entry(live) -> dict:
    return live.api("/api/v1/transcodes")["transcodes"][0]


def segments_of(live, uri: str) -> dict[int, bytes]:
    """By their numbers, each with its header."""
    playlist = get(live, uri).decode()
    assert hls_check.check(playlist) == []
    parsed = hls_check.parse(playlist)
    folder = uri.rsplit("/", 1)[0]
    found, inits = {}, {}
    for number, segment in enumerate(parsed.segments, parsed.first):
        if segment.gap:
            continue
        init = segment.map
        inits[init] = inits.get(init) or get(live, f"{folder}/{init}")
        body = get(live, f"{folder}/{segment.uri}")
        if body is not None:
            found[number] = inits[init] + body
    return found


def heights(url: str, *options: str) -> list[str]:
    """Of the video tracks, and a word for each track of audio."""
    said = subprocess.run(["ffprobe", "-v", "error", *options, "-show_entries", "stream=codec_type,height", "-of", "csv=p=0", url], capture_output=True,
                          text=True, timeout=30, check=True).stdout
    return sorted(line.removeprefix("video,") for line in said.split())


def packets(media: bytes, file: Path) -> list[dict]:
    file.write_bytes(media)
    done = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=dts_time,pts_time,flags", "-of", "json", file], capture_output=True,
                          text=True, timeout=30, check=True)
    return json.loads(done.stdout)["packets"]


def representations(live, stream: str = "cam") -> set[str]:
    """The sizes of the video in the newest period of the MPD."""
    newest = mpd(live, f"/live/{stream}.mpd").findall("d:Period", NS)[-1]
    return {f"{one.get('width')}x{one.get('height')}" for one in newest.findall(".//d:Representation[@width]", NS)}
