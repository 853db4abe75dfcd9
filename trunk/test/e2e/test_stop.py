"""The end of the process: how long a stop takes with clients connected, the notification of publishers, and that no recording is lost."""

import signal

import pytest

from flv_streams import CASTER, post_flv
from hook_server import HookServer
from live_server import wait_until
from players import FfmpegPublisher
from recordings import FORMATS, SPEED, assert_decodes, duration_of, told_at, vhost, whole_files
from rtmp_client import RtmpClient

GRACE = "grace_start_wait 200; grace_final_wait 700;\n"
GRACE_S = 0.9
# Beside the bound: what a loaded machine takes to write the ends of files and to go.
SLACK_S = 6.0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_every_stop_finishes_the_recordings_of_connected_publishers(server, clip, tmp_path, how):
    live = server(root=GRACE + "".join(vhost(f"{name}.test", dvr) for name, dvr in FORMATS.items()))
    publishers = [FfmpegPublisher(live.url(f"cam?vhost={name}.test"), clip("basic"), speed=SPEED) for name in FORMATS]
    try:
        wait_until(lambda: len([one for one in live.api("/api/v1/dvrs")["dvrs"] if one["duration"] > 2]) == 3, 40, "two seconds of three recordings")
        assert live.stop(how) < GRACE_S + SLACK_S
    finally:
        for one in publishers:
            one.kill()
    files = whole_files(tmp_path / "server0" / "rec")
    assert [path.name for path in files] == ["flv.flv", "fmp4.mp4", "mp4.mp4"] and not list((tmp_path / "server0").rglob("*.tmp"))
    for path in files:
        assert_decodes(path, 45)


def test_a_graceful_stop_asks_publishers_to_leave_and_then_closes_all(server):
    live = server(root=GRACE)
    with RtmpClient(live.ports["rtmp"]) as publisher, RtmpClient(live.ports["rtmp"]) as player:
        assert publisher.publish("cam")["code"] == "NetStream.Publish.Start"
        player.play("cam")
        live.process.send_signal(signal.SIGQUIT)
        told = publisher.read_status()
        assert (told["code"], told["level"]) == ("NetConnection.Connect.AppShutdown", "error") and "about to stop" in told["description"]
        # Both stay: they are closed, and the server is gone, when the time is over.
        live.process.wait(GRACE_S + SLACK_S)
    live.stop()
    assert "graceful quit closes 2 connections" in live.log() and "the server has stopped gracefully" in live.log()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGQUIT])
def test_a_stop_finishes_recordings_of_webrtc_publishers(server, clip, load, tmp_path, how):
    live = server(vhost="rtc { enabled on; rtc_to_rtmp on; } dvr { enabled on; dvr_path rec/cam.mp4; }",
                  root=GRACE + "rtc_server { enabled on; listen 127.0.0.1:$udp; }\n")
    load("sb_rtc_load", "-t", 1, "-s", 0, "-r", f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whip/?app=live&stream=cam", "-i", clip("basic"), "--silence")
    wait_until(lambda: any(one["duration"] > 1 for one in live.api("/api/v1/dvrs")["dvrs"]), 40, "a second is recorded")
    assert live.stop(how) < GRACE_S + SLACK_S
    files = whole_files(tmp_path / "server0" / "rec")
    assert [path.name for path in files] == ["cam.mp4"] and not list((tmp_path / "server0").rglob("*.tmp"))
    assert_decodes(files[0], 20)


def test_publishers_that_leave_when_they_are_asked_end_the_stop_early(server, clip):
    live = server(root="grace_start_wait 200; grace_final_wait 60000;\n" + CASTER)
    publishers = [FfmpegPublisher(live.url("rtmp"), clip("basic")), post_flv(live, clip("basic"))]
    try:
        wait_until(lambda: len([one for one in live.api("/api/v1/streams")["streams"] if one["publish"]["active"]]) == 2, 20, "both publish")
        live.stop(signal.SIGQUIT, limit_s=20)
        for one in publishers:
            one.process.wait(20)
    finally:
        for one in publishers:
            one.kill()
    assert "about to stop" in publishers[0].said(), "ffmpeg was told why"
    assert "graceful quit closes" not in live.log()


def test_the_next_start_finishes_recordings_after_a_kill(server, clip, tmp_path):
    folder = tmp_path / "server0"
    with HookServer() as hooks:
        live = server(root="".join(f"vhost {name}.test {{ dvr {{ enabled on; {dvr} }} {told_at(hooks)} }}\n" for name, dvr in FORMATS.items()))
        publishers = [FfmpegPublisher(live.url(f"cam?vhost={name}.test"), clip("basic"), speed=SPEED) for name in FORMATS]
        try:
            wait_until(lambda: len([one for one in live.api("/api/v1/dvrs")["dvrs"] if one["duration"] > 3]) == 3, 40, "three seconds of three recordings")
            live.kill()
        finally:
            for one in publishers:
                one.kill()
        assert not whole_files(folder / "rec") and len(list((folder / "srs.dvr").iterdir())) == 3
        # As a crash in the middle of a write leaves it.
        with open(folder / "rec" / "flv.flv.tmp", "ab") as left:
            left.write(b"\x09\x00\x40\x00half of a tag")
        live.start()
        files = whole_files(folder / "rec")
        assert [path.name for path in files] == ["flv.flv", "fmp4.mp4", "mp4.mp4"], "they are there when the server serves"
        for path in files:
            assert_decodes(path, 45)
            assert duration_of(path) > 2
        hooks.wait_for("on_dvr", 3)
        told = {(event.body["file"], event.body["app"], event.body["stream"]) for event in hooks.events}
    assert told == {(str(path), "live", "cam") for path in files}
    assert not list(folder.rglob("*.tmp")) and not list((folder / "srs.dvr").iterdir())
