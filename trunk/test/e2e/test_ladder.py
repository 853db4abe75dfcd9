"""The ladder: one ffmpeg per stream makes smaller renditions of it, which HLS and DASH offer beside the stream itself."""

import json
import os
import re
import signal
import stat
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import hls_check
import live_server
from dash_files import NS, mpd
from live_server import TRUNK, is_gone, wait_until
from players import FfmpegPublisher, wait_playable

RUNGS = "rendition 240p { vbitrate 200; } rendition 120p { vbitrate 80; }"
# No fragment ends without a key frame: the clip has some 2.2 s apart.
OUTPUTS = """hls { enabled on; hls_fragment 1; hls_aof_ratio 5; hls_window 20; hls_path $folder/html; }
dash { enabled on; dash_fragment 1; dash_window_size 12; dash_path $folder/html; }"""
SIZES = ["640x360", "426x240", "214x120"]


def ladder(more: str = "", rungs: str = RUNGS) -> str:
    return f"ladder {{ enabled on; vpreset ultrafast; vthreads 1; {rungs} {more} }}\n{OUTPUTS}\n"


def get(live, path: str) -> bytes | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=8) as answer:
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


def ffmpegs(live) -> list[int]:
    """The children of the server."""
    return [int(child) for task in Path(f"/proc/{live.process.pid}/task").iterdir() for child in (task / "children").read_text().split()]


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


def packets(media: bytes, file: Path) -> list[dict]:
    file.write_bytes(media)
    done = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=dts_time,pts_time,flags", "-of", "json", file], capture_output=True,
                          text=True, timeout=30, check=True)
    return json.loads(done.stdout)["packets"]


def fake(folder: Path, script: str) -> str:
    path = folder / "fake-ffmpeg"
    path.write_text("#!/bin/sh\n" + script + "\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"ffmpeg {path};"


def test_a_stream_gets_renditions_that_are_cut_at_its_key_frames(server, clip, tmp_path):
    live = server(ladder())
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        found = has_variants(live, 3, 20)
        assert [attributes["RESOLUTION"] for attributes, _ in found] == SIZES
        for attributes, _ in found:
            assert re.fullmatch(r"avc1\.[0-9a-f]{6},mp4a\.40\.2", attributes["CODECS"]), attributes
            assert float(attributes["FRAME-RATE"]) == 15 and attributes["AUDIO"] == "audio", attributes
        rates = [int(attributes["BANDWIDTH"]) for attributes, _ in found]
        averages = [int(attributes["AVERAGE-BANDWIDTH"]) for attributes, _ in found]
        assert rates == sorted(rates, reverse=True) and averages == sorted(averages, reverse=True) and averages[2] < 200_000, found
        assert len(ffmpegs(live)) == 1
        wait_until(lambda: len(hls_check.parse(get(live, found[0][1]).decode()).segments) >= 8, 30, "eight segments")
        made = [segments_of(live, uri) for _, uri in found]
        numbers = set.intersection(*(set(one) for one in made))
        assert len(numbers) >= 6
        for number in numbers:
            keys = []
            for rendition, segments in enumerate(made):
                frames = packets(segments[number], tmp_path / f"{rendition}.mp4")
                assert "K" in frames[0]["flags"], (number, rendition)
                keys.append([one["dts_time"] for one in frames if "K" in one["flags"]])
            assert keys[0] == keys[1] == keys[2], number
        tree = mpd(live, "/live/cam.mpd")
        (video,) = [one for one in tree.findall(".//d:AdaptationSet", NS) if one.get("contentType") == "video"]
        sizes = {f"{one.get('width')}x{one.get('height')}" for one in video.findall("d:Representation", NS)}
        assert sizes == set(SIZES) and video.get("segmentAlignment") == "true"
        # Players of other protocols get the stream itself.
        probed = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,height", "-of", "csv=p=0", live.url("cam")],
                                capture_output=True, text=True, timeout=30, check=True).stdout.split()
        assert sorted(probed) == ["audio", "video,360"]
        shown = wait_until(lambda: (one := entry(live))["fps"] and one, 10, "progress")
        assert shown["state"] == "running" and shown["starts"] == 1 and shown["dropped_packets"] == 0 and shown["pid"] == ffmpegs(live)[0]
        assert [one["name"] for one in shown["renditions"]] == ["240p", "120p"]
        assert shown["speed"] > 0.5 and shown["cpu_seconds"] > 0 and shown["memory_bytes"] > 1_000_000 and shown["frames"] > 30
    wait_until(lambda: not ffmpegs(live), 10, "the end of ffmpeg")
    assert live.api("/api/v1/transcodes")["transcodes"] == []
    assert [line for line in live.complaints() if "LADDER" in line] == []


