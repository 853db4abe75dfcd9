"""HLS and DASH of a stream are the same, byte for byte, on the node that has the publisher and on every node that relays it."""

import contextlib
import http.server
import os
import random
import re
import signal
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from live_server import LiveServer, conf, wait_until
from players import FfmpegPublisher, wait_playable
from rtmp_client import Publisher, Tag, read_flv
from same_segments import DASH, HLS, KEYS, Node, get, kick_relays, names_in_dash, names_in_hls, one_after_another, place_of, with_audio_gaps
from track_streams import two_of_each

SECONDS = 5


WAYS = ("rtmp", "http")


def three_nodes(server, output: str, playlist: str = "cam.m3u8", way: str = "rtmp"):
    """In a row; each pulls from the one before over RTMP or HTTP-FLV."""
    output += " http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
    origin = server(output)
    near = server(f"cluster {{ mode remote; origin {place_of(origin, way)}; }} {output}")
    far = server(f"cluster {{ mode remote; origin {place_of(near, way)}; }} {output}")
    return [Node(one, playlist) for one in (origin, near, far)]


def is_published(live) -> bool:
    return any(one["publish"]["active"] for one in live.api("/api/v1/streams/")["streams"])


def expect_one_playlist(nodes) -> None:
    texts = []

    def is_one() -> bool:
        texts[:] = [get(node.base + node.playlist).decode() for node in nodes]
        return len(set(texts)) == 1
    wait_until(is_one, 20, lambda: "one playlist for all:\n" + "\n".join(dict.fromkeys(texts)), 0.02)


def look_at(nodes) -> bool:
    """Starts one after the other, and waits until each has a playlist."""
    return all(node.look() or node.playlists for node in nodes)


