"""Two edges that pull from the same origin, one of them later: HLS and DASH from all three are the same, byte for byte, playlists of the
same moment as well as fragments, parts, initialization sections and keys; with B-frames, gaps in the audio, another codec, a publisher
that comes back, one that takes the stream over, one that breaks off, and an origin that is killed and comes back."""

import contextlib
import difflib
import hashlib
import os
import random
import re
import time
import urllib.error

import pytest

from live_server import conf, wait_until
from rtmp_client import Publisher, Tag, read_flv
from same_segments import DASH, HLS, KEYS, Node, get, kick_relays, names_in_dash, one_after_another, place_of, with_audio_gaps

# Low latency in fMP4, and encrypted fragments of MPEG-TS: not together, so on two virtual hosts.
PARTS = HLS.format(more="hls_ll on; hls_part 200; hls_use_fmp4 on;") + DASH.format(more="dash_ll on; dash_part 200;")
CODED = HLS.format(more=KEYS) + DASH.format(more="")
CODED_QUERY = "?vhost=coded.test"
LISTS = (("cam.m3u8", ""), ("cam.mpd", ""), ("coded.m3u8", CODED_QUERY), ("coded.mpd", CODED_QUERY))


def parts_in(playlist: str) -> list[str]:
    return [name.split("?")[0] for name in re.findall(r'^#EXT-X-PART:DURATION=[0-9.]+,URI="([^"]+)"(?:,INDEPENDENT=YES)?$', playlist, re.M)]


def moment_of(playlist: str) -> bytes:
    """What two lists of the same moment have in common: everything that is named in them, in order, or numbered. Of an MPD the time of the newest media
    too: after a gap between publishers, the segments named ahead before it have the numbers of those that begin after it."""
    named = re.findall(r'URI="[^"]+"|^[^#<\s]+$|<BaseURL>[^<]*|(?:startNumber|initialization|availabilityTimeOffset|publishTime)="[^"]*"|<S ', playlist, re.M)
    return hashlib.sha256("\n".join(re.findall("#EXT-X-MEDIA-SEQUENCE:[0-9]+", playlist) + named).encode()).digest()


def number_of(name: str) -> int | None:
    """Of a fragment, or of the one that a part belongs to."""
    found = re.search(r"-([0-9]+)(?:\.[0-9]+)?\.(?:ts|m4s)$", name)
    return int(found[1]) if found else None


def differences(*texts: str) -> str:
    """Of the first one to each of the others."""
    first = texts[0].splitlines()
    return "\n".join(line for text in texts[1:] for line in difflib.unified_diff(first, text.splitlines(), n=2, lineterm=""))


def gaps_in(playlist: str) -> set[int]:
    """The numbers of fragments that it lists as gaps."""
    return {number_of(name) for name in re.findall(r"#EXT-X-GAP\n(?:#.*\n)*([^#?\s]+)", playlist)}


def began_at(mpd: str) -> str:
    return re.search('availabilityStartTime="([^"]+)"', mpd)[1]


def newest_in(mpd: str) -> int:
    """The number of the newest complete segment; 0: there is none."""
    return max(number_of(name) or 0 for name in names_in_dash(mpd))


def starts_in(mpd: str) -> list[int]:
    """Of each track's segments, in its order."""
    return [int(start) for start in re.findall('<S t="([0-9]+)"', mpd.split("</Representation>")[-2])]