def test_a_killed_child_is_replaced_and_its_renditions_come_back(server, clip):
    live = server(ladder())
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        before = [(attributes["RESOLUTION"], uri.split("?")[0]) for attributes, uri in has_variants(live, 3)]
        (child,) = ffmpegs(live)
        os.kill(child, signal.SIGKILL)
        has_variants(live, 1)
        after = [(attributes["RESOLUTION"], uri.split("?")[0]) for attributes, uri in has_variants(live, 3)]
        assert after == before, "each has the same address as before"
        assert entry(live)["starts"] == 2 and "signal 9" in entry(live)["last_end"]
        assert len(ffmpegs(live)) == 1 and is_gone(child)


def test_a_child_without_output_is_replaced(server, clip):
    live = server(ladder())
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        has_variants(live, 3)
        (child,) = ffmpegs(live)
        os.kill(child, signal.SIGSTOP)
        has_variants(live, 1, 20)  # the stream itself continues
        wait_until(lambda: entry(live)["starts"] == 2, 40, "a new child")
        assert "gave no output for 20 s" in live.log()
        has_variants(live, 3)
        assert is_gone(child)


def test_children_that_fail_cause_no_storm(server, clip, tmp_path):
    counted = tmp_path / "starts"
    live = server(ladder(fake(tmp_path, f"echo >>{counted}; exit 3")))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        has_variants(live, 1)
        wait_until(lambda: entry(live)["starts"] >= 3, 30, "tries")
        assert "exited with 3" in entry(live)["last_end"]
        assert counted.read_text().count("\n") <= 4, "pauses of 2, 4, 8 and more seconds"
        assert not ffmpegs(live) or len(ffmpegs(live)) == 1


def test_a_child_that_writes_garbage_is_stopped(server, clip, tmp_path):
    live = server(ladder(fake(tmp_path, "while :; do echo garbage >&4; echo flood >&2; done")))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        live.wait_log("its output is not usable", 30)
        has_variants(live, 1)
        assert live.log().count("flood") < 100, "the log has a bound"


def test_without_ffmpeg_the_log_has_one_sentence_and_the_stream_plays(server, clip):
    live = server(ladder("ffmpeg /no/such/ffmpeg;"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_playable(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8", 30)
        wait_until(lambda: entry(live)["starts"] >= 2, 20, "another try")
        assert live.log().count("has no renditions, because ffmpeg cannot start") == 1


def test_the_fallback_replaces_a_missing_encoder(server, clip):
    live = server(ladder("vcodec no_such_encoder; fallback libx264;"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        has_variants(live, 3, 40)
        assert "ffmpeg has no encoder no_such_encoder" in live.log() and "encodes with libx264 from now on" in live.log()


def test_a_killed_server_leaves_no_child(server, clip):
    live = server(ladder())
    publisher = FfmpegPublisher(live.url("cam"), clip("ladder"))
    has_variants(live, 3)
    (child,) = ffmpegs(live)
    live.kill()
    wait_until(lambda: is_gone(child), 5, "the end of ffmpeg")
    publisher.kill()
    live.start()


def test_publishers_that_come_and_go_leave_nothing(server, clip):
    live = server(ladder())
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        has_variants(live, 3)
    wait_until(lambda: not ffmpegs(live), 10, "the end of ffmpeg")
    before = live.connections()
    for number in range(20):
        publisher = FfmpegPublisher(live.url(f"cam{number % 3}"), clip("ladder"))
        wait_until(lambda: live.api("/api/v1/transcodes")["transcodes"], 20, "a ladder")
        publisher.kill()
    wait_until(lambda: not ffmpegs(live) and not live.api("/api/v1/transcodes")["transcodes"], 20, "the end of all")
    wait_until(lambda: live.connections() <= before + 2, 20, lambda: f"{before} descriptors and not {live.connections()}")


def test_the_shipped_conf(clip, tmp_path):
    """On other ports: others may run on this machine."""
    text = (TRUNK / "conf/ladder.conf").read_text()
    text = text.replace("1935;", "127.0.0.1:$rtmp;").replace("8080;", "127.0.0.1:$http;").replace("http_api {", "http_api { listen 127.0.0.1:$api;")
    live = live_server.LiveServer(tmp_path / "server", text + "pid $folder/srs.pid;\n").start()
    try:
        with FfmpegPublisher(live.url("livestream"), clip("ladder")):
            found = has_variants(live, 3, 20, "livestream")
            assert [attributes["RESOLUTION"] for attributes, _ in found] == ["640x360", "640x360", "320x180"]
            assert len(ffmpegs(live)) == 1
        live.stop()
    finally:
        live.kill()
