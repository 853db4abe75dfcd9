"""MPEG-DASH: the MPD and its files, players, low latency, a publisher that comes back, and the end."""

import datetime
import json
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

import players
from changed_size import filled, small_clip
from dash_files import NS, fetch, has, mpd, segments
from hook_server import HookServer
from live_server import Stopwatch, wait_until
from players import FfmpegPublisher
from rtmp_client import Publisher, read_flv

pytestmark = pytest.mark.workers

DASH = "dash {{ enabled on; dash_fragment 2; dash_window_size 4; dash_path $folder/html; {} }}\n"


def template(tree, track: str = "video") -> dict:
    return tree.find(f".//d:Representation[@id='{track}']/d:SegmentTemplate", NS).attrib


def status_of(live, path: str) -> int:
    try:
        fetch(live, path)
        return 200
    except urllib.error.HTTPError as error:
        return error.code


def play_all(played: dict[str, tuple]) -> dict[str, list[str]]:
    """Side by side; what was wrong with each, those that are not installed aside."""
    problems, threads = {}, []
    for name, (player, url, *want) in played.items():
        if players.available(player):
            continue
        def run(name=name, player=player, url=url, want=(want or ["av"])[0]):
            problems[name] = players.PLAYERS[player](url, 3, want)
        threads.append(threading.Thread(target=run))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert len(problems) == len(threads)
    return problems


def chunk_times(live, path: str) -> list[float]:
    """When the bytes of a segment came that is being made; of one that is complete nothing."""
    times = []
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=8) as answer:
        while answer.headers["Transfer-Encoding"] == "chunked" and answer.read1(1 << 20):
            times.append(time.monotonic())
    return times


def times_of_a_new_segment(live, path: str, segment: str) -> list[float]:
    """In seconds from the first, of one that had just begun, while neither this process nor the server waited long for a CPU: else the bytes come
    late, and in larger pieces. Where that is so with ten segments, of the last one."""
    for _ in range(10):
        tree = mpd(live, path)
        count = int(template(tree)["startNumber"]) + len(segments(tree, "video"))
        watch, deadline = Stopwatch(live), time.monotonic() + 20
        while (number := int(template(tree)["startNumber"]) + len(segments(tree, "video"))) == count:
            looked = time.monotonic()
            assert looked < deadline, "no new segment"
            time.sleep(0.02)
            tree = mpd(live, path)
        times = chunk_times(live, segment.format(number - 2))  # the last one is named before it begins
        if times and times[0] - looked < 0.4 and watch.waited() < 0.4:
            break
    return [at - times[0] for at in times]


@pytest.mark.one_worker("a worker that is a moment behind passes on the segment in progress when it is whole")
def test_streams_play_and_are_disposed_of(server, clip):
    low_vhost = "vhost low.test {\n" + DASH.format("dash_ll on; dash_mpd_file low/[stream].mpd;") + "}\n"
    live = server(vhost=DASH.format("dash_dispose 1;"), root=low_vhost)
    base = f"http://127.0.0.1:{live.ports['http']}"
    with FfmpegPublisher(live.url("cam"), clip("basic")), FfmpegPublisher(live.url("cam?vhost=low.test"), clip("bframes")):
        low = "/low/cam.mpd?vhost=low.test"
        tree = has(live, low, 2)
        assert template(tree)["availabilityTimeComplete"] == "false"
        early = float(template(tree)["availabilityTimeOffset"])
        assert 1.6 < early < 2
        assert template(tree)["media"].endswith(".m4s?vhost=low.test"), "players drop the query of the MPD"
        times = times_of_a_new_segment(live, low, "/low/cam/video-{}.m4s?vhost=low.test")
        assert len(times) >= 6 and 1.2 < times[-1] < 2.4, times
        tree = has(live, "/live/cam.mpd", 2)
        timing = tree.find("d:UTCTiming", NS).attrib
        assert timing["schemeIdUri"] == "urn:mpeg:dash:utc:http-iso:2014"
        told = fetch(live, "/live/cam/" + timing["value"])[1].decode()
        assert abs(datetime.datetime.fromisoformat(told.replace("Z", "+00:00")).timestamp() - time.time()) < 5
        assert tree.get("type") == "dynamic" and tree.get("minimumUpdatePeriod") == "PT5.000S"
        codecs = {one.get("id"): one.get("codecs") for one in tree.iter(f"{{{NS['d']}}}Representation")}
        assert re.fullmatch(r"avc1\.[0-9a-f]{6}", codecs["video"]) and codecs["audio"] == "mp4a.40.2"
        for track in ("video", "audio"):
            listed = segments(tree, track)
            assert all(sum(a) == b[0] for a, b in zip(listed, listed[1:])), listed
            assert all(1900 < length < 2100 for _, length in listed), listed
        first = int(template(tree)["startNumber"])
        assert fetch(live, f"/live/cam/audio-{first}.m4s")[0] == "video/iso.segment"
        problems = play_all({"ffmpeg": ("ffmpeg", base + "/live/cam.mpd"), "ffmpeg, low latency": ("ffmpeg", base + low),
                             "GStreamer": ("gstreamer", base + "/live/cam.mpd")})
        assert not any(problems.values()), problems
        folder = live.folder / "html/live"
        wait_until(lambda: (folder / "cam.mpd").exists() and list(folder.glob("cam/video-*.m4s")), 15, "files on the disk")
    wait_until(lambda: not [path for path in folder.rglob("*") if path.is_file()], 15, "all files are deleted behind dash_dispose")
    low_folder = live.folder / "html/low/cam"
    assert list(low_folder.glob("video-*.m4s"))
    live.stop()
    assert not list(low_folder.iterdir()), "a server that stops disposes of what it would have"
    live.process = None


