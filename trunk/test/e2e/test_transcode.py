"""transcode {}: ffmpeg children that encode published streams and send the result to a stream of this server, a file or another server."""

import json
import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import live_server
import pytest
from ffmpeg_children import EXPORTER, fake, ffmpegs, metrics
from live_server import TRUNK, is_gone, wait_until
from players import FfmpegPublisher, wait_playable
from rtmp_client import Publisher

OUTPUT = "output rtmp://127.0.0.1:[port]/[app]?vhost=[vhost]/[stream]_[engine];"
SMALL = f"engine ff {{ enabled on; vcodec libx264; vpreset ultrafast; vwidth 320; vheight 180; vbitrate 200; acodec aac; abitrate 48; {OUTPUT} }}"


def transcode(engines: str = SMALL, more: str = "ffmpeg ./objs/ffmpeg/bin/ffmpeg;", scope: str = "") -> str:
    return f"transcode {scope} {{ enabled on; {more} {engines} }}\n"


def entries(live) -> list[dict]:
    return [one for one in live.api("/api/v1/transcodes")["transcodes"] if one["kind"] == "engine"]


def entry(live) -> dict:
    return entries(live)[0]


def names(live) -> set[str]:
    return {one["name"] for one in live.api("/api/v1/streams")["streams"] if one["publish"]["active"]}


def probe(url: str) -> list[dict]:
    done = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,codec_name,width,height,sample_rate", "-of", "json", url],
                          capture_output=True, text=True, timeout=40, check=True)
    return json.loads(done.stdout)["streams"]


def shape(url: str) -> list:
    return sorted((one["codec_name"], one.get("width") or one.get("sample_rate")) for one in probe(url))


def test_a_stream_is_encoded_and_played_by_rtmp_and_flv(server, clip):
    live = server("http_remux { enabled on; }\n" + transcode(), EXPORTER)
    with FfmpegPublisher(live.url("cam?key=1"), clip("ladder")):
        wait_until(lambda: "cam_ff" in names(live), 30, lambda: live.log()[-2000:])
        assert shape(live.url("cam_ff")) == [("aac", "44100"), ("h264", 320)]
        assert shape(f"http://127.0.0.1:{live.ports['http']}/live/cam_ff.flv") == [("aac", "44100"), ("h264", 320)]
        wait_playable(live.url("cam_ff"), 20)
        shown = wait_until(lambda: (one := entry(live))["fps"] and one, 10, "progress")
        assert shown["state"] == "running" and shown["starts"] == 1 and shown["dropped_packets"] == 0 and shown["engine"] == "ff"
        assert shown["stream_url"] == "/live/cam" and shown["output"].endswith("/cam_ff") and [shown["pid"]] == ffmpegs(live)
        assert shown["speed"] > 0 and shown["cpu_seconds"] > 0 and shown["memory_bytes"] > 1_000_000 and shown["output_bytes"] > 10_000
        assert names(live) == {"cam", "cam_ff"}, "what an engine has made is not encoded again"
        (made,) = [one for one in live.api("/api/v1/clients")["clients"] if one["type"] == "engine-publish"]
        assert made["url"] == "/live/cam_ff"
        text = metrics(live)
        assert "millrace_transcode_children 1\n" in text and "millrace_transcode_starts_total 1\n" in text
        assert float(re.search(r"^millrace_transcode_children_memory_bytes (\S+)", text, re.M)[1]) > 1_000_000
        live.wait_log("-> ENC time=", 20)
        assert "encoders=1, input=__defaultVhost__/live/cam\n" in live.log()
    wait_until(lambda: not ffmpegs(live) and not entries(live) and not names(live), 15, "the end of ffmpeg and its stream")
    its_log = (live.folder / "objs/ffmpeg-encoder-__defaultVhost__-live-cam-ff.log").read_text()
    assert f"pid={shown['pid']}\n" in its_log and "Output #0, flv" in its_log, its_log
    assert "key=1" not in live.log()
    assert [line for line in live.complaints() if "ENC" in line and "too slow" not in line and "were left out" not in line] == []


