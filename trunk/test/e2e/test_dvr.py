"""Recordings: every format, segments, a killed server, a full disk, the callback, the API, and a sample conf."""

import resource
import signal
import time

import pytest

from clips import find_new_ffmpeg
from hook_server import HookServer
from live_server import TRUNK, wait_until
from players import FfmpegPublisher
from recordings import FORMATS, SPEED, assert_decodes, duration_of, told_at, vhost, whole_files
from rtmp_client import Player


def record(live, clip, url: str) -> None:
    """Publishes until more than a second of it is on the disk."""
    with FfmpegPublisher(live.url(url), clip("basic"), speed=SPEED):
        wait_until(lambda: any(one["duration"] > 1 for one in live.api("/api/v1/dvrs")["dvrs"]), 20, "a second is recorded")


def test_each_format_records_a_publish(server, clip, tmp_path):
    root = "".join(vhost(f"{name}.test", dvr) for name, dvr in FORMATS.items())
    segments = "dvr_plan segment; dvr_duration 1; dvr_path $folder/segments/[app]/[stream]-[15][04][05][999].flv;"
    live = server(root=root + vhost("segments.test", segments))
    folder = tmp_path / "server0"
    publishers = [FfmpegPublisher(live.url(f"cam?vhost={name}.test"), clip("basic"), speed=SPEED) for name in [*FORMATS, "segments"]]

    def have_enough() -> bool:
        recordings = live.api("/api/v1/dvrs")["dvrs"]
        return sum(one["duration"] > 4 for one in recordings) >= len(FORMATS) and len(whole_files(folder / "segments")) >= 2

    wait_until(have_enough, 20, "four seconds of each, and two segments")
    for one in publishers:
        one.stop(signal.SIGINT)
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 15, "the recordings are closed")
    for name in FORMATS:
        path = folder / "rec" / f"{name}.{'flv' if name == 'flv' else 'mp4'}"
        assert 3 < duration_of(path) < 40, name
        assert_decodes(path, 70)
    flv = (folder / "rec" / "flv.flv").read_bytes()
    assert b"SRS/" in flv[:2000] and b"filepositions" in flv[:2000]
    # A key frame every two seconds, so that is how long segments are.
    parts = whole_files(folder / "segments")
    assert len(parts) >= 2
    for part in (parts[0], parts[-1]):
        assert_decodes(part, 1)
    assert all(1.5 < duration_of(part) < 2.5 for part in parts[:-1])
    assert not list(folder.rglob("*.tmp"))


@pytest.mark.long
@pytest.mark.parametrize("name, codecs", [("hevc", ["aac", "hevc"]), ("av1", ["aac", "av1"]), ("opus", ["h264", "opus"])])
def test_other_codecs_are_recorded(server, clip, tmp_path, name, codecs):
    formats = {form: FORMATS[form] for form in ("mp4", "fmp4")}
    live = server(root="".join(vhost(f"{form}.test", dvr) for form, dvr in formats.items()))
    publishers = [FfmpegPublisher(live.url(f"cam?vhost={form}.test"), clip(name), ffmpeg=find_new_ffmpeg(), speed=SPEED) for form in formats]
    wait_until(lambda: len([one for one in live.api("/api/v1/dvrs")["dvrs"] if one["duration"] > 3]) == 2, 15, "three seconds of both")
    for one in publishers:
        one.stop(signal.SIGINT)
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 15, "the recordings are closed")
    for form in formats:
        path = tmp_path / "server0" / "rec" / f"{form}.mp4"
        assert duration_of(path) > 3
        assert_decodes(path, 70, codecs)


def test_fragmented_recordings_survive_a_kill(server, clip, tmp_path):
    live = server(vhost=f"dvr {{ enabled on; {FORMATS['fmp4']} }}")
    left = tmp_path / "server0" / "rec" / "fmp4.mp4.tmp"
    publisher = FfmpegPublisher(live.url("cam"), clip("basic"), speed=SPEED)
    try:
        wait_until(lambda: left.exists() and left.stat().st_size > 150_000, 20, "some fragments are on the disk")
        live.kill()
    finally:
        publisher.kill()
    assert_decodes(left, 25)
    live.process = None


