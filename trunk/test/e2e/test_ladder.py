"""The ladder: one ffmpeg per stream makes smaller renditions of it, which HLS and DASH offer beside the stream itself, and RTSP players name."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import hls_check
import live_server
import pytest
from dash_files import NS, mpd
from ffmpeg_children import EXPORTER, fake, ffmpegs, metrics
from ladder_stage import SIZES, entry, get, has_variants, heights, ladder, packets, representations, segments_of, variants
from live_server import TRUNK, is_gone, wait_until
from players import FfmpegPublisher, wait_playable
from rtmp_client import Publisher


def check_rtsp(live) -> None:
    """A player names a rendition, and gets it from a key frame on, with the audio."""
    url = f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/cam"
    for name, height in (("", "360"), ("?rendition=source", "360"), ("?rendition=120p", "120")):
        assert heights(url + name, "-rtsp_transport", "tcp") == [height, "audio"], name
    played = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "udp", "-i", url + "?rendition=240p", "-t", "2", "-f", "null", "-"],
                            capture_output=True, text=True, timeout=60, check=True)
    assert "error while decoding" not in played.stderr, played.stderr
    refused = subprocess.run(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", url + "?rendition=1080p"], capture_output=True, text=True, timeout=30,
                             check=False)
    assert refused.returncode != 0 and "404" in refused.stderr, refused.stderr
    live.wait_log("the stream has no such rendition", 5)


def test_a_stream_gets_renditions_that_are_cut_at_its_key_frames(server, clip, tmp_path):
    live = server(ladder() + "rtsp { enabled on; }", root="rtsp_server { enabled on; listen 127.0.0.1:$rtsp; }")
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
        assert heights(live.url("cam")) == ["360", "audio"]
        check_rtsp(live)
        shown = wait_until(lambda: (one := entry(live))["fps"] and one, 10, "progress")
        assert shown["state"] == "running" and shown["starts"] == 1 and shown["dropped_packets"] == 0 and shown["pid"] == ffmpegs(live)[0]
        assert [one["name"] for one in shown["renditions"]] == ["240p", "120p"]
        assert shown["speed"] > 0 and shown["cpu_seconds"] > 0 and shown["memory_bytes"] > 1_000_000 and shown["frames"] > 30
    wait_until(lambda: not ffmpegs(live), 10, "the end of ffmpeg")
    assert live.api("/api/v1/transcodes")["transcodes"] == []
    assert f"LADDER /live/cam pid={shown['pid']}" in (live.folder / "objs/ffmpeg-ladder-__defaultVhost__-live-cam.log").read_text()
    assert [line for line in live.complaints() if "LADDER" in line] == []


def keys_of(live, uri: str, known: dict[int, list], file: Path) -> None:
    """Adds the times of the key frames of new segments."""
    playlist = hls_check.parse(get(live, uri).decode())
    new = {number for number, segment in enumerate(playlist.segments, playlist.first) if not segment.gap} - known.keys()
    if not new:
        return
    for number, body in segments_of(live, uri).items():
        if number in new:
            known[number] = [one["dts_time"] for one in packets(body, file) if "K" in one["flags"]]


@pytest.mark.long
def test_key_frames_of_all_renditions_have_the_same_times_for_ten_minutes(server, clip, tmp_path):
    """The clip has B-frames, and key frames 0.8 s to 2.2 s apart."""
    live = server(ladder())
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        found = has_variants(live, 3)
        known: list[dict[int, list]] = [{} for _ in found]
        until = time.monotonic() + 600
        while time.monotonic() < until:
            for (_, uri), its in zip(found, known):
                keys_of(live, uri, its, tmp_path / "one.mp4")
            time.sleep(4)  # of the 20 s that a segment is there
        numbers = set.intersection(*(set(one) for one in known))
        assert len(numbers) > 250
        different = {number: [one[number] for one in known] for number in sorted(numbers) if len({tuple(one[number]) for one in known}) != 1}
        assert different == {} and entry(live)["starts"] == 1


def has_representations(live, sizes: list[str]) -> None:
    wait_until(lambda: representations(live) == set(sizes), 30, lambda: f"{sizes} in the MPD and not {representations(live)}; HLS has {variants(live)}; {entry(live)}")


def test_a_killed_child_is_replaced_and_its_renditions_come_back(server, clip):
    """Lost renditions leave the master playlist and the MPD; the stream itself continues in both."""
    live = server(ladder())
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        before = [(attributes["RESOLUTION"], uri.split("?")[0]) for attributes, uri in has_variants(live, 3)]
        has_representations(live, SIZES)
        (child,) = ffmpegs(live)
        os.kill(child, signal.SIGKILL)
        has_variants(live, 1)
        has_representations(live, SIZES[:1])
        has_representations(live, SIZES)
        after = [(attributes["RESOLUTION"], uri.split("?")[0]) for attributes, uri in has_variants(live, 3)]
        assert after == before, "each has the same address as before"
        assert entry(live)["starts"] == 2 and "signal 9" in entry(live)["last_end"]
        assert len(ffmpegs(live)) == 1 and is_gone(child)


@pytest.mark.long
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


def test_on_demand_it_runs_while_its_renditions_have_players(server, clip):
    live = server(ladder("on_demand on;").replace("hls_window 20;", "hls_window 2;"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_playable(live.url("cam"), 20)
        assert entry(live)["state"] == "idle" and ffmpegs(live) == [] and entry(live)["starts"] == 0, "players of the stream itself need no rendition"
        began = time.monotonic()
        found = variants(live)
        assert len(found) == 3 or time.monotonic() - began >= 10, "the first request waits for the renditions"
        found = has_variants(live, 3)
        assert [attributes["RESOLUTION"] for attributes, _ in found] == SIZES
        assert all(segments_of(live, uri) for _, uri in found) and len(ffmpegs(live)) == 1
        wait_until(lambda: entry(live)["state"] == "idle" and ffmpegs(live) == [], 30, "the end after the last player")
        assert [line for line in live.complaints() if "LADDER" in line] == []
        has_representations(live, SIZES)
        wait_until(lambda: entry(live)["starts"] == 2, 30, "the next start, as the MPD may list renditions of the one before")


def test_on_demand_an_rtsp_player_starts_the_rendition_that_it_names(server, clip):
    """It waits for it, and keeps the ladder while it plays. A name that is not of the ladder starts nothing."""
    live = server(ladder("on_demand on;") + "rtsp { enabled on; }", root="rtsp_server { enabled on; listen 127.0.0.1:$rtsp; }")
    url = f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/cam"
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_playable(live.url("cam"), 20)
        refused = subprocess.run(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", url + "?rendition=1080p"], capture_output=True, text=True, timeout=30,
                                 check=False)
        assert refused.returncode != 0 and "404" in refused.stderr, refused.stderr
        assert entry(live)["state"] == "idle" and entry(live)["starts"] == 0
        player = subprocess.Popen(["ffmpeg", "-nostdin", "-v", "error", "-rtsp_transport", "tcp", "-i", url + "?rendition=120p", "-f", "null", "-"],
                                  stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: "RTSP: PLAY url=" in live.log(), 40, "it plays")
            assert heights(url + "?rendition=240p", "-rtsp_transport", "tcp") == ["240", "audio"]
            # Longer than a ladder runs without readers.
            began = time.monotonic()
            wait_until(lambda: time.monotonic() - began > 14 or entry(live)["state"] != "running", 20, "14 s of the rendition")
            assert player.poll() is None and entry(live)["state"] == "running" and entry(live)["starts"] == 1
        finally:
            player.terminate()
            player.communicate(timeout=20)
        wait_until(lambda: entry(live)["state"] == "idle" and ffmpegs(live) == [], 30, "the end after the last player")


def test_with_several_workers_the_one_with_the_publisher_encodes(server, clip):
    """A new connection may be with any worker."""
    live = server(ladder(), environment={"SRS_WORKERS": "3"})
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        has_variants(live, 3)
        asked = set()
        for _ in range(40):
            asked |= {line.split("][")[2] for line in live.log().splitlines() if "/live/cam.m3u8" in line and "status=200" in line}
            if len(asked) > 1:
                break
            variants(live)
        assert len(asked) > 1, "requests spread over the workers"
        for _ in range(4):
            found = has_variants(live, 3)
            assert [attributes["RESOLUTION"] for attributes, _ in found] == SIZES and all(segments_of(live, uri) for _, uri in found)
        assert len(ffmpegs(live)) == 1
    wait_until(lambda: not ffmpegs(live), 10, "the end of ffmpeg")


def noise(folder: Path) -> Path:
    path = folder / "noise.flv"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=15,noise=alls=20:allf=t,format=yuv420p",
                    "-c:v", "libx264", "-preset", "veryfast", "-b:v", "4000k", "-g", "50", "-sc_threshold", "0", path], check=True)
    return path


@pytest.mark.long
def test_one_child_costs_less_than_three(server, tmp_path):
    """CPU time per frame of four children at once: of three renditions, and of each of these alone. All get the same stream."""
    rungs = {"720p": 2500, "360p": 750, "180p": 220}
    conf = {name: f"rendition {name} {{ vbitrate {kbps}; }}" for name, kbps in rungs.items()} | {"all": " ".join(
        f"rendition {name} {{ vbitrate {kbps}; }}" for name, kbps in rungs.items())}
    live = server(root="".join(f"vhost v{name}.test {{ ladder {{ enabled on; vpreset veryfast; {text} }} }}\n" for name, text in conf.items()))
    film = noise(tmp_path)
    with contextlib.ExitStack() as stack:
        for name in conf:
            stack.enter_context(FfmpegPublisher(live.url(f"cam?vhost=v{name}.test"), film))

        def per_frame() -> dict[str, float]:
            shown = live.api("/api/v1/transcodes")["transcodes"]
            return {one["stream_url"].split(".")[0][1:]: one["cpu_seconds"] / one["frames"] for one in shown if (one["frames"] or 0) > 600}
        cost = wait_until(lambda: len(found := per_frame()) == 4 and found, 300, per_frame, 1)
    ratio = cost["all"] / sum(cost[name] for name in rungs)
    print(f"CPU ms per frame: {({name: round(1000 * one, 2) for name, one in cost.items()})}; one child needs {ratio:.2f} times the CPU of three")
    assert ratio <= 0.75


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


def descriptors(live) -> int:
    return len(list(Path(f"/proc/{live.process.pid}/fd").iterdir()))


@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.long)])
def test_publishers_that_come_and_go_leave_nothing(server, clip, times):
    """200 in a minute: most ladders have no time to begin."""
    live = server(ladder(), EXPORTER)
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        has_variants(live, 3)
    wait_until(lambda: not ffmpegs(live), 10, "the end of ffmpeg")
    before = descriptors(live)
    seen: set[int] = set()
    for number in range(times):
        publisher = Publisher(live.ports["rtmp"], f"cam{number % 3}", clip("basic"))
        publisher.start()
        if number % 4 == 0:
            wait_until(lambda: live.api("/api/v1/transcodes")["transcodes"], 20, "a ladder")
        seen.update(ffmpegs(live))
        publisher.stop()
    wait_until(lambda: not ffmpegs(live) and not live.api("/api/v1/transcodes")["transcodes"], 20, "the end of all, without a zombie")
    wait_until(lambda: descriptors(live) <= before + 2, 20, lambda: f"{before} descriptors and not {descriptors(live)}")
    assert all(is_gone(pid) for pid in seen)
    starts = int(re.search(r"^millrace_ladder_starts_total (\d+)", metrics(live), re.M)[1])
    assert starts <= 1 + 3 * 20, "ten in a minute for each of three streams"


def test_a_slow_child_loses_frames_and_the_stream_loses_none(server, clip, tmp_path):
    """A program that returns its input slowly, as the only rendition. Less than half of it arrives in time."""
    slow = "while dd bs=2000 count=1 status=none >&4; do sleep 0.1; done"
    live = server(ladder(fake(tmp_path, slow), "rendition 240p { vbitrate 200; }"), EXPORTER)
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        live.wait_log("ffmpeg is too slow, dropped_packets=", 60)
        assert entry(live)["dropped_packets"] > 0
        frames = int(subprocess.run(["ffprobe", "-v", "error", "-read_intervals", "%+8", "-select_streams", "v", "-count_packets", "-show_entries",
                                     "stream=nb_read_packets", "-of", "csv=p=0", live.url("cam")], capture_output=True, text=True, timeout=40,
                                    check=True).stdout)
        assert frames >= 7 * 15, "of 15 in a second"
        assert float(re.search(r"^millrace_ladder_dropped_packets_total (\S+)", metrics(live), re.M)[1]) > 0


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


@pytest.mark.parametrize("encoder", ["x265", "nvenc", *(pytest.param(one, marks=pytest.mark.long) for one in ("svtav1", "vaapi", "qsv"))])
def test_the_shipped_confs_of_other_encoders(clip, tmp_path, encoder):
    """Where an encoder, its device or an ffmpeg that carries it in FLV is missing, x264 takes its place, and the log says so."""
    text = (TRUNK / f"conf/ladder.{encoder}.conf").read_text()
    text = text.replace("1935;", "127.0.0.1:$rtmp;").replace("8080;", "127.0.0.1:$http;").replace("http_api {", "http_api { listen 127.0.0.1:$api;")
    live = live_server.LiveServer(tmp_path / "server", text + "pid $folder/srs.pid;\n").start()
    try:
        with FfmpegPublisher(live.url("livestream"), clip("ladder")):
            found = has_variants(live, 3, 60, "livestream")
            assert [attributes["RESOLUTION"] for attributes, _ in found][1:] == ["640x360", "320x180"]
            assert len(ffmpegs(live)) == 1
            if entry(live)["starts"] > 1:
                assert live.log().count("encodes with libx264 from now on (fallback)") == 1
        live.stop()
    finally:
        live.kill()