def test_engines_share_one_process(server, clip):
    copy = f"engine copy {{ enabled on; vcodec copy; acodec copy; {OUTPUT} }}"
    live = server(transcode(SMALL + copy, "ffmpeg ./objs/ffmpeg/bin/ffmpeg; share_process on;"), EXPORTER)
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: names(live) == {"cam", "cam_ff", "cam_copy"}, 30, lambda: live.log()[-2000:])
        with ThreadPoolExecutor() as players:
            assert list(players.map(shape, (live.url("cam_ff"), live.url("cam_copy")))) == [[("aac", "44100"), ("h264", 320)], [("aac", "44100"), ("h264", 640)]]
        (child,) = ffmpegs(live)
        shown = entries(live)
        assert [(one["engine"], one["pid"], one["starts"]) for one in shown] == [("ff", child, 1), ("copy", child, 1)]
        assert all(one["output_bytes"] > 1000 for one in shown)
        assert [one["output"].rpartition("/")[2] for one in shown] == ["cam_ff", "cam_copy"]
        text = metrics(live)
        assert "millrace_transcode_engines 2\n" in text and "millrace_transcode_children 1\n" in text
    wait_until(lambda: not ffmpegs(live) and not entries(live) and not names(live), 15, "the end of ffmpeg and its streams")


def test_by_a_socket_as_the_reference_does(server, clip):
    live = server(transcode(more="ffmpeg ./objs/ffmpeg/bin/ffmpeg; feed socket;"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: "cam_ff" in names(live), 40, lambda: live.log()[-2000:])
        assert shape(live.url("cam_ff")) == [("aac", "44100"), ("h264", 320)]
        kinds = [one["type"] for one in live.api("/api/v1/clients")["clients"]]
        assert "rtmp-play" in kinds and kinds.count("fmle-publish") == 2
        wait_until(lambda: entry(live)["frames"], 10, "progress")
        assert names(live) == {"cam", "cam_ff"} and len(ffmpegs(live)) == 1
    wait_until(lambda: not ffmpegs(live) and not names(live), 15, "the end of all")


def test_scopes_add_up(server, clip):
    copy = "engine {0} {{ enabled on; vcodec copy; acodec copy; " + OUTPUT + " }}"
    live = server(transcode(copy.format("a")) + transcode(copy.format("b"), scope="live") + transcode(copy.format("c"), scope="live/cam")
                  + transcode(copy.format("d"), scope="live/other") + transcode(copy.format("e"), scope="live/cam_a"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        expected = {"cam", "cam_a", "cam_b", "cam_c", "cam_a_e"}
        wait_until(lambda: names(live) == expected, 40, lambda: f"{names(live)}; {live.log()[-2000:]}")
        assert len(ffmpegs(live)) == 4


def test_audio_only_for_hls(clip, tmp_path):
    """The shipped conf, on other ports."""
    live = shipped("transcode2hls.audio.only.conf", tmp_path)
    try:
        with FfmpegPublisher(live.url("cam"), clip("ladder")):
            url = f"http://127.0.0.1:{live.ports['http']}/live/cam_audio.m3u8"
            wait_playable(url, 60)
            assert {one["codec_type"] for one in probe(url)} == {"audio"}
        live.stop()
    finally:
        live.kill()


def shipped(name: str, folder: Path):
    text = (TRUNK / "conf" / name).read_text()
    text = text.replace("listen 1935;", "listen 127.0.0.1:$rtmp;").replace("listen 8080;", "listen 127.0.0.1:$http;").replace("http_api {", "http_api { listen 127.0.0.1:$api;")
    return live_server.LiveServer(folder / "server", text + "pid $folder/srs.pid;\n").start()


def test_the_shipped_conf(clip, tmp_path):
    live = shipped("ffmpeg.transcode.conf", tmp_path)
    try:
        with FfmpegPublisher(live.url("livestream"), clip("ladder")):
            wait_until(lambda: "livestream_ff" in names(live), 40, lambda: live.log()[-2000:])
            assert shape(live.url("livestream_ff")) == [("aac", "44100"), ("h264", 768)]
        live.stop()
    finally:
        live.kill()


def test_snapshots_in_a_folder(server, clip, tmp_path):
    (tmp_path / "live").mkdir()
    shots = f"engine png {{ enabled on; vfilter {{ vf fps=2; }} vcodec png; acodec an; oformat image2; output {tmp_path}/[app]/[stream]-%03d.png; }}"
    live = server(transcode(shots))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: (tmp_path / "live/cam-003.png").exists(), 40, lambda: live.log()[-2000:])
    assert (tmp_path / "live/cam-002.png").read_bytes().startswith(b"\x89PNG")


def test_a_killed_child_is_replaced(server, clip):
    live = server(transcode(), EXPORTER)
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: "cam_ff" in names(live), 30, "the stream")
        (child,) = ffmpegs(live)
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: "cam_ff" not in names(live), 10, "its end")
        wait_until(lambda: "cam_ff" in names(live), 30, "its return")
        shown = entry(live)
        assert shown["starts"] == 2 and "signal 9" in shown["last_end"] and is_gone(child)
        assert 'millrace_transcode_ends_total{reason="exited"} 1\n' in metrics(live)


