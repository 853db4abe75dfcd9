"""HLS and DASH of a stream are the same, byte for byte, on the node that has the publisher and on every node that relays it."""

import re
import time
import urllib.error
import urllib.request

import pytest

from live_server import wait_until
from players import FfmpegPublisher, wait_playable

SECONDS = 5
HLS = "hls {{ enabled on; hls_fragment 1; hls_window 6; hls_ctx off; hls_ts_ctx off; hls_path $folder/html; {more} }}"


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


class Node:
    """One server's playlist and everything that it has listed, as it was served."""

    def __init__(self, live):
        self.live, self.files, self.playlists = live, {}, []
        self.base = f"http://127.0.0.1:{live.ports['http']}/live/"

    def look(self) -> None:
        try:
            playlist = get(self.base + "cam.m3u8").decode()
        except urllib.error.HTTPError:
            return
        self.playlists.append(playlist)
        for uri in re.findall(r'^(?:#EXT-X-MAP:URI="([^"]+)"|([^#\s]+))', playlist, re.M):
            name = (uri[0] or uri[1]).split("?")[0]
            if name not in self.files:
                self.files[name] = get(self.base + name)


def three_nodes(server, hls: str):
    origin = server(hls)
    near = server(f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }} {hls}")
    far = server(f"cluster {{ mode remote; origin 127.0.0.1:{near.ports['rtmp']}; }} {hls}")
    return [Node(one) for one in (origin, near, far)]


def watch(nodes, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for node in nodes:
            node.look()
        time.sleep(0.2)


def expect_the_same(nodes) -> None:
    origin = nodes[0]
    for node in nodes[1:]:
        common = set(node.files) & set(origin.files)
        assert len(common) >= 4, (sorted(node.files), sorted(origin.files))
        assert [name for name in common if node.files[name] != origin.files[name]] == []
        # Whatever this node has listed is the origin's, but for what the origin had listed before this test looked.
        assert set(node.files) <= set(origin.files)


@pytest.mark.parametrize("more", ["", "hls_use_fmp4 on;", "hls_ll on; hls_part 200;"], ids=["ts", "fmp4", "parts"])
def test_hls_is_the_same_on_every_node(server, clip, more):
    nodes = three_nodes(server, HLS.format(more=more))
    with FfmpegPublisher(nodes[0].live.url("cam"), clip("bframes")):
        wait_playable(nodes[0].live.url("cam"))
        watch(nodes, SECONDS + 4)
        wait_until(lambda: len({get(node.base + "cam.m3u8") for node in nodes}) == 1, 5, "one playlist for all", 0.02)
    # Another publisher: its fragments follow after a discontinuity, everywhere.
    with FfmpegPublisher(nodes[0].live.url("cam"), clip("basic")):
        watch(nodes, SECONDS)
        wait_until(lambda: len({get(node.base + "cam.m3u8") for node in nodes}) == 1, 5, "one playlist for all", 0.02)
    assert all("#EXT-X-DISCONTINUITY\n" in node.playlists[-1] for node in nodes)
    expect_the_same(nodes)