@pytest.mark.one_worker("a worker that is a moment behind passes on the MPD when it has been asked for it")
def test_low_latency_names_the_next_segment_ahead(server, clip):
    """At any moment of a segment, also when it is complete and the next one has not begun: a player looks once a segment."""
    live = server(vhost=DASH.format("dash_ll on;"))
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        tree = has(live, "/live/cam.mpd", 3)
        began = datetime.datetime.fromisoformat(tree.get("availabilityStartTime").replace("Z", "+00:00")).timestamp()
        first, watch, deadline = template(tree)["startNumber"], Stopwatch(live), time.monotonic() + 30
        while int(template(tree)["startNumber"]) < int(first) + 3:
            assert time.monotonic() < deadline, "the window moves"
            tree = mpd(live, "/live/cam.mpd")
            assert template(tree).get("availabilityTimeComplete") == "false", "each MPD is one of low latency"
            assert tree.get("minimumUpdatePeriod") in ("PT2.000S", "PT1.999S", "PT2.001S")
            ahead = began + segments(tree, "video")[-1][0] / 1000 - time.time()
            assert ahead > -1 - watch.waited(), "what is named last begins later"
            time.sleep(0.02)


def wait_for_ahead(live, answers: dict, stopping: threading.Event) -> None:
    """Requests each segment that the newest period names ahead, once, as early as it is named; keeps the answers by period and number."""
    def ask(period: str, number: int):
        try:
            answers[period, number] = fetch(live, f"/live/cam/video-{number}.m4s", limit_s=15)[1]
        except (urllib.error.HTTPError, OSError):
            answers[period, number] = b""
    threads = []
    while not stopping.wait(0.02):
        period = mpd(live, "/live/cam.mpd").findall("d:Period", NS)[-1]
        described = period.find(".//d:Representation[@id='video']/d:SegmentTemplate", NS)
        number = int(described.get("startNumber")) + len(list(described.iter(f"{{{NS['d']}}}S"))) - 1
        if (period.get("id"), number) not in answers:
            answers[period.get("id"), number] = None
            threads.append(threading.Thread(target=ask, args=(period.get("id"), number)))
            threads[-1].start()
    for thread in threads:
        thread.join()