def test_a_child_without_output_is_replaced(server, clip):
    live = server(transcode(), EXPORTER)
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: "cam_ff" in names(live), 30, "the stream")
        (child,) = ffmpegs(live)
        os.kill(child, signal.SIGSTOP)
        wait_until(lambda: entry(live)["starts"] == 2, 60, "a new child")
        assert "gave no output for 20 s" in live.log() and is_gone(child)
        assert 'millrace_transcode_ends_total{reason="silent"} 1\n' in metrics(live)
        wait_until(lambda: "cam_ff" in names(live), 30, "its return")


def test_children_that_fail_cause_no_storm(server, clip, tmp_path):
    counted = tmp_path / "starts"
    live = server(transcode(more=fake(tmp_path, f"echo >>{counted}; echo a flood of text >&2; exit 3")))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: entries(live) and entry(live)["starts"] >= 3, 60, "tries")
        assert "exited with 3" in entry(live)["last_end"] and counted.read_text().count("\n") <= 4, "pauses of 3, 6, 12 and more seconds"


def test_a_child_that_prints_forever_does_not_fill_the_log(server, clip, tmp_path):
    live = server(transcode(more=fake(tmp_path, "cat >/dev/null & while :; do echo a flood; done >&2")))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        live.wait_log("a flood", 30)
        wait_playable(live.url("cam"), 20)
        assert live.log().count("a flood") < 200
    wait_until(lambda: not ffmpegs(live), 15, "the end of the child")