def watch(nodes, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        look_at(nodes)
        time.sleep(0.2)


def expect_the_same(nodes) -> None:
    origin = nodes[0]
    for node in nodes[1:]:
        common = set(node.files) & set(origin.files)
        assert len(common) >= 4, (sorted(node.files), sorted(origin.files))
        assert [name for name in common if node.files[name] != origin.files[name]] == []
        # Whatever this node has listed is the origin's, but for what the origin had listed before this test looked.
        assert set(node.files) <= set(origin.files)


SAME = {"hls-ts": (HLS.format(more=""), "cam.m3u8"),
        "hls-fmp4": (HLS.format(more="hls_use_fmp4 on;"), "cam.m3u8"),
        "hls-parts": (HLS.format(more="hls_ll on; hls_part 200;"), "cam.m3u8"),
        "hls-keys": (HLS.format(more=KEYS), "cam.m3u8"),
        "dash-segments": (DASH.format(more=""), "cam.mpd"),
        "dash-parts": (DASH.format(more="dash_ll on; dash_part 200;"), "cam.mpd")}


def same_forms():
    """By day the three forms with the most code of their own; the rest is cut by the same marks, and comes each night."""
    for name, (output, playlist) in SAME.items():
        for way in WAYS:
            by_day = name == "hls-parts" or (way == "rtmp" and name in ("hls-ts", "dash-parts"))
            yield pytest.param(output, playlist, way, id=f"{name}-{way}", marks=[] if by_day else [pytest.mark.long])


@pytest.mark.parametrize("output, playlist, way", same_forms())
def test_it_is_the_same_on_every_node(server, clip, output, playlist, way):
    nodes = three_nodes(server, output, playlist, way)
    with FfmpegPublisher(nodes[0].live.url("cam"), clip("bframes")):
        # From the first list of the origin's on.
        wait_until(lambda: look_at(nodes), 40, "a playlist everywhere", 0.2)
        watch(nodes, SECONDS + 4)
        expect_one_playlist(nodes)
    # Another publisher, whenever it is ready: its fragments follow after a discontinuity, everywhere.
    origin = nodes[0].live
    wait_until(lambda: nodes[0].look() or not is_published(origin), 20, "the first one has left")
    with FfmpegPublisher(origin.url("cam"), clip("basic")):
        wait_until(lambda: nodes[0].look() or is_published(origin), 30, "the other publisher")
        if playlist.endswith("m3u8"):
            wait_until(lambda: look_at(nodes) and all("#EXT-X-DISCONTINUITY\n" in node.playlists[-1] for node in nodes), 30,
                       "a fragment of the other publisher")
        watch(nodes, SECONDS)
        expect_one_playlist(nodes)
    expect_the_same(nodes)


def publish_tags(live, clip, tags: list[Tag]) -> Publisher:
    publisher = Publisher(live.ports["rtmp"], "cam", clip)
    publisher.tags = tags
    publisher.start()
    return publisher


@pytest.mark.parametrize("way", ["rtmp", pytest.param("http", marks=pytest.mark.long)])
def test_gaps_and_another_codec_change_nothing(server, clip, way):
    """In the sound, and within one publication; for HLS and DASH at once."""
    nodes = three_nodes(server, HLS.format(more="") + DASH.format(more=""), way=way)
    series = [nodes, [Node(node.live, "cam.mpd") for node in nodes]]
    everybody = [node for each in series for node in each]
    gaps, change = with_audio_gaps(read_flv(clip("bframes"))), one_after_another(read_flv(clip("basic")), read_flv(clip("hevc")), 4000)
    for tags, seconds in ((gaps, 10), (change, 7)):
        publisher = publish_tags(nodes[0].live, clip("basic"), tags)
        wait_until(lambda: look_at(everybody), 40, "a playlist everywhere", 0.2)
        watch(everybody, seconds)
        publisher.stop()
        assert publisher.error is None
        for each in series:
            expect_one_playlist(each)
    for each in series:
        expect_the_same(each)


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_all_tracks_of_a_publisher_are_the_same(server, clip, way):
    """Two of video and two of audio, each with a playlist."""
    nodes = three_nodes(server, HLS.format(more="") + DASH.format(more=""), way=way)
    series = [[Node(node.live, name) for node in nodes]
              for name in ("cam.video.m3u8", "cam.video-1.m3u8", "cam.audio.m3u8", "cam.audio-1.m3u8", "cam.mpd")]
    publisher = publish_tags(nodes[0].live, clip("basic"), two_of_each(clip("basic"), clip("second")))
    try:
        everybody = [node for each in series for node in each]
        wait_until(lambda: look_at(nodes) and look_at(everybody) and all(len(node.files) >= 3 for node in everybody), 60,
                   lambda: [(node.base, node.playlist, sorted(node.files)) for node in everybody], 0.2)
    finally:
        publisher.stop()
    for origin, *edges in series:
        origin.look()
        for edge in edges:
            assert len(common := edge.files.keys() & origin.files.keys()) >= 3, (sorted(edge.files), sorted(origin.files))
            assert [name for name in common if edge.files[name] != origin.files[name]] == []


@pytest.mark.long
def test_two_edges_are_the_same_for_ten_minutes(server, clip):
    """HLS and DASH of one stream whose publishers come and go, with B-frames, with gaps in the audio, with a change of the codec.
    LIVE_SAME_SECONDS is another length."""
    end = time.monotonic() + float(os.environ.get("LIVE_SAME_SECONDS", "600"))
    nodes = three_nodes(server, HLS.format(more="") + DASH.format(more=""))
    lives = [node.live for node in nodes]
    series = [nodes, [Node(live, "cam.mpd") for live in lives]]
    everybody = [node for each in series for node in each]
    rest = random.Random(1)
    gaps, change = with_audio_gaps(read_flv(clip("bframes"))), one_after_another(read_flv(clip("basic")), read_flv(clip("hevc")), 8000)
    rounds = 0

    def settle() -> None:
        for each in series:
            expect_one_playlist(each)

    with FfmpegPublisher(lives[0].url("cam"), clip("bframes")):
        wait_until(lambda: look_at(everybody), 40, "a playlist everywhere", 0.2)
        watch(everybody, 10)
        settle()
    while time.monotonic() < end:
        for tags, seconds in ((gaps, 19), (change, 15)):
            wait_until(lambda: not is_published(lives[0]), 20, "the one before has left")
            publisher = publish_tags(lives[0], clip("basic"), tags)
            watch(everybody, seconds)
            publisher.stop()
            assert publisher.error is None
            watch(everybody, rest.uniform(0.2, 3))
            settle()
        with FfmpegPublisher(lives[0].url("cam"), clip("bframes")):
            watch(everybody, 15)
            settle()
        watch(everybody, rest.uniform(0.2, 3))
        rounds += 1
    for each in series:
        print(f"{each[0].playlist}: {rounds} rounds, files on each node: {[len(node.files) for node in each]}, different: "
              f"{[sum(node.files[name] != each[0].files.get(name) for name in node.files) for node in each[1:]]}")
    for each in series:
        expect_the_same(each)


def wait_for_new_fragment(nodes, has_parts: bool) -> None:
    """In progress everywhere, and some of its parts listed: the next one is as far away as can be."""
    def newest() -> set[int]:
        return {int(re.search("-([0-9]+)", names_in_hls(node.playlists[-1])[-1])[1]) for node in nodes}
    before = max(newest())

    def is_there() -> bool:
        part = f"#EXT-X-PART:[^\n]*-{before + 2}\\.1\\."
        return look_at(nodes) and newest() == {before + 1} and all(not has_parts or re.search(part, node.playlists[-1]) for node in nodes)
    wait_until(is_there, 20, "a new fragment", 0.02)


@pytest.mark.parametrize("more, way", [pytest.param("hls_ll on; hls_part 200;", "http", id="parts-http"),
                                       pytest.param("", "rtmp", id="ts-rtmp", marks=pytest.mark.long),
                                       pytest.param("", "http", id="ts-http", marks=pytest.mark.long),
                                       pytest.param("hls_ll on; hls_part 200;", "rtmp", id="parts-rtmp", marks=pytest.mark.long)])
def test_a_lost_connection_between_nodes_changes_nothing(server, clip, more, way):
    """The next connection repeats the media: the fragment in progress continues, unless the next one has begun meanwhile."""
    nodes = three_nodes(server, HLS.format(more=more), way=way)
    with FfmpegPublisher(nodes[0].live.url("cam"), clip("bframes")):
        wait_until(lambda: look_at(nodes) and all(len(node.files) >= 3 for node in nodes), 40, "some fragments everywhere", 0.2)
        for tries in range(3):
            wait_for_new_fragment(nodes, has_parts=bool(more))
            for node in nodes:
                node.playlists = node.playlists[-1:]
            assert kick_relays(nodes[0].live) == 1
            watch(nodes, 6)
            expect_one_playlist(nodes)
            if not any("#EXT-X-GAP" in text for node in nodes for text in node.playlists):
                break
        else:
            pytest.fail(f"a gap after each of {tries + 1} connections")
    expect_the_same(nodes)
    assert not any("#EXT-X-DISCONTINUITY\n" in node.playlists[-1] for node in nodes[1:])


@pytest.mark.long
def test_an_edge_waits_for_the_publisher_of_an_origin_with_an_old_list(server, clip):
    """The origin was killed and continues its playlists; the edge is new, and has a player before the publisher."""
    output = HLS.format(more="") + DASH.format(more="")
    origin = server(output)
    series = [[Node(origin, name)] for name in ("cam.m3u8", "cam.mpd")]
    publisher = publish_tags(origin, clip("basic"), read_flv(clip("bframes")))
    lists = [origin.folder / "html/live" / nodes[0].playlist for nodes in series]
    wait_until(lambda: all(one.exists() and len(nodes[0].names_in(one.read_text())) > 2 for one, nodes in zip(lists, series)), 30, "lists on the disk", 0.1)
    origin.kill()
    publisher.stop()
    before = [numbers_in(one.read_text()) for one in lists]
    origin.start()
    edge = server(f"cluster {{ mode remote; origin {place_of(origin, 'rtmp')}; first_frame_timeout 30; }} {output}")
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(get, f"http://127.0.0.1:{edge.ports['http']}/live/cam.m3u8")
        edge.wait_log("edge-pull publish url")
        publisher = publish_tags(origin, clip("basic"), read_flv(clip("bframes")))
        assert asked.result().startswith(b"#EXTM3U")
    for nodes, old in zip(series, before):
        nodes.append(Node(edge, nodes[0].playlist))
        wait_until(lambda nodes=nodes, old=old: look_at(nodes) and all(min(numbers_in(node.playlists[-1]), default=0) > max(old) for node in nodes), 30,
                   "a window of the new publisher's", 0.1)
        wait_until(lambda nodes=nodes: look_at(nodes) and len(nodes[1].files) >= 5, 30, "some fragments", 0.2)
        expect_one_playlist(nodes)
        expect_the_same(nodes)
    publisher.stop()


def numbers_in(playlist: str) -> list[int]:
    """Of the fragments that it lists."""
    names = (names_in_hls if playlist.startswith("#EXTM3U") else names_in_dash)(playlist)
    return [int(number) for number in re.findall(r"-([0-9]+)\.(?:ts|m4s)", " ".join(names))]


def test_numbers_continue_after_a_change_of_the_origin(server, clip, tmp_path):
    """An HLS player of an edge continues, after a discontinuity, when another origin has the stream."""
    hls = HLS.format(more="")
    first = LiveServer(tmp_path / "first", conf(hls)).start()
    second = server(hls)
    edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{first.ports['rtmp']} 127.0.0.1:{second.ports['rtmp']}; }} {hls}")
    node = Node(edge, "cam.m3u8")
    publisher = FfmpegPublisher(first.url("cam"), clip("basic"))
    try:
        wait_playable(first.url("cam"), 20)
        wait_until(lambda: look_at([node]), 40, "a playlist", 0.2)
        watch([node], 6)
        before = node.playlists[-1]
        first.process.send_signal(signal.SIGKILL)
        publisher.kill()
        with FfmpegPublisher(second.url("cam"), clip("basic")):
            wait_until(lambda: node.look() or "#EXT-X-DISCONTINUITY\n" in node.playlists[-1], 40, "a fragment of the other origin", 0.1)
            watch([node], 3)
    finally:
        publisher.kill()
        first.kill()
    newest = max(int(number) for number in re.findall(r"cam-([0-9]+)\.ts", before))
    behind = re.findall(r"cam-([0-9]+)\.ts", node.playlists[-1].split("#EXT-X-DISCONTINUITY\n")[-1])
    assert newest < int(behind[0]) <= newest + 4, (before, node.playlists[-1])
    assert [int(number) for number in behind] == list(range(int(behind[0]), int(behind[0]) + len(behind)))