@pytest.mark.one_worker("the worker that has the publisher has what is promised")
def test_a_waiting_player_gets_no_segment_of_the_next_period(server, clip, tmp_path):
    """One publisher changes the size in mid-stream: the segment that the old period named next belongs to the new one."""
    live, basic = server(vhost=DASH.format("dash_ll on;")), read_flv(clip("basic"))
    small = read_flv(small_clip(tmp_path))
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    length = 8000
    publisher.tags = [tag for tag in basic if tag.timestamp < length]
    publisher.start()
    has(live, "/live/cam.mpd", 2)
    answers, stopping = {}, threading.Event()
    asking = threading.Thread(target=wait_for_ahead, args=(live, answers, stopping))
    asking.start()
    publisher.tags = filled(small, length)
    def new_period():
        periods = mpd(live, "/live/cam.mpd").findall("d:Period", NS)
        return len(periods) > 1 and len(list(periods[-1].find(".//d:SegmentTemplate", NS).iter(f"{{{NS['d']}}}S"))) > 0 and periods
    periods = wait_until(new_period, 60, "a second period")
    first = int(periods[-1].find(".//d:Representation[@id='video']/d:SegmentTemplate", NS).get("startNumber"))
    wait_until(lambda: answers.get((periods[-1].get("id"), first + 2)), 30, "segments of the new period")
    stopping.set()
    asking.join()
    old = periods[0].find(".//d:Representation[@id='video']/d:SegmentTemplate", NS)
    end = int(old.get("startNumber")) + len(list(old.iter(f"{{{NS['d']}}}S")))
    answered = {number: body for (period, number), body in answers.items() if period == periods[0].get("id")}
    assert all(body for number, body in answered.items() if number < end)
    waited = {number: len(body) for number, body in answered.items() if number >= end}
    assert waited and not any(waited.values()), waited
    assert {status_of(live, f"/live/cam/video-{number}.m4s") for number in waited} == {404}, "nor by asking again"
    assert max(waited) < first, "the new period has other names"
    publisher.stop()


def test_one_kind_alone_plays(server, clip):
    live = server(vhost=DASH.format(""))
    base = f"http://127.0.0.1:{live.ports['http']}"
    with FfmpegPublisher(live.url("radio"), clip("audio")), FfmpegPublisher(live.url("mute"), clip("video")):
        for stream, track in (("radio", "audio"), ("mute", "video")):
            tree = has(live, f"/live/{stream}.mpd", 2, track)
            assert [one.get("contentType") for one in tree.iter(f"{{{NS['d']}}}AdaptationSet")] == [track]
            listed = segments(tree, track)
            assert all(sum(a) == b[0] for a, b in zip(listed, listed[1:])) and all(1900 < length < 2100 for _, length in listed), listed
            number = template(tree, track)["startNumber"]
            assert len(fetch(live, f"/live/{stream}/{track}-{number}.m4s")[1]) > 10_000
        problems = play_all({"audio": ("ffmpeg", base + "/live/radio.mpd", "a"), "video": ("ffmpeg", base + "/live/mute.mpd", "v"),
                             "GStreamer": ("gstreamer", base + "/live/mute.mpd", "v")})
        assert not any(problems.values()), problems


CLOSED = """vhost closed.test {
    security { enabled on; deny play all; }
    hls { enabled on; hls_fragment 1; hls_path $folder/html; hls_keys on; hls_key_file_path $folder/html; }
    dash { enabled on; dash_fragment 1; dash_path $folder/html; }
}
"""


def status_at(live, path: str, host: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{live.ports['http']}{path}", headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_files_that_a_killed_server_left_keep_the_rules_of_their_host(server, clip):
    with HookServer() as hooks:
        live = server(DASH.format("dash_fragment 1;").replace("$folder/html", "$folder/html/own") + f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; }}",
                      root=CLOSED)
        html = live.folder / "html"
        (html / "own").mkdir(parents=True)
        with FfmpegPublisher(live.url("cam?vhost=closed.test"), clip("basic")), FfmpegPublisher(live.url("cam"), clip("basic")):
            wait_until(lambda: all((html / name).exists() for name in ("live/cam.m3u8", "live/cam.mpd", "live/cam-0.ts", "own/live/cam.mpd")), 30, "files")
        live.kill()
        live.start()
        left = ["/" + str(file.relative_to(html)) for file in (html / "live").rglob("*") if file.suffix in (".m3u8", ".mpd", ".ts", ".m4s", ".mp4", ".key")]
        assert len(left) >= 8 and len({path.rsplit(".", 1)[1] for path in left}) == 6, left
        for path in [*left, "/live//cam.mpd", "/live/./cam-0.ts", "/live/%2e/cam.m3u8"]:
            is_list = path.endswith(("m3u8", "mpd"))
            assert (status_at(live, path, "closed.test"), status_at(live, path, "other.test")) == (403, 404 if is_list else 403), path
        assert not hooks.actions()
        # A virtual host that admits every player by a callback.
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{live.ports['http']}/own/live/cam.mpd", headers={"Host": "other.test"}), timeout=5) as answer:
            session = re.search(r"dash_ctx=[0-9a-z]+", answer.read().decode())[0]
        assert hooks.wait_for("on_play").body["stream_url"] == "/live/cam"
        assert status_at(live, f"/own/live/cam/video-init.mp4?{session}", "other.test") == 200
        assert status_at(live, "/own/live/cam/video-init.mp4", "other.test") == 403