def test_without_the_program_the_log_has_one_sentence(server, clip):
    live = server(transcode(more="ffmpeg /no/such/ffmpeg;"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_playable(live.url("cam"), 30)
        wait_until(lambda: entries(live) and entry(live)["starts"] >= 2, 40, "another try")
        assert live.log().count("because /no/such/ffmpeg cannot start") == 1


def test_a_missing_encoder_is_reported(server, clip):
    live = server(transcode(SMALL.replace("libx264", "no_such_encoder")))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: entries(live) and entry(live)["last_end"] == "ffmpeg has no encoder no_such_encoder", 30, lambda: live.log()[-2000:])


def test_names_stay_names_and_secrets_stay_secret(server, clip):
    live = server(transcode("engine a { enabled on; vcodec copy; acodec copy; output [stream]; }"
                            "engine b { enabled on; vcodec copy; acodec copy; output rtmp://127.0.0.1:1/live/[stream]?token=hush; }"))
    publisher = Publisher(live.ports["rtmp"], "-h", clip("basic"))
    publisher.start()
    live.wait_log("its output would become the option -h", 40)
    wait_until(lambda: entries(live) and entry(live)["last_end"], 30, "the end of the other")
    assert "hush" not in live.log() and "token=***" in live.log() and "hush" not in json.dumps(entries(live))
    publisher.stop()


def test_an_output_that_is_its_own_input_does_not_start(server, clip):
    live = server(transcode("engine a { enabled on; vcodec copy; acodec copy; output rtmp://localhost:[port]/[app]/[stream]; }"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        live.wait_log("its output is its own input", 40)
        assert entries(live) == []


def test_a_reload_changes_the_engines(server, clip):
    live = server(transcode())
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: "cam_ff" in names(live), 30, "the stream")
        live.write_conf(live_server.ROOT_CONF + "vhost __defaultVhost__ {\n" + transcode(SMALL.replace("engine ff", "engine gg")) + "}\n")
        live.process.send_signal(signal.SIGHUP)
        wait_until(lambda: names(live) == {"cam", "cam_gg"}, 30, lambda: f"{names(live)}; {live.log()[-1500:]}")


def test_a_killed_server_leaves_no_child(mortal, clip):
    live = mortal(transcode())
    publisher = FfmpegPublisher(live.url("cam"), clip("ladder"))
    wait_until(lambda: "cam_ff" in names(live), 30, "the stream")
    (child,) = ffmpegs(live)
    live.kill()
    wait_until(lambda: is_gone(child), 5, "the end of ffmpeg")
    publisher.kill()


def test_on_demand_it_runs_while_somebody_plays(server, clip):
    live = server("http_remux { enabled on; }\n" + transcode(more="ffmpeg ./objs/ffmpeg/bin/ffmpeg; on_demand on;"))
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: entries(live) and entry(live)["state"] == "idle", 40, "an engine without players")
        assert ffmpegs(live) == [] and entry(live)["starts"] == 0
        for starts, url in enumerate((live.url("cam_ff"), f"http://127.0.0.1:{live.ports['http']}/live/cam_ff.flv"), 1):
            assert shape(url) == [("aac", "44100"), ("h264", 320)]
            assert entry(live)["starts"] == starts
            wait_until(lambda: entry(live)["state"] == "idle" and not ffmpegs(live) and names(live) == {"cam"}, 40, "its end after the last player")


@pytest.mark.long
def test_with_several_workers_the_one_with_the_publisher_encodes(server, clip):
    live = server(transcode(), environment={"SRS_WORKERS": "3"})
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: "cam_ff" in names(live), 30, lambda: live.log()[-2000:])
        for _ in range(4):  # the kernel chooses the worker
            assert shape(live.url("cam_ff")) == [("aac", "44100"), ("h264", 320)]
        assert len(ffmpegs(live)) == 1 and [one["starts"] for one in entries(live)] == [1]
    wait_until(lambda: not ffmpegs(live) and not names(live), 20, "the end of ffmpeg and its stream")


@pytest.mark.parametrize("times", [12, pytest.param(200, marks=pytest.mark.long)])
def test_publishers_that_come_and_go_leave_nothing(server, clip, times):
    live = server(transcode(), EXPORTER)
    before = len(list(Path(f"/proc/{live.process.pid}/fd").iterdir()))
    seen: set[int] = set()
    for number in range(times):
        publisher = Publisher(live.ports["rtmp"], f"cam{number % 3}", clip("basic"))
        publisher.start()
        wait_until(lambda: entries(live), 20, "an engine")
        seen.update(ffmpegs(live))
        publisher.stop()
    wait_until(lambda: not ffmpegs(live) and not entries(live) and not names(live), 30, "the end of all, without a zombie")
    wait_until(lambda: len(list(Path(f"/proc/{live.process.pid}/fd").iterdir())) <= before + 2, 20, "the end of all descriptors")
    assert all(is_gone(pid) for pid in seen)
    starts = int(re.search(r"^millrace_transcode_starts_total (\d+)", metrics(live), re.M)[1])
    assert starts <= 3 * 20, "ten in a minute for each of three streams"
