"""The slate: players see a film while the publisher is away, and the live picture from its key frame on."""

import contextlib
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request
import zlib

import pytest

from aiortc_client import Client
from dash_files import NS, fetch, mpd
from ffmpeg_children import EXPORTER, metrics
from hls_player import Player as HlsPlayer
from ladder_stage import entry, has_variants, ladder, variants
from live_server import wait_until
from rtmp_client import VIDEO, Message, Player, Publisher
from srt_stage import has_srt

FILM_S = 3
OUTPUTS = """hls { enabled on; hls_fragment 1; hls_window 30; hls_aof_ratio 5; hls_path $folder/html; }
http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"""


@pytest.fixture(name="film", scope="session")
def fixture_film(tmp_path_factory):
    """A film that no stream has the size of."""
    path = tmp_path_factory.mktemp("slate") / "film.mp4"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s=480x360:r=25:d={FILM_S}", "-f", "lavfi", "-i",
                    f"sine=d={FILM_S}", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", str(path)], check=True)
    return path


class Watcher(threading.Thread):
    """The decoding times of the video of any URL, as ffprobe reads it."""

    def __init__(self, url: str, options: tuple = ()):
        super().__init__(daemon=True)
        self.url, self.times, self.began = url, [], 0.0
        command = ["stdbuf", "-oL", "ffprobe", "-v", "error", *options, "-select_streams", "v", "-show_entries", "packet=dts_time", "-of",
                   "csv=p=0", url]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.start()

    def run(self) -> None:
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                self.times.append(float(line.strip().split(",")[0]))
                self.began = self.began or time.monotonic()

    def span_s(self) -> float:
        return self.times[-1] - self.times[0] if self.times else 0.0

    def wait_span(self, seconds: float, limit_s: float) -> None:
        """Of media."""
        wait_until(lambda: self.span_s() >= seconds, limit_s, lambda: f"{seconds} s of {self.url}, it has {self.span_s():.1f}; {self.said()}")

    def said(self) -> str:
        return "it reads" if self.process.poll() is None else self.process.stderr.read()[-500:]

    def problems(self) -> list[str]:
        found = [] if self.process.poll() is None else [f"it has ended: {self.said()}"]
        steps = [b - a for a, b in zip(self.times, self.times[1:])]
        found += [f"time goes back by {-step:.3f} s" for step in steps if step < 0]
        found += [f"a gap of {step:.3f} s" for step in steps if step > 1]
        return found

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.join(5)


def seconds(duration: str) -> float:
    """Of "PT1H2M3.5S"."""
    hours, minutes, rest = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", duration).groups()
    return 3600 * float(hours or 0) + 60 * float(minutes or 0) + float(rest or 0)


class DashWatcher(threading.Thread):
    """The segments of the video in the periods of an MPD, each fetched once: ffmpeg's demuxer mixes up the times of two periods."""

    def __init__(self, live):
        super().__init__(daemon=True)
        self.live, self.url, self.segments, self.failures, self.began = live, "the MPD", [], [], 0.0
        self._stopping = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._stopping.wait(0.2):
            with contextlib.suppress(urllib.error.HTTPError):  # it does not exist yet
                self._look(mpd(self.live, "/live/cam.mpd"))
                self.began = self.began or time.monotonic()

    def _look(self, tree) -> None:
        for period in tree.findall("d:Period", NS):
            template = period.find(".//d:Representation[@id='video']/d:SegmentTemplate", NS)
            number, scale = int(template.get("startNumber")), int(template.get("timescale"))
            base = seconds(period.get("start")) - int(template.get("presentationTimeOffset", 0)) / scale
            for segment in template.find("d:SegmentTimeline", NS):
                begin = base + int(segment.get("t")) / scale
                known = {one[0] for one in self.segments}
                if number not in known:
                    self.segments.append((number, begin, begin + int(segment.get("d")) / scale))
                    address = template.get("media").replace("$RepresentationID$", "video").replace("$Number$", str(number))
                    try:
                        fetch(self.live, f"/live/{tree.findtext('d:Period/d:BaseURL', tree.findtext('d:BaseURL', '', NS), NS)}{address}")
                    except urllib.error.HTTPError as error:
                        self.failures.append(f"{address}: {error}")
                number += 1

    @property
    def times(self) -> list[float]:
        return [one[1] for one in self.segments[:1]] + [one[2] for one in self.segments]

    def span_s(self) -> float:
        return self.times[-1] - self.times[0] if self.segments else 0.0

    def wait_span(self, length_s: float, limit_s: float) -> None:
        wait_until(lambda: self.span_s() >= length_s, limit_s, lambda: f"{length_s} s of DASH, it has {self.segments}")

    def problems(self) -> list[str]:
        steps = [(two[1] - one[2], two[0]) for one, two in zip(self.segments, self.segments[1:])]
        return self.failures + [f"{step:.3f} s before segment {number}" for step, number in steps if step > 1 or step < -0.1]

    def stop(self) -> None:
        self._stopping.set()
        self.join(8)


