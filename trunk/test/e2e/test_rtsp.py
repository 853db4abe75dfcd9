"""RTSP: ffmpeg and GStreamer publish and play over the connection and over UDP; what comes by one protocol plays by the others; and the requests
that no program sends."""

import concurrent.futures
import json
import re
import signal
import socket
import subprocess
import time
import urllib.request

import play_check
import pytest
from hook_server import Answer, HookServer
from live_server import installed, wait_until
from players import FfmpegPublisher, wait_playable
from rtsp_stage import Client, Publisher, clients, play, rtsp_url, start, streams, wait_published

pytestmark = [pytest.mark.workers, pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")]


def beside(*calls) -> list:
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


def kick(live, client_id: str) -> None:
    address = f"http://127.0.0.1:{live.ports['api']}/api/v1/clients/{client_id}"
    with urllib.request.urlopen(urllib.request.Request(address, method="DELETE"), timeout=5) as answer:
        assert json.load(answer)["code"] == 0


def http(live, path: str) -> str:
    return f"http://127.0.0.1:{live.ports['http']}/live/{path}"


def test_an_rtsp_stream_plays_over_every_protocol(server, clip):
    live = start(server)
    with Publisher(rtsp_url(live), clip("basic")) as publisher:
        wait_published(live)
        wait_playable(http(live, "cam.m3u8"), 40)
        urls = [live.url("cam"), http(live, "cam.flv"), http(live, "cam.m3u8")]
        played = beside(lambda: play(rtsp_url(live)), *(lambda url=url: play_check.play(url, 5) for url in urls))
        sender = clients(live, "rtsp-publish")
    assert [one.problems() for one in played] == [[], [], [], []]
    assert len(sender) == 1 and sender[0]["publish"] and sender[0]["ip"] == "127.0.0.1" and sender[0]["recv_bytes"] > 100_000
    assert "Broken pipe" not in publisher.said()
    wait_until(lambda: not streams(live), 30, "the stream ends with its publisher")
    live.wait_log("cleanup when unpublish, url=/live/cam")


def test_an_rtmp_stream_plays_by_rtsp_from_a_key_frame_on(server, clip):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        played = play(rtsp_url(live), 5)
        with Client(live) as client:
            headers = client.play(rtsp_url(live))
            while client.frames < 3:
                client.skip_frame()
        player = clients(live, "rtsp-play")
    assert played.problems() == []
    assert re.fullmatch(r"url=\S+/trackID=0;seq=\d+;rtptime=\d+", headers["rtp-info"]) and headers["range"] == "npt=now-"
    assert len(player) <= 1
    live.wait_log("RTSP: PLAY url=/live/cam")


@pytest.mark.one_worker("several workers: a stream that none of them has is refused after their own wait")
def test_a_player_waits_for_its_publisher_and_ends_with_it(server, clip):
    live = start(server, rtsp="publisher_wait 30000;")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        player = pool.submit(play, rtsp_url(live), 30)
        wait_until(lambda: clients(live, "rtsp-play"), 20, "the player waits")
        with FfmpegPublisher(live.url("cam"), clip("basic")):
            live.wait_log("streaming started", 30)
            time.sleep(2)  # of media
        playback = player.result()
    assert len(playback.video.times) > 25 and not playback.timed_out and playback.complaints == []


def test_refusals_have_their_status(server, clip):
    live = start(server, rtsp="publisher_wait 0;", vhost="} vhost closed.example { rtsp { enabled off; }")
    with Client(live) as client:
        assert client.request("OPTIONS", "*")[1]["public"].startswith("OPTIONS, DESCRIBE")
        assert client.request("DESCRIBE", rtsp_url(live))[0] == 404
    with Client(live) as client:
        assert client.request("DESCRIBE", rtsp_url(live, query="?vhost=closed.example"))[0] == 403
    with Client(live) as client:
        assert client.request("DESCRIBE", f"rtsp://127.0.0.1:{live.ports['rtsp']}/cam")[0] == 403
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        with Client(live) as client:
            assert client.request("PLAY", rtsp_url(live))[0] == 455
            headers = client.play(rtsp_url(live))
            assert "rtp-info" in headers
            assert client.request("GET_PARAMETER", rtsp_url(live))[0] == 200
            assert client.request("GET_PARAMETER", rtsp_url(live), Session="another")[0] == 454
            assert client.request("PAUSE", rtsp_url(live))[0] == 200
            assert client.request("PLAY", rtsp_url(live))[0] == 200
            client.skip_frame()
            assert client.request("TEARDOWN", rtsp_url(live))[0] == 200
        with Publisher(rtsp_url(live), clip("basic")) as second:
            assert second.process.wait(20) != 0, "the stream is published already"
    live.assert_alive()


def test_callbacks_decide_and_clients_can_be_kicked(server, clip):
    with HookServer() as hooks:
        live = start(server, vhost=hooks.conf())
        with Publisher(rtsp_url(live, query="?token=a"), clip("basic")), Client(live) as client:
            wait_published(live)
            client.play(rtsp_url(live, query="?token=b"))
            found = clients(live, "rtsp-play")
            assert len(found) == 1
            kick(live, found[0]["id"])
            wait_until(lambda: not clients(live, "rtsp-play"), 20, "the player is gone")
        hooks.wait_for("on_stop")
        hooks.wait_for("on_unpublish")
        assert hooks.first("on_publish").body["param"] == "?token=a" and hooks.first("on_play").body["param"] == "?token=b"
        hooks.answers["on_publish"] = hooks.answers["on_play"] = Answer(body="1")
        with Publisher(rtsp_url(live), clip("basic")) as refused, Client(live) as client:
            assert client.request("DESCRIBE", rtsp_url(live))[0] == 403
            assert refused.process.wait(20) != 0


@pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer")
def test_gstreamer_plays(server, clip, tmp_path):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        target = tmp_path / "played.h264"
        command = ["timeout", "-s", "INT", "8", "gst-launch-1.0", "-e", "rtspsrc", f"location={rtsp_url(live)}", "protocols=tcp", "latency=100", "!",
                   "rtph264depay", "!", "h264parse", "!", "video/x-h264,stream-format=byte-stream", "!", "filesink", f"location={target}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "ERROR" not in done.stdout + done.stderr, done.stdout + done.stderr
    probe = subprocess.run(["ffmpeg", "-v", "error", "-i", str(target), "-f", "null", "-"], capture_output=True, text=True, check=False)
    assert probe.stderr == "" and target.stat().st_size > 50_000


def test_udp_both_ways(server, clip):
    live = start(server)
    with Publisher(rtsp_url(live), clip("basic"), transport="udp"):
        wait_published(live)
        by_udp, by_rtmp = beside(lambda: play(rtsp_url(live), 5, transport="udp"), lambda: play_check.play(live.url("cam"), 5))
    # A client that gets no CPU for a while loses what its receive buffer does not hold.
    for played in (by_udp, by_rtmp):
        assert played.loudness_db > -60 and len(played.frames) > 5 * 25 // 2 and not played.timed_out, played.problems()
        assert min(played.video.gaps()) > 0 and min(played.audio.gaps()) > 0, played.problems()
    live.wait_log("transport=udp")


@pytest.mark.long
@pytest.mark.one_worker("each worker has UDP ports of its own, and knows the clients of those")
def test_a_player_that_never_sends_stays_over_tcp_only(server, clip):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")), Client(live) as by_tcp, Client(live) as by_udp:
        wait_published(live)
        by_tcp.play(rtsp_url(live))
        by_udp.play(rtsp_url(live), "RTP/AVP;unicast;client_port=20000-20001")
        assert len(clients(live, "rtsp-play")) == 2

        def is_alone() -> bool:
            for _ in range(20):
                by_tcp.skip_frame()
            return len(clients(live, "rtsp-play")) == 1

        wait_until(is_alone, 150, "the player over UDP is ended for its silence")
        live.wait_log("the player is silent")
        for _ in range(100):
            by_tcp.skip_frame()
        assert len(clients(live, "rtsp-play")) == 1


@pytest.mark.one_worker("each worker has UDP ports of its own, and knows the clients of those")
def test_media_over_udp_is_for_the_address_of_the_connection(server, clip):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rtp, Client(live) as client:
        wait_published(live)
        rtp.bind(("127.0.0.1", 0))
        rtp.settimeout(20)
        port = rtp.getsockname()[1]
        client.play(rtsp_url(live), f"RTP/AVP;unicast;destination=127.0.0.2;client_port={port}-{port + 1}")
        packet, sender = rtp.recvfrom(2048)
        assert packet[0] == 0x80 and packet[1] & 0x7F == 96 and sender[0] == "127.0.0.1"
        with Client(live) as second:
            status, headers, _ = second.request("DESCRIBE", rtsp_url(live))
            assert status == 200
            taken = f"RTP/AVP;unicast;client_port={port}-{port + 1}"
            assert second.request("SETUP", headers["content-base"] + "trackID=0", Transport=taken)[0] == 461
            assert second.request("SETUP", headers["content-base"] + "trackID=0", Transport="RTP/AVP;multicast")[0] == 461


def test_over_tls(server, clip, certificate):
    key, cert = certificate
    live = start(server, root=f"}} rtsps {{ enabled on; listen 127.0.0.1:$rtsps; key {key}; cert {cert};")
    url = f"rtsps://127.0.0.1:{live.ports['rtsps']}/live/cam"
    with Publisher(url, clip("basic")):
        wait_published(live)
        assert play(url, 4).problems() == []
        assert clients(live, "rtsp-publish")


def test_the_doctor_tries_each_address(server, certificate):
    key, cert = certificate
    live = start(server, root=f"}} rtsps {{ enabled on; listen 127.0.0.1:$rtsps; key {key}; cert {cert};")
    found = live.api("/api/v1/doctor/rtsp", 10)["data"]
    assert found["enabled"] and found["ok"], found
    assert [(one["port"], one["transport"], one["ok"]) for one in found["addresses"]] == [(live.ports["rtsp"], "tcp", True), (live.ports["rtsps"], "tls", True)]
    off = server(root="rtsp_server { enabled off; }")
    assert not off.api("/api/v1/doctor/rtsp", 10)["data"]["enabled"]


def access_lines(live) -> list[dict]:
    log = live.folder / "objs/access.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_sessions_are_in_the_access_log_and_obey_reload(server, clip):
    live = start(server)
    url = rtsp_url(live)
    with Publisher(url, clip("basic")):
        wait_published(live)
        with Client(live) as player, Client(live) as second:
            player.play(url)
            second.play(url)
            conf = live.conf_path.read_text()
            assert "rtsp { enabled on;" in conf
            live.conf_path.write_text(conf.replace("rtsp { enabled on;", "rtsp { enabled off;", 1))
            live.process.send_signal(signal.SIGHUP)
            live.wait_log("reload finished, code=0", 15)
            player.skip_frame()
        with Client(live) as late:
            assert late.request("DESCRIBE", url)[0] == 403
    found = wait_until(lambda: (lambda lines: lines if len(lines) >= 4 else None)(access_lines(live)), 20, "four lines")
    assert sorted((line["protocol"], line["role"], line["result"]) for line in found) == [
        ("rtsp", "play", "ended"), ("rtsp", "play", "ended"), ("rtsp", "play", "refused"), ("rtsp", "publish", "ended")], found
    assert all(line["sent_bytes"] > 1_000 for line in found if line["role"] == "play" and line["result"] == "ended")


def test_a_camera_is_pulled_without_ffmpeg(server, clip):
    camera = start(server)
    source = rtsp_url(camera, query="?token=a").replace("://", "://user:secret@")
    ingest = f"ingest door {{ enabled on; input {{ type stream; url {source}; }} ffmpeg /bin/false; "
    ingest += "engine { enabled off; output rtmp://127.0.0.1:[port]/live/door?vhost=[vhost]; } }"
    live = start(server, vhost=ingest)
    live.wait_log("IGS retry", 20)
    with FfmpegPublisher(camera.url("cam"), clip("basic")):
        wait_published(live, "door")
        played = beside(lambda: play_check.play(live.url("door"), 5), lambda: play(rtsp_url(live, "door"), 5))
        pulled = clients(live, "rtsp-publish")
        assert [one.problems() for one in played] == [[], []]
        assert len(pulled) == 1 and pulled[0]["recv_bytes"] > 100_000
    wait_until(lambda: not streams(live), 30, "the pull ends with the camera's stream")
    assert "secret" not in live.log()
