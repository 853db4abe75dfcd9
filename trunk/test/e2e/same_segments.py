"""Nodes whose segments are compared byte by byte."""

import hashlib
import re
import urllib.error
import urllib.request

from rtmp_client import AUDIO, Tag

HLS = "hls {{ enabled on; hls_fragment 1; hls_window 6; hls_ctx off; hls_ts_ctx off; hls_path $folder/html; {more} }}"
DASH = "dash {{ enabled on; dash_fragment 1; dash_window_size 6; dash_update_period 1; dash_path $folder/html; {more} }}"


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


def names_in_hls(playlist: str) -> list[str]:
    """Fragments, initialization sections and keys; no gaps, which have no file."""
    playlist = re.sub(r"#EXT-X-GAP\n(?:#.*\n)*[^#\n]+\n", "", playlist)
    return [(one[0] or one[1]).split("?")[0] for one in re.findall(r'^(?:#EXT-X-(?:MAP:|KEY:METHOD=AES-128,)URI="([^"]+)"|([^#\s]+))', playlist, re.M)]


def names_in_dash(mpd: str) -> list[str]:
    """Complete segments only: with low latency an MPD also lists the segment that is being made, and the next one."""
    folder, names = re.search("<BaseURL>([^<]*)</BaseURL>", mpd).group(1), []
    for track, rest in re.findall(r'<Representation id="([^"]*)"(.*?)</Representation>', mpd, re.S):
        suffix = re.search(r'initialization="\$RepresentationID\$-init([^"?]*)\.mp4(?:\?[^"]*)?"', rest).group(1)
        first, count = int(re.search('startNumber="([0-9]+)"', rest).group(1)), rest.count("<S ")
        count -= 2 * ("availabilityTimeOffset" in rest)
        names += [f"{folder}{track}-init{suffix}.mp4"] + [f"{folder}{track}-{number}.m4s" for number in range(first, first + count)]
    return names


class Node:
    """One server's playlist and everything that it has listed, as it was served."""

    def __init__(self, live, playlist: str):
        self.live, self.playlists = live, []
        self.files: dict[str, bytes] = {}  # by name: a hash, which an hour of them fits in
        self.base = f"http://127.0.0.1:{live.ports['http']}/live/"
        self.playlist, self.names_in = playlist, names_in_hls if playlist.endswith("m3u8") else names_in_dash

    def look(self) -> None:
        try:
            self.playlists.append(get(self.base + self.playlist).decode())
        except urllib.error.HTTPError:
            return
        for name in self.names_in(self.playlists[-1]):
            if name not in self.files:
                self.files[name] = hashlib.sha256(get(self.base + name)).digest()


def place_of(live, way: str) -> str:
    return f"{way}://127.0.0.1:{live.ports[way]}"


KEYS = "hls_keys on; hls_fragments_per_key 2; hls_key_secret only-the-nodes-know; hls_key_file_path $folder/html;"


def with_audio_gaps(tags: list[Tag]) -> list[Tag]:
    """Two seconds of every seven have none, and now and then a single frame is missing."""
    return [tag for number, tag in enumerate(tags)
            if tag.type != AUDIO or tag.is_setup() or (tag.timestamp % 7000 < 5000 and number % 41)]


def one_after_another(first: list[Tag], second: list[Tag], at_ms: int) -> list[Tag]:
    """In one publication: another codec from there on."""
    return [tag for tag in first if tag.timestamp < at_ms] + [Tag(tag.type, tag.timestamp + at_ms, tag.payload) for tag in second if tag.timestamp < at_ms]


def kick_relays(origin) -> int:
    relays = [client["id"] for client in origin.api("/api/v1/clients/")["clients"] if client["relay"]]
    for one in relays:
        request = urllib.request.Request(f"http://127.0.0.1:{origin.ports['api']}/api/v1/clients/{one}", method="DELETE")
        urllib.request.urlopen(request, timeout=5).read()
    return len(relays)