class Watched(Node):
    """With parts, and with every list that it has given."""

    def __init__(self, live, playlist: str, query: str = ""):
        super().__init__(live, playlist)
        self.query, self.lists, self.missing = query, {}, set()

    def list_now(self) -> str:
        """Empty: there is none yet."""
        try:
            return get(self.base + self.playlist + self.query).decode()
        except urllib.error.HTTPError:
            return ""

    def look(self) -> None:
        text = self.list_now()
        if not text:
            return
        self.note_missing(text)
        self.playlists = [text]
        known = self.lists.setdefault(moment_of(text), text)
        assert differences(known, text) == "", f"two lists of one moment at {self.base}"
        self.load(self.names_in(text) + parts_in(text))

    def note_missing(self, text: str) -> None:
        """Fragments missing on this node: HLS has gaps, an MPD starts a new Period after them."""
        if text.startswith("#EXTM3U"):
            self.missing |= gaps_in(text)
        elif self.playlists and newest_in(self.playlists[-1]):
            first = int(re.search('startNumber="([0-9]+)"', text)[1])
            self.missing |= set(range(newest_in(self.playlists[-1]) + 1, first))

    def load(self, names) -> None:
        for name in names:
            if name not in self.files:
                self.files[name] = hashlib.sha256(get(self.base + name + self.query)).digest()

    def load_if_there(self, names) -> None:
        """What another node has listed: here it may have been listed between two looks only, at the end of a publisher."""
        first = min((number_of(name) for name in self.files if number_of(name) is not None), default=None)
        for name in names - set(self.files):
            if first is not None and (number_of(name) or 0) > first:
                with contextlib.suppress(urllib.error.HTTPError):
                    self.load([name])

    def forget(self) -> None:
        self.files, self.lists = {}, {}

    def segments(self) -> int:
        return sum(number_of(name) is not None and "." not in name.rsplit("-", 1)[1].rsplit(".", 1)[0] for name in self.files)


class Encoder:
    """Publishes the same to both virtual hosts."""

    def __init__(self, live, clip, tags: list[Tag]):
        self.publishers = [Publisher(live.ports["rtmp"], stream, clip("basic")) for stream in ("cam", "coded" + CODED_QUERY)]
        for one in self.publishers:
            one.tags = tags
            one.start()

    def stop(self) -> None:
        for one in self.publishers:
            one.stop()

    def break_off(self) -> None:
        for one in self.publishers:
            one.break_off()