@pytest.mark.workers(always=True)
def test_a_player_is_a_client_that_is_asked_for_and_kicked(server, clip):
    with HookServer() as hooks:
        urls = "".join(f"{name} {hooks.url('/' + name)}; " for name in ("on_play", "on_stop"))
        live = server(vhost=DASH.format("dash_update_period 1;") + f"http_hooks {{ enabled on; {urls} }}\n")
        with FfmpegPublisher(live.url("cam"), clip("basic")):
            url = f"http://127.0.0.1:{live.ports['http']}/live/cam.mpd"
            wait_until(lambda: (live.folder / "html/live/cam.mpd").exists(), 30, "an MPD")
            urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=5).close()
            with ThreadPoolExecutor(1) as beside:
                playing = beside.submit(players.ffmpeg, url, 3, "av")
                told = hooks.wait_for("on_play").body
                assert (told["stream"], told["stream_url"], told["app"]) == ("cam.mpd", "/live/cam", "live")
                (client,) = wait_until(lambda: [one for one in live.api("/api/v1/clients/?count=100")["clients"]
                                                if not one["publish"] and one["send_bytes"] > 50_000], 15, "what it was sent")
                assert (client["id"], client["name"], client["type"]) == (told["client_id"], "cam.mpd", "hls-play")
                assert live.api("/api/v1/streams/")["streams"][0]["clients"] == 2
                assert not playing.result()
            assert hooks.wait_for("on_stop", limit_s=20).body["client_id"] == client["id"]  # it asks for nothing any more
            fetch(live, "/live/cam.mpd")
            other = hooks.wait_for("on_play", 2).body["client_id"]
            api = f"http://127.0.0.1:{live.ports['api']}/api/v1/clients/{other}"
            urllib.request.urlopen(urllib.request.Request(api, method="DELETE"), timeout=5).close()
            wait_until(lambda: status_of(live, "/live/cam.mpd") == 404, 10, "it is sent away by all workers")
            assert hooks.wait_for("on_stop", 2).body["client_id"] == other
    live.stop()
    live.process = None
    lines = [json.loads(line) for line in (live.folder / "objs/access.log").read_text().splitlines()]
    played = [(line["role"], line["result"], line["stream"]) for line in lines if line["protocol"] == "http-dash"]
    assert played == [("play", "ended", "cam")] * 2, lines


class Playing:
    """ffmpeg that plays until the end of the block; seconds() of media so far."""

    def __init__(self, url: str, folder):
        self.progress = folder / "progress.txt"
        self.process = subprocess.Popen(["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i", url, "-map", "0:v", "-c", "copy", "-f", "null",
                                         "-progress", str(self.progress), "-"], stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def seconds(self) -> float:
        assert self.process.poll() is None, "it plays"
        text = self.progress.read_text() if self.progress.exists() else ""
        return max((int(one) / 1e6 for one in re.findall("out_time_us=([0-9]+)", text)), default=0.0)


@pytest.mark.one_worker("the process that comes back is the one that writes the files")
def test_a_player_continues_after_a_crash(server, clip, tmp_path):
    live = server(vhost=DASH.format("dash_update_period 1;"))
    path = "/live/cam.mpd"
    publisher = FfmpegPublisher(live.url("cam"), clip("basic"))
    try:
        has(live, path, 3)
        with Playing(f"http://127.0.0.1:{live.ports['http']}{path}", tmp_path) as player:
            wait_until(lambda: player.seconds() > 1, 20, "it plays", 0.05)
            before = mpd(live, path)
            live.kill()
            publisher.kill()
            at_crash = player.seconds()
            live.start()
            with FfmpegPublisher(live.url("cam"), clip("basic")):
                def goes_on():
                    tree = mpd(live, path)
                    return tree if segments(tree, "video")[-1][0] > segments(before, "video")[-1][0] else None
                after = wait_until(goes_on, 30, "a new segment in the MPD", 0.1)
                assert after.get("availabilityStartTime") == before.get("availabilityStartTime")
                assert template(after)["initialization"] == template(before)["initialization"]
                listed = segments(after, "video")
                assert all(sum(a) <= b[0] for a, b in zip(listed, listed[1:])), listed
                newest = segments(before, "video")[-1][0] / 1000
                # More than what it may have had already, which ends with the segment in progress.
                wait_until(lambda: player.seconds() > max(at_crash, newest) + 6, 30, "media of after the crash", 0.1)
    finally:
        publisher.kill()