def slate(film, more: str = "") -> str:
    return f"publish {{ slate {film}; {more} }}\n{OUTPUTS}"


def prepared(live, text: str = "is prepared") -> None:
    wait_until(lambda: text in live.log(), 60, lambda: f"a slate: {live.log()[-2000:]}")


def wait_segment(live) -> None:
    """ffprobe ends when a playlist lists nothing yet."""
    def lists_one() -> bool:
        player = HlsPlayer(live)
        status, _, master = player.get("/live/cam.m3u8")
        return status == 200 and b"#EXTINF" in player.get(master.decode().splitlines()[-1])[2]
    wait_until(lists_one, 40, lambda: f"a segment: {live.log()[-2000:]}", 0.2)


def is_shown(live) -> bool:
    return "millrace_slate_streams 1" in metrics(live)


def kill_and_return(live, clip, count: int, away_s: float, home_s: float, watchers, stream: str = "cam"):
    """A publisher that is killed so often, and away until the watchers have seen so much of the slate. Its last incarnation is returned."""
    publisher = Publisher(live.ports["rtmp"], stream, clip)
    publisher.start()
    for _ in range(count):
        time.sleep(home_s)
        publisher.break_off()
        wait_until(lambda: is_shown(live), 10, lambda: f"the slate: {live.log()[-2000:]}")
        for watcher, span in [(watcher, watcher.span_s()) for watcher in watchers]:
            watcher.wait_span(span + away_s, away_s + 20)
        publisher = Publisher(live.ports["rtmp"], stream, clip)
        publisher.start()
        wait_until(lambda: not is_shown(live), 10, "the live picture")
    return publisher


def watch_kills(live, clip, urls: dict, count: int, away_s: float = 1, home_s: float = 1.2) -> None:
    """Every player goes on while the publisher is killed so often, and is as far as the clock."""
    first = Publisher(live.ports["rtmp"], "cam", clip)
    first.start()
    prepared(live)
    wait_segment(live)
    watchers = {name: DashWatcher(live) if name == "dash" else Watcher(url, options) for name, (url, options) in urls.items()}
    publisher = None
    try:
        for watcher in watchers.values():
            watcher.wait_span(1, 40)
        first.break_off()
        wait_until(lambda: is_shown(live), 10, lambda: f"the slate: {live.log()[-2000:]}")
        publisher = kill_and_return(live, clip, count, away_s, home_s, list(watchers.values()))
        ends = {name: watcher.times[-1] for name, watcher in watchers.items()}
        for name, watcher in watchers.items():
            watcher.wait_span(ends[name] - watcher.times[0] + 4, 40)
            assert watcher.problems() == [], (name, watcher.problems(), live.log()[-3000:])
            # The stream is fed all the time: its time has gone on with the clock, except for what a publisher needs to begin.
            passed = time.monotonic() - watcher.began
            assert watcher.span_s() > passed - 6 - 0.5 * count, (name, watcher.span_s(), passed)
    finally:
        for watcher in watchers.values():
            watcher.stop()
        if publisher is not None:
            publisher.stop()


WEBRTC = " rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; }"
ALL = """rtc { enabled on; rtmp_to_rtc on; } rtsp { enabled on; } srt { enabled on; }
dash { enabled on; dash_fragment 1; dash_window_size 20; dash_path $folder/html; }"""
SERVERS = """rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; } srt_server { enabled on; listen 127.0.0.1:$srt; }
rtsp_server { enabled on; listen 127.0.0.1:$rtsp; } """