@pytest.mark.workers
def test_a_full_disk_ends_the_recording_and_not_the_stream(server, clip, tmp_path):
    with HookServer() as hooks:
        live = server(vhost="dvr { enabled on; dvr_path $folder/rec/[stream].mp4; }\n" + told_at(hooks))
        for pid in live.pids():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (130_000, 130_000))
        with FfmpegPublisher(live.url("cam"), clip("basic"), speed=SPEED):
            failed = wait_until(lambda: [one for one in live.api("/api/v1/dvrs")["dvrs"] if not one["active"]], 15, "the recording fails")
            assert "File too large" in failed[0]["error"]
            player = Player(live.ports["rtmp"], "cam")
            player.start()
            wait_until(lambda: player.messages, 10, "the stream goes on")
            player.stop()
        assert "File too large" in hooks.wait_for("on_dvr").body["error"]
    wait_until(lambda: any("File too large" in line for line in live.complaints()), 10, "a complaint")
    path = tmp_path / "server0" / "rec" / "cam.mp4"
    assert_decodes(path, 25)  # what fitted is a whole file


@pytest.mark.workers
def test_segments_continue_when_the_disk_has_space_again(server, clip):
    live = server(vhost="dvr { enabled on; dvr_plan segment; dvr_duration 1; dvr_path $folder/rec/[stream].[timestamp].mp4; }\n")
    folder = live.folder / "rec"
    folder.write_text("no folder")
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=SPEED):
        (failed,) = wait_until(lambda: [one for one in live.api("/api/v1/dvrs")["dvrs"] if one["error"]], 15, "the recording fails")
        assert failed["active"] and failed["files"] == 0
        wait_until(lambda: live.api("/api/v1/dvrs")["dvrs"][0]["file"] != failed["file"], 15, "another try")
        folder.unlink()
        wait_until(lambda: live.api("/api/v1/dvrs")["dvrs"][0]["files"] >= 2, 15, "segments")
    live.wait_log("the recording has ended")
    assert sum("the recording has ended" in line for line in live.complaints()) == 1
    for path in whole_files(folder)[:2]:
        assert_decodes(path, 10)


def test_the_callback_and_unwritable_files(server, clip, tmp_path):
    with HookServer() as hooks:
        live = server(vhost="dvr { enabled on; dvr_path ./rec/[app]/[stream].flv; dvr_apply live/cam live/no; }\n" + told_at(hooks))
        folder = tmp_path / "server0"
        (folder / "rec" / "live").mkdir(parents=True)
        (folder / "rec" / "live" / "no.flv").write_text("precious")
        others = [FfmpegPublisher(live.url(name), clip("basic"), speed=SPEED) for name in ("no", "other")]
        record(live, clip, "cam?key=1")
        hooks.wait_for("on_dvr", 2)  # one recording is complete and one failed
        for one in others:
            one.stop(signal.SIGINT)
        time.sleep(0.5)
        events = {event.body["stream"]: event.body for event in hooks.events}
    assert set(events) == {"cam", "no"}
    assert "(3082)" in events["no"]["error"]
    assert (folder / "rec" / "live" / "no.flv").read_text() == "precious"
    body = events["cam"]
    assert (body["cwd"], body["file"], body["stream_url"], body["param"]) == (str(folder), "./rec/live/cam.flv", "/live/cam", "?key=1")
    assert "error" not in body and body["tcUrl"].endswith("/live")
    assert_decodes(folder / "rec" / "live" / "cam.flv", 20)
    assert [path.name for path in whole_files(folder / "rec")] == ["cam.flv", "no.flv"]


def test_a_sample_conf_records(server, clip, tmp_path):
    text = (TRUNK / "conf" / "dvr.path.conf").read_text().replace("1935", "127.0.0.1:$rtmp")
    live = server(conf=text + "http_api { enabled on; listen 127.0.0.1:$api; }\npid $folder/srs.pid;\n")
    record(live, clip, "cam")
    (path,) = wait_until(lambda: whole_files(tmp_path / "server0" / "objs" / "dvr"), 15, "a recording")
    assert_decodes(path, 20)