def test_behind_an_edge_nothing_of_another_origin_is_missing(server, clip, tmp_path):
    """An edge that changes its origin notifies its own edge, which then has that origin's first fragment, too."""
    hls = HLS.format(more="")
    first = LiveServer(tmp_path / "first", conf(hls)).start()
    second = server(hls)
    near = server(f"cluster {{ mode remote; origin 127.0.0.1:{first.ports['rtmp']} 127.0.0.1:{second.ports['rtmp']}; }} {hls}")
    far = server(f"cluster {{ mode remote; origin {place_of(near, 'rtmp')}; }} {hls}")
    nodes = [Node(live, "cam.m3u8") for live in (second, near, far)]
    try:
        with FfmpegPublisher(first.url("cam"), clip("basic")):
            wait_playable(first.url("cam"))
            watch(nodes[1:], 5)
            first.process.send_signal(signal.SIGKILL)
        with FfmpegPublisher(second.url("cam"), clip("basic")):
            wait_until(lambda: [look_at(nodes), len(nodes[0].files) >= 4][1], 30, "fragments of the other origin", 0.2)
            watch(nodes, 3)
    finally:
        first.kill()
    fragments = list(nodes[0].files.values())[:4]
    for node in nodes[1:]:
        assert [fragment in node.files.values() for fragment in fragments] == [True] * 4, (node.base, nodes[0].playlists[-1], node.playlists[-1])