class Siblings:
    """An origin and two edges; `late` is not asked for anything before it joins."""

    def __init__(self, server):
        self.origin = self.start(server, "publish { takeover on; }")
        self.lives = [self.origin] + [self.start(server, f"cluster {{ mode remote; origin {place_of(self.origin, 'rtmp')}; }}") for _ in range(2)]
        self.series = [[Watched(live, *which) for live in self.lives] for which in LISTS]
        self.count = 2

    @staticmethod
    def start(server, more: str):
        return server(conf=conf(f"{more} {PARTS}", f"vhost coded.test {{ {more} {CODED} }}"))

    def join(self) -> None:
        self.count = 3

    def nodes(self) -> list[Watched]:
        return [node for nodes in self.series for node in nodes[:self.count]]

    def look(self) -> None:
        """What an edge lists, the origin has, if only for those that have an older list, and what the origin has listed an edge has soon."""
        for origin, *edges in (nodes[:self.count] for nodes in self.series):
            for node in (origin, *edges):
                node.look()
            for edge in edges:
                origin.load(edge.files)
                edge.load_if_there(set(origin.files))

    def watch(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()
            time.sleep(0.2)

    def wait_more(self, count: int) -> None:
        """So many more fragments of everything on every node."""
        goal = {id(node): node.segments() + count for node in self.nodes()}
        behind = []

        def there() -> bool:
            self.look()
            behind[:] = [(node.base, node.playlist, node.segments(), goal[id(node)]) for node in self.nodes() if node.segments() < goal[id(node)]]
            return not behind
        wait_until(there, 60, lambda: f"fragments everywhere: {behind}", 0.2)

    def settle(self, series=None) -> None:
        """One list on all nodes at some moment."""
        for nodes in series or self.series:
            texts = []

            def are_one(nodes=nodes[:self.count], texts=texts) -> bool:
                texts[:] = [node.list_now() for node in nodes]
                is_one = len(set(texts)) == 1 and texts[0]
                for node in nodes if is_one else ():
                    node.lists[moment_of(texts[0])] = texts[0]
                return is_one
            wait_until(are_one, 30, lambda texts=texts: "one list for all:\n" + differences(*texts), 0.02)
        if series is None:
            self.look()

    def restart_origin(self) -> None:
        """As by a power cut, while parts of a fragment are listed everywhere, and all before it is on the disk."""
        def is_in_fragment() -> bool:
            for nodes, of in ((self.series[0], "cam"), (self.series[2], "coded")):
                lists = [node.list_now() for node in nodes]
                newest = [max(number_of(name) or 0 for name in nodes[0].names_in(text)) for text in lists]
                on_disk = (self.origin.folder / f"html/live/{of}.m3u8").read_text()
                has_parts = all(number_of(parts_in(text)[-1]) == newest[0] + 1 for text in lists) if of == "cam" else True
                if len(set(newest)) > 1 or f"-{newest[0]}." not in on_disk or not has_parts:
                    return False
            for nodes, of in ((self.series[1], "cam"), (self.series[3], "coded")):
                on_disk = (self.origin.folder / f"html/live/{of}.mpd").read_text()
                if {newest_in(text) for text in (on_disk, *(node.list_now() for node in nodes))} != {newest_in(on_disk)}:
                    return False
            return True
        wait_until(is_in_fragment, 20, "parts of one fragment everywhere", 0.02)
        self.look()
        self.origin.kill()
        self.origin.start()

    def expect_the_same(self, kicks: int = 0) -> None:
        """A connection that was lost may have cost an edge a fragment: when the next one had begun before it was back."""
        for origin, *edges in self.series:
            for edge in edges:
                what = f"{edge.playlist} at {edge.base}"
                common = set(edge.files) & set(origin.files)
                assert len(common) >= 4, (what, sorted(edge.files), sorted(origin.files))
                assert [name for name in sorted(common) if edge.files[name] != origin.files[name]] == [], what
                never = []

                def has_all(origin=origin, edge=edge, never=never) -> bool:
                    edge.load_if_there(set(origin.files))
                    first = min(number_of(name) for name in edge.files if number_of(name) is not None)
                    never[:] = [name for name in sorted(set(origin.files) - set(edge.files)) if (number_of(name) or 0) > first]
                    return all(number_of(name) in edge.missing - origin.missing for name in never)
                # The newest one comes with its mark.
                wait_until(has_all, 10, lambda what=what, edge=edge, never=never: f"all files of {what}: {never}, {edge.missing}", 0.1)
                assert len({number_of(name) for name in never}) <= kicks, (what, never)
            for one, other in ((origin, edges[0]), (origin, edges[1]), (edges[0], edges[1])):
                same = set(one.lists) & set(other.lists)
                assert len(same) >= 2, (one.playlist, len(same), len(one.lists), len(other.lists))
                for moment in same:
                    assert differences(one.lists[moment], other.lists[moment]) == "", f"{one.base} and {other.base}"

    def summary(self) -> str:
        return "\n".join(f"{nodes[0].playlist}: files on each node {[len(node.files) for node in nodes]}, lists {[len(node.lists) for node in nodes]}, "
                         f"missing on each node {[len(node.missing) for node in nodes]}, "
                         f"of the same moment {len(set.intersection(*(set(node.lists) for node in nodes)))}" for nodes in self.series)


def clips_of(clip) -> dict[str, list[Tag]]:
    return {"gaps": with_audio_gaps(read_flv(clip("bframes"))), "codec": one_after_another(read_flv(clip("basic")), read_flv(clip("hevc")), 4000),
            "bframes": read_flv(clip("bframes"))}


def test_siblings_are_the_same_whatever_the_publishers_do(server, clip):
    siblings, tags = Siblings(server), clips_of(clip)
    first = Encoder(siblings.origin, clip, tags["gaps"])
    siblings.wait_more(1)
    siblings.join()
    siblings.wait_more(1)
    second = Encoder(siblings.origin, clip, tags["codec"])  # takes over
    first.stop()
    siblings.wait_more(3)
    siblings.settle()
    second.break_off()
    third = Encoder(siblings.origin, clip, tags["bframes"])  # at once
    siblings.wait_more(1)
    third.stop()
    fourth = Encoder(siblings.origin, clip, tags["gaps"])
    siblings.wait_more(2)
    siblings.settle()
    fourth.stop()
    print(siblings.summary())
    siblings.expect_the_same()


def expect_to_go_on(before: str, after: str) -> None:
    """A player that has the one MPD finds the next segments in the other one where it expects them."""
    assert began_at(after) == began_at(before)
    assert newest_in(after) > newest_in(before)
    starts = starts_in(after)
    assert starts == sorted(starts) and starts[-1] > starts_in(before)[-1]
    assert re.findall('initialization="[^"]+"', after) == re.findall('initialization="[^"]+"', before)


def test_siblings_are_the_same_after_the_origin_was_killed(server, clip):
    """HLS and DASH continue. The fragment of which parts were out is a gap in HLS, whose length each node has counted by itself, and DASH lists what
    follows. Nodes that joined at different times have one window when what was before has left it."""
    siblings, tags = Siblings(server), clips_of(clip)
    siblings.join()
    encoder = Encoder(siblings.origin, clip, tags["bframes"])
    siblings.wait_more(2)
    siblings.restart_origin()
    encoder.break_off()
    before = [nodes[0].playlists[-1] for nodes in siblings.series]
    encoder = Encoder(siblings.origin, clip, tags["bframes"])
    for nodes, mpd in ((siblings.series[1], before[1]), (siblings.series[3], before[3])):
        wait_until(lambda nodes=nodes, mpd=mpd: all(newest_in(node.list_now() or mpd) > newest_in(mpd) for node in nodes), 30, "new segments", 0.1)
        siblings.settle([nodes])
        for node in nodes:
            expect_to_go_on(mpd, node.list_now())
            node.forget()
            node.playlists = []
    wait_until(lambda: siblings.look() or not any("#EXT-X-GAP" in node.playlists[-1] for node in siblings.series[0]), 30, "a window behind the gap", 0.2)
    for node in siblings.series[0]:
        node.lists = {}
    siblings.wait_more(2)
    siblings.settle()
    encoder.stop()
    siblings.expect_the_same()


@pytest.mark.long
def test_siblings_are_the_same_for_ten_minutes(server, clip):
    """LIVE_SAME_SECONDS is another length."""
    end = time.monotonic() + float(os.environ.get("LIVE_SAME_SECONDS", "600"))
    siblings, tags, rest, rounds = Siblings(server), clips_of(clip), random.Random(2), 0
    encoder = Encoder(siblings.origin, clip, tags["bframes"])
    siblings.wait_more(1)
    siblings.watch(rest.uniform(1, 5))
    siblings.join()
    siblings.wait_more(1)
    while time.monotonic() < end:
        for which in ("gaps", "codec", "bframes"):
            before, encoder = encoder, Encoder(siblings.origin, clip, tags[which])  # takes over
            before.stop()
            siblings.watch(rest.uniform(3, 15))
        siblings.settle()
        encoder.stop()
        siblings.watch(rest.uniform(0, 3))
        encoder = Encoder(siblings.origin, clip, tags["gaps"])
        siblings.watch(rest.uniform(3, 15))
        encoder.break_off()
        encoder = Encoder(siblings.origin, clip, tags["codec"])
        siblings.watch(rest.uniform(3, 15))
        siblings.wait_more(1)
        siblings.settle()
        assert kick_relays(siblings.origin) == 4
        siblings.watch(rest.uniform(6, 9))
        siblings.settle()
        rounds += 1
    encoder.stop()
    print(f"{rounds} rounds\n{siblings.summary()}")
    siblings.expect_the_same(kicks=rounds)