# In ten minutes 20 times, or as fast as a test should be.
@pytest.mark.skipif(not has_srt(), reason="this ffmpeg has no libsrt")
@pytest.mark.parametrize("count, away_s, home_s", [(3, 1.5, 1.2), pytest.param(20, 8, 22, marks=pytest.mark.long)], ids=["3 kills", "20 kills"])
def test_players_of_every_protocol_see_the_slate(server, aiortc, clip, film, count, away_s, home_s):
    live = server(slate(film).replace("hls { enabled on;", "hls { enabled on; hls_ll on; hls_part 200;") + ALL, EXPORTER + SERVERS)
    http = f"http://127.0.0.1:{live.ports['http']}/live/cam"
    urls = {"rtmp": (live.url("cam"), ()), "flv": (f"{http}.flv", ()), "ll-hls": (f"{http}.m3u8", ("-live_start_index", "0")), "dash": ("", ()),
            "srt": (f"srt://127.0.0.1:{live.ports['srt']}?streamid=live/cam&latency=2000000", ()),
            "rtsp": (f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/cam", ("-rtsp_transport", "tcp"))}
    length_s = count * (away_s + home_s)  # at least
    whep = Client(aiortc, "whep", f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=cam", "H264", length_s)
    try:
        watch_kills(live, clip("basic"), urls, count, away_s, home_s)
        got = whep.result()
    finally:
        whep.kill()
    assert got["video"]["frames"] > 12 * length_s and got["video"]["gap"] < 1, got
    assert got["audio"]["frames"] > 25 * length_s, got
    assert "millrace_slate_prepared 1\n" in metrics(live)


def test_a_webrtc_publisher_returns_with_its_key_frame(server, aiortc, film):
    live = server(slate(film) + WEBRTC, EXPORTER + SERVERS)
    address = f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whip/?app=live&stream=cam"
    whip = Client(aiortc, "whip", address, "H264")
    watcher = None
    try:
        prepared(live)
        watcher = Watcher(live.url("cam"))
        watcher.wait_span(1, 40)
        whip.result()
        wait_until(lambda: is_shown(live), 20, "the slate")
        whip = Client(aiortc, "whip", address, "H264")
        wait_until(lambda: not is_shown(live), 20, "the live picture")
        watcher.wait_span(watcher.span_s() + 2, 30)
        assert watcher.problems() == [], live.log()[-3000:]
        # Its time has gone on with the clock from the offer to the key frame, too.
        passed = time.monotonic() - watcher.began
        assert watcher.span_s() > passed - 3, (watcher.span_s(), passed)
    finally:
        whip.kill()
        if watcher is not None:
            watcher.stop()


def pids(live, text: str) -> set[str]:
    """The workers that have logged it."""
    return {line.split("][")[2] for line in live.log().splitlines() if text in line}


@pytest.mark.long
def test_the_publisher_may_return_at_another_worker(server, clip, film):
    """The kernel chooses: of four publishers, one is as likely as not with another worker than the slate."""
    live = server(slate(film), EXPORTER, environment={"SRS_WORKERS": "3"})
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    prepared(live)
    watcher = Watcher(live.url("cam"))
    try:
        watcher.wait_span(1, 40)
        for count in range(1, 5):
            publisher.break_off()
            wait_until(lambda: f"millrace_slate_shows_total {count}\n" in metrics(live), 10, lambda: f"the slate: {live.log()[-2000:]}")
            publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
            assert publisher.status["code"] == "NetStream.Publish.Start", publisher.status
            publisher.start()
            seen = len(watcher.times)
            wait_until(lambda: publisher.error is None and len(watcher.times) > seen + 50, 30, lambda: f"{publisher.error}; {live.log()[-3000:]}")
            wait_until(lambda: pids(live, "start publish mr") <= pids(live, "is prepared"), 60, "the slate of this worker")
        assert [one for one in watcher.problems() if "back" in one or "ended" in one] == [], live.log()[-3000:]
    finally:
        watcher.stop()
        publisher.break_off()


@pytest.mark.long
def test_the_renditions_of_a_ladder_show_the_slate(server, clip, film):
    live = server(ladder(f"}} publish {{ slate {film};"), EXPORTER)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("ladder"))
    publisher.start()
    prepared(live)
    has_variants(live, 3)

    def uris() -> set[str]:
        return {uri.split("?")[0] for _, uri in variants(live)}
    before = uris()
    watcher = Watcher(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8", ("-live_start_index", "0"))
    try:
        watcher.wait_span(1, 40)
        publisher.break_off()
        wait_until(lambda: is_shown(live), 10, "the slate")
        # A format of its own: another ffmpeg encodes the renditions. The publisher that returns has a new ladder.
        wait_until(lambda: entry(live)["starts"] == 2 and uris() == before, 60, lambda: f"renditions of the slate and not {uris()}; {entry(live)}")
        assert is_shown(live)
        publisher = Publisher(live.ports["rtmp"], "cam", clip("ladder"))
        publisher.start()
        wait_until(lambda: not is_shown(live), 10, "the live picture")
        wait_until(lambda: entry(live)["starts"] == 1 and uris() == before, 60, lambda: f"live renditions and not {uris()}; {entry(live)}")
        watcher.wait_span(watcher.span_s() + 2, 40)
        assert watcher.problems() == [], live.log()[-3000:]
    finally:
        watcher.stop()
        publisher.stop()


@pytest.mark.long
def test_players_of_an_edge_see_the_slate(server, clip, film):
    """The edge continues to pull: the stream does not end at its origin."""
    origin = server(slate(film), EXPORTER)
    edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }} {OUTPUTS}")
    publisher = Publisher(origin.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    prepared(origin)
    watchers = {"rtmp": Watcher(edge.url("cam")), "flv": Watcher(f"http://127.0.0.1:{edge.ports['http']}/live/cam.flv")}
    try:
        watchers["rtmp"].wait_span(1, 40)
        wait_segment(edge)
        watchers["hls"] = Watcher(f"http://127.0.0.1:{edge.ports['http']}/live/cam.m3u8", ("-live_start_index", "0"))
        for watcher in watchers.values():
            watcher.wait_span(1, 40)
        publisher.break_off()
        publisher = kill_and_return(origin, clip("basic"), 1, 2, 1.2, list(watchers.values()))
        for name, watcher in watchers.items():
            watcher.wait_span(watcher.span_s() + 2, 40)
            assert watcher.problems() == [], (name, watcher.problems(), edge.log()[-3000:])
    finally:
        for watcher in watchers.values():
            watcher.stop()
        publisher.stop()


def test_the_live_picture_returns_with_its_key_frame(server, clip, film):
    """A publisher whose key frame is late does not blacken the stream: players have the slate until then."""
    live = server(slate(film), EXPORTER)
    player = Player(live.ports["rtmp"], "cam")
    player.start()
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    prepared(live)
    publisher.break_off()
    wait_until(lambda: is_shown(live), 10, "the slate")
    late = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    keys = [i for i, tag in enumerate(late.tags) if Message(tag.type, 0, 0, tag.payload).is_key_frame()]
    setup = [tag for tag in late.tags if tag.is_setup()]
    late.tags = setup + late.tags[keys[1] - 60:keys[1] + 150]  # a second and more of audio and video before the key frame
    base = late.tags[len(setup)].timestamp
    for tag in late.tags[len(setup):]:
        tag.timestamp -= base
    before = len(player.messages)  # some of the slate is on its way
    late.start()
    wait_until(lambda: not is_shown(live), 20, "the live picture")
    wait_until(lambda: (VIDEO, zlib.crc32(late.tags[-1].payload)) in {m.mark() for m in player.messages[before:]} or
               len(player.messages) > before + 150, 20, "the end of the clip")
    late.break_off()
    images = [message for message in player.stop()[before:] if message.type == VIDEO]
    live_at = max(i for i, message in enumerate(images) if message.is_sequence_header())  # behind the slate's own
    assert images[live_at + 1].is_key_frame()
    assert live_at >= 10, "the slate went on until the key frame"
    stamps = [message.timestamp for message in images]
    assert stamps == sorted(stamps)
    assert max(b - a for a, b in zip(stamps, stamps[1:])) <= 1000, stamps


class Reader(threading.Thread):
    """Plays FLV over HTTP until the server ends the response."""

    def __init__(self, live):
        super().__init__(daemon=True)
        self.url, self.count = f"http://127.0.0.1:{live.ports['http']}/live/cam.flv", 0
        self.start()

    def run(self) -> None:
        with urllib.request.urlopen(self.url, timeout=60) as answer:
            while part := answer.read1(65536):
                self.count += len(part)

    def wait_end(self) -> None:
        wait_until(lambda: not self.is_alive(), 30, "the end of the stream")


def test_a_stream_ends_when_slate_time_is_over(server, clip, film):
    live = server(slate(film, "slate_time 1;"), EXPORTER)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    prepared(live)
    player = Reader(live)
    wait_until(lambda: player.count > 1000, 20, "media")
    publisher.break_off()
    player.wait_end()
    live.wait_log("slate_time is over")


@pytest.mark.parametrize("path, said", [("/nowhere/film.mp4", "cannot be read"), ("$folder/srs.conf", "cannot be prepared")],
                         ids=["missing", "no film"])
def test_without_a_film_everything_else_works(server, clip, path, said):
    live = server(slate(path), EXPORTER)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    wait_until(lambda: "millrace_slate_failures_total 1\n" in metrics(live), 60, "ffmpeg's answer")
    live.wait_log(said)
    player = Reader(live)
    wait_until(lambda: player.count > 1000, 20, "media")
    publisher.break_off()
    player.wait_end()


def test_a_stream_that_nobody_publishes_plays_the_slate(server, clip, film):
    live = server(slate(film, "always on;"), EXPORTER)
    watchers = {"rtmp": Watcher(live.url("cam"))}
    publisher = None
    try:
        wait_segment(live)
        watchers["hls"] = Watcher(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8", ("-live_start_index", "0"))
        for watcher in watchers.values():
            watcher.wait_span(2, 40)
        publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
        publisher.start()
        wait_until(lambda: not is_shown(live), 10, "the live picture")
        for name, watcher in watchers.items():
            watcher.wait_span(watcher.span_s() + 4, 40)
            assert watcher.problems() == [], (name, live.log()[-3000:])
    finally:
        for watcher in watchers.values():
            watcher.stop()
        if publisher is not None:
            publisher.break_off()
    assert "nobody plays it" not in live.log()