# `waits`: playback stopped for want of media; `seeks`: it was moved, as over a hole; `numbers`: of the fragments that were shown.
PAGE = b"""<!DOCTYPE html><main></main><video id=video muted playsinline></video><script src="/players/js/hls.js"></script><script>
window.waits = 0; window.seeks = 0; window.errors = []; window.numbers = []; window.parts = 0;
window.hls = new Hls({liveSyncDurationCount: 3});
hls.on(Hls.Events.ERROR, (_, data) => errors.push(data.details + (data.response ? ' ' + data.response.code + ' ' + data.response.url : '')));  // bufferStalledError, fragLoadError, ...
hls.on(Hls.Events.FRAG_CHANGED, (_, data) => numbers.push(data.frag.sn));
hls.on(Hls.Events.FRAG_LOADED, (_, data) => parts += data.part ? 1 : 0);
hls.loadSource('/live/cam.m3u8'); hls.attachMedia(video);
video.addEventListener('playing', () => {
  video.addEventListener('waiting', () => ++waits);
  video.addEventListener('seeking', () => ++seeks);
}, {once: true});
video.play();
</script>"""


class AnyNode:
    """A load balancer that knows nothing: each request goes to another node."""

    def __init__(self, nodes, pages):
        chosen = random.Random(1)
        self.used = used = set()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/page.html":
                    status, kind, body = 200, "text/html", PAGE
                elif self.path.startswith("/players/"):
                    status, kind, body = 200, "text/javascript", (pages / self.path[1:]).read_bytes()
                else:
                    node = chosen.choice(nodes)
                    used.add(node.base)
                    try:
                        with urllib.request.urlopen(f"http://127.0.0.1:{node.live.ports['http']}{self.path}", timeout=20) as answer:
                            status, kind, body = answer.status, answer.headers.get("Content-Type", ""), answer.read()
                    except urllib.error.HTTPError as error:
                        status, kind, body = error.code, "text/plain", error.read()
                with contextlib.suppress(ConnectionError):  # a player may change its mind
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def first_number(node) -> str:
    """Of the oldest fragment, by the playlist in the master playlist; empty: there is none yet."""
    with contextlib.suppress(urllib.error.HTTPError):
        inner = re.search(r"^/live/(.+)$", get(node.base + "cam.m3u8").decode(), re.M)[1]
        return re.search("#EXT-X-MEDIA-SEQUENCE:([0-9]+)", get(node.base + inner).decode())[1]
    return ""


