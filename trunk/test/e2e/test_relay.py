"""Streams that the server carries by itself: forwarding to another server and ingest of a file."""

import signal
import time
from pathlib import Path

import pytest

import play_check
from live_server import TRUNK, LiveServer, Ports, conf, free_port, wait_until
from players import FfmpegPublisher, wait_playable
from rtmp_client import Player, Publisher


@pytest.mark.parametrize("form", ["forward { enabled on; destination 127.0.0.1:%d; }", "forward 127.0.0.1:%d;"], ids=["block", "legacy"])
def test_forward_carries_a_stream_to_another_server(server, clip, form):
    slave = server()
    master = server(form % slave.ports["rtmp"])
    with FfmpegPublisher(master.url("cam"), clip("basic")):
        wait_playable(slave.url("cam"), 25)
        assert play_check.play(slave.url("cam"), 6).problems() == []


def test_forward_returns_when_its_destination_does(server, clip, tmp_path):
    port = free_port()
    master = server(f"forward {{ enabled on; destination 127.0.0.1:{port}; }}")
    with FfmpegPublisher(master.url("cam"), clip("basic")):
        player = Player(master.ports["rtmp"], "cam")
        player.start()
        time.sleep(2)
        slave = LiveServer(tmp_path / "slave", conf(), ports=Ports(rtmp=port)).start()
        try:
            wait_playable(slave.url("cam"), 40)
            slave.stop()
        finally:
            slave.kill()
        time.sleep(1)
        assert player.error is None
        gaps = [b.arrived - a.arrived for a, b in zip(player.messages, player.messages[1:])]
        player.stop()
        # The new server's start takes the machine's time too.
        assert max(gaps) < 3.5, f"the destination's coming and going cost a player {max(gaps):.1f} s"


def test_a_forward_of_a_whip_stream_has_the_streams_name(server, clip, load):
    slave = server()
    master = server(f"rtc {{ enabled on; rtc_to_rtmp on; }} forward {{ enabled on; destination 127.0.0.1:{slave.ports['rtmp']}; }}",
                    "rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; }\n")
    whip = f"http://127.0.0.1:{master.ports['api']}/rtc/v1/whip/?app=fw&stream=w&token=x"
    publisher = load("sb_rtc_load", "-c", 1, "-s", 0, "-r", whip, "-i", clip("video"), "--silence")
    streams = wait_until(lambda: slave.api("/api/v1/streams/")["streams"], 20, "the forward")
    assert [(one["app"], one["name"]) for one in streams] == [("fw", "w")]
    slave.wait_log("param=?app=fw&stream=w&token=")
    publisher.kill()


def test_forward_to_rtmps(server, clip, certificate):
    key, cert = certificate
    slave = server(root=f"rtmps {{ enabled on; listen 127.0.0.1:$rtmps; key {key}; cert {cert}; }}\n")
    master = server(f"forward {{ enabled on; destination rtmps://127.0.0.1:{slave.ports['rtmps']}; }}", f"tls_client {{ ca_file {cert}; }}\n")
    with FfmpegPublisher(master.url("cam"), clip("basic")):
        wait_playable(slave.url("cam"), 25)


def test_forward_to_an_impostor_is_refused(server, clip, certificate):
    key, cert = certificate
    slave = server(root=f"rtmps {{ enabled on; listen 127.0.0.1:$rtmps; key {key}; cert {cert}; }}\n")
    master = server(f"forward {{ enabled on; destination rtmps://127.0.0.1:{slave.ports['rtmps']}; }}")
    publisher = Publisher(master.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    wait_until(lambda: "the certificate is not trusted" in master.log(), 20, "the forward says why")
    assert not slave.api("/api/v1/streams/")["streams"]
    publisher.stop()


def test_forward_sample_pair(tmp_path, clip):
    """The guides' pair of sample confs, on other ports by the environment."""
    names = [TRUNK / "conf" / f"forward.{role}.conf" for role in ("master", "slave")]
    if not all(path.exists() for path in names):
        pytest.fail("conf/forward.master.conf and conf/forward.slave.conf are part of the server")
    text = names[0].read_text()
    assert "19350" in text, "the master forwards to port 19350"
    slave_port = free_port()
    servers = []
    try:
        for path, port in ((names[1], slave_port), (names[0], free_port())):
            servers.append(start_sample(tmp_path / path.stem, path.read_text().replace("127.0.0.1:19350", f"127.0.0.1:{slave_port}"), port))
        slave, master = servers
        with FfmpegPublisher(master.url("livestream"), clip("basic")):
            wait_playable(slave.url("livestream"), 25)
        for one in servers:
            one.stop()
    finally:
        for one in servers:
            one.kill()


def start_sample(folder: Path, text: str, port: int) -> LiveServer:
    """A shipped conf in a folder of its own, moved to free ports by the environment as a container would."""
    api = free_port()
    (folder / "objs").mkdir(parents=True, exist_ok=True)
    for name in ("doc", "conf"):
        (folder / name).symlink_to(TRUNK / name)
    moved = {"SRS_LISTEN": f"127.0.0.1:{port}", "SRS_HTTP_API_ENABLED": "on", "SRS_HTTP_API_LISTEN": f"127.0.0.1:{api}",
             "SRS_HTTP_SERVER_ENABLED": "off", "SRS_RTC_SERVER_ENABLED": "off", "SRS_SRT_SERVER_ENABLED": "off", "SRS_RTSP_SERVER_ENABLED": "off", "SRS_DAEMON": "off",
             "SRS_SRS_LOG_TANK": "console", "SRS_PID": str(folder / "srs.pid")}
    return LiveServer(folder, text, ports=Ports(rtmp=port, api=api), environment=moved).start()


def children_of(pid: int) -> list[int]:
    text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(word) for word in text.split()]


def test_ingest_of_the_demo_conf(tmp_path):
    if not (TRUNK / "doc" / "source.flv").exists():
        pytest.fail("doc/source.flv is made by scripts/make-source.sh, which has not run")
    live = start_sample(tmp_path / "demo", (TRUNK / "conf" / "demo.conf").read_text(), free_port())
    try:
        wait_playable(live.url("livestream"), 30)
        assert play_check.play(live.url("livestream"), 6).problems(numbered=False) == []
        encoders = children_of(live.process.pid)
        assert encoders, "no ffmpeg child"
        import os
        os.kill(encoders[0], signal.SIGKILL)
        wait_until(lambda: (now := children_of(live.process.pid)) and now != encoders, 30, "a killed ffmpeg is started again")
        wait_playable(live.url("livestream"), 30)
        encoders = children_of(live.process.pid)
        live.stop()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in encoders), 15, "its ffmpeg ends with the server")
    finally:
        live.kill()
