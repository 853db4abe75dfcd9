"""MPEG-DASH: the MPD and its files, players, low latency, a publisher that comes back, and the end."""

import re
import threading
import time
import urllib.request
import xml.etree.ElementTree

import players
from live_server import wait_until
from players import FfmpegPublisher

DASH = "dash {{ enabled on; dash_fragment 2; dash_window_size 4; dash_path $folder/html; {} }}\n"
NS = {"d": "urn:mpeg:dash:schema:mpd:2011"}


def segments(tree, track: str) -> list[tuple[int, int]]:
    """Start and length of the segments of a track, in milliseconds."""
    timeline = tree.find(f".//d:Representation[@id='{track}']/d:SegmentTemplate/d:SegmentTimeline", NS)
    return [(int(one.get("t")), int(one.get("d"))) for one in timeline]


def template(tree) -> dict:
    return tree.find(".//d:Representation[@id='video']/d:SegmentTemplate", NS).attrib


def fetch(live, path: str, limit_s: float = 5) -> tuple[str, bytes]:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=limit_s) as answer:
        return answer.headers["Content-Type"], answer.read()


def mpd(live, path: str):
    kind, body = fetch(live, path)
    assert kind == "application/dash+xml"
    return xml.etree.ElementTree.fromstring(body)


def has(live, path: str, count: int):
    """The MPD when it lists so many segments."""
    def look():
        try:
            tree = mpd(live, path)
        except OSError:
            return None
        return tree if len(segments(tree, "video")) >= count else None
    return wait_until(look, 20, f"{count} segments in {path}", 0.1)


def play_all(played: dict[str, tuple]) -> dict[str, list[str]]:
    """Side by side; what was wrong with each, those that are not installed aside."""
    problems, threads = {}, []
    for name, (player, url) in played.items():
        if players.available(player):
            continue
        def run(name=name, player=player, url=url):
            problems[name] = players.PLAYERS[player](url, 3, "av")
        threads.append(threading.Thread(target=run))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert len(problems) == len(threads)
    return problems


def chunk_times(live, path: str) -> list[float]:
    """When the bytes of a segment came that is being made, in seconds from the first."""
    times = []
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=8) as answer:
        assert answer.headers["Transfer-Encoding"] == "chunked"
        while answer.read1(1 << 20):
            times.append(time.monotonic())
    return [at - times[0] for at in times]


def test_streams_play_and_are_disposed_of(server, clip):
    low = "vhost low.test {\n" + DASH.format("dash_ll on; dash_mpd_file low/[stream].mpd;") + "}\n"
    live = server(vhost=DASH.format("dash_dispose 1;"), root=low)
    base = f"http://127.0.0.1:{live.ports['http']}"
    with FfmpegPublisher(live.url("cam"), clip("basic")), FfmpegPublisher(live.url("cam?vhost=low.test"), clip("bframes")):
        tree = has(live, "/low/cam.mpd", 2)
        assert template(tree)["availabilityTimeComplete"] == "false"
        early = float(template(tree)["availabilityTimeOffset"])
        assert 1.6 < early < 2
        tree = has(live, "/low/cam.mpd", 3)  # the third has just begun
        number = int(template(tree)["startNumber"]) + len(segments(tree, "video")) - 1
        times = chunk_times(live, f"/low/cam/video-{number}.m4s")
        assert len(times) >= 6 and 1.2 < times[-1] < 2.4, times
        tree = has(live, "/live/cam.mpd", 2)
        assert tree.get("type") == "dynamic" and tree.get("minimumUpdatePeriod") == "PT5.000S"
        codecs = {one.get("id"): one.get("codecs") for one in tree.iter(f"{{{NS['d']}}}Representation")}
        assert re.fullmatch(r"avc1\.[0-9a-f]{6}", codecs["video"]) and codecs["audio"] == "mp4a.40.2"
        for track in ("video", "audio"):
            listed = segments(tree, track)
            assert all(sum(a) == b[0] for a, b in zip(listed, listed[1:])), listed
            assert all(1900 < length < 2100 for _, length in listed), listed
        first = int(template(tree)["startNumber"])
        assert fetch(live, f"/live/cam/audio-{first}.m4s")[0] == "video/iso.segment"
        problems = play_all({"ffmpeg": ("ffmpeg", base + "/live/cam.mpd"), "ffmpeg, low latency": ("ffmpeg", base + "/low/cam.mpd"),
                             "GStreamer": ("gstreamer", base + "/live/cam.mpd")})
        assert not any(problems.values()), problems
        folder = live.folder / "html/live"
        wait_until(lambda: (folder / "cam.mpd").exists() and list(folder.glob("cam/video-*.m4s")), 5, "files on the disk")
    wait_until(lambda: not [path for path in folder.rglob("*") if path.is_file()], 5, "all files are deleted behind dash_dispose")
    low_folder = live.folder / "html/low/cam"
    assert list(low_folder.glob("video-*.m4s"))
    live.stop()
    assert not list(low_folder.iterdir()), "a server that stops disposes of what it would have"
    live.process = None