@pytest.mark.alone
@pytest.mark.parametrize("more, seconds", [pytest.param("hls_ll on; hls_part 200; hls_use_fmp4 on;", 10, id="parts"),
                                           pytest.param("hls_ll on; hls_part 200; hls_use_fmp4 on;", 60, id="parts-60", marks=pytest.mark.long),
                                           pytest.param("", 60, id="segments-60", marks=pytest.mark.long)])
def test_a_player_may_change_nodes_at_any_request(server, clip, chromium, html, seconds, more):
    nodes = three_nodes(server, f"hls {{ enabled on; hls_fragment 1; hls_window 6; hls_path $folder/html; {more} }}")
    any_node = AnyNode(nodes, html)
    try:
        with FfmpegPublisher(nodes[0].live.url("cam"), clip("bframes")):
            wait_playable(nodes[0].live.url("cam"))
            # Edges have joined later than the stream has begun.
            wait_until(lambda: len(firsts := {first_number(node) for node in nodes}) == 1 and any(firsts), 40, "one window for all", 0.1)
            page = chromium.page().goto(f"{any_node.url}/page.html")
            page.wait("video.currentTime > 0 && !video.paused", 20)
            began = page.value("[video.currentTime, performance.now()]")
            time.sleep(seconds)
            ended = page.value("[video.currentTime, performance.now()]")
            stalled_s = (ended[1] - began[1]) / 1000 - (ended[0] - began[0])
            errors, numbers = page.value("errors"), page.value("numbers")
            # hls.js may begin shortly before its first frame, and reports that it skips this gap. A later one would be in `buffered`.
            assert [one for one in errors if one not in ("bufferStalledError", "bufferSeekOverHole")] == []
            assert page.value("video.buffered.length") == 1, "no gap"
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) and len(numbers) >= seconds / 2 - 2, numbers
            assert page.value("parts") >= seconds if more else page.value("parts") == 0
            # The short form runs beside other tests, which may take the browser's time.
            if seconds == 60:
                assert (page.value("waits"), page.value("seeks"), errors) == (0, 0, []) and abs(stalled_s) < 0.5, (began, ended)
            assert stalled_s < 3, (began, ended)
            assert len(any_node.used) == 3
            page.close()
    finally:
        any_node.close()
