"""Publishing: one publisher at a time, a takeover only with `takeover on`, and only under a valid name."""

import socket
import struct
import time

import pytest

from live_server import Stopwatch, wait_until
from rtmp_client import AUDIO, COMMAND, VIDEO, Bystander, Closed, Player, Publisher, RtmpClient, amf0, encode_message, is_welcome, read_flv

pytestmark = pytest.mark.workers


def test_a_second_publisher_is_refused_with_a_reason(server, clip):
    live = server()
    with Bystander(live.ports["rtmp"], clip("basic"), stream="cam"):
        with RtmpClient(live.ports["rtmp"]) as newcomer:
            status = newcomer.publish("cam")
            assert status["level"] == "error", status
            assert status["code"].startswith("NetStream.Publish."), status
            assert status["code"] != "NetStream.Publish.Start"
            assert status.get("description"), "the refusal must say why"
            newcomer.wait_closed(15)


@pytest.mark.parametrize("conf", ["", "publish { mr on; mr_latency 350; }"], ids=["tick", "mr"])
@pytest.mark.parametrize("is_reset", [False, True], ids=["fin", "rst"])
def test_a_publisher_that_returns_at_once_is_let_in(server, clip, conf, is_reset):
    live = server(conf)
    tags = read_flv(clip("basic"))[:30]

    def is_published() -> bool:
        return any(one["publish"]["active"] and one["video"] for one in live.api("/api/v1/streams/")["streams"])

    for attempt in range(6):
        with RtmpClient(live.ports["rtmp"]) as publisher:
            status = publisher.publish("cam")
            assert status["code"] == "NetStream.Publish.Start", (attempt, status)
            for tag in tags:
                publisher.send_message(tag.type, tag.payload, tag.timestamp)
            wait_until(is_published, 15, "the stream has media")
            if is_reset:
                publisher.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.workers(always=True)
def test_takeover_lets_the_newcomer_replace_the_old_one(server, clip):
    live = server("publish { takeover on; }")
    old = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    old.start()
    player = Player(live.ports["rtmp"], "cam")
    player.start()
    wait_until(lambda: len(player.messages) > 60, 15, "it plays")
    new = Publisher(live.ports["rtmp"], "cam", clip("bframes"))
    assert new.status["code"] == "NetStream.Publish.Start"
    new.start()
    old.join(15)
    assert isinstance(old.error, (Closed, OSError)), "the old publisher is still connected"
    wait_until(lambda: player.error or sum(m.mark() in set(new.sent) - set(old.sent) for m in list(player.messages)) > 50, 15,
               "the newcomer's stream for the player", 0.5)
    new.stop()
    player.stop()
    assert player.error is None


def test_a_publisher_may_publish_again_on_the_same_connection(server, clip):
    live = server()
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"
        client.call("FCUnpublish", 6, None, "cam")
        assert client.read_command("onFCUnpublish")[3]["code"] == "NetStream.Unpublish.Success"
        client.call("FCPublish", 7, None, "cam2")
        client.call("publish", 8, None, "cam2", "live", stream_id=1)
        codes = [client.read_status()["code"] for _ in range(2)]
        assert "NetStream.Publish.Start" in codes


def test_the_end_of_one_publish_and_the_next_may_come_in_one_segment(server):
    live = server()
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"
        calls = [("FCUnpublish", 6, "cam"), ("FCPublish", 7, "cam2"), ("publish", 8, "cam2")]
        client.send(b"".join(encode_message(COMMAND, 0, amf0(name) + amf0(number) + amf0(None) + amf0(stream))
                             for name, number, stream in calls))
        assert client.read_command("onFCUnpublish")[3]["code"] == "NetStream.Unpublish.Success"
        codes = [client.read_status()["code"] for _ in range(2)]
        assert codes == ["NetStream.Unpublish.Success", "NetStream.Publish.Start"]
        assert any(s["name"] == "cam2" and s["publish"]["active"] for s in live.api("/api/v1/streams")["streams"])


@pytest.mark.parametrize("name", ["../../etc", "..", "a/../b", "cam\x00", "a" * 300, "cam<script>", "caf\u0085"])
def test_a_name_outside_the_allow_list_is_refused(server, clip, name):
    live = server()
    with Bystander(live.ports["rtmp"], clip("basic")):
        with RtmpClient(live.ports["rtmp"]) as client:
            status = client.publish(name)
            assert status["level"] == "error" and status["code"] != "NetStream.Publish.Start", status
            client.wait_closed(15)


def test_a_bad_app_is_refused_in_the_connect(server):
    live = server()
    with RtmpClient(live.ports["rtmp"]) as client:
        client.handshake()
        client.set_chunk_size(60000)
        client.call("connect", 1, {"app": "../../etc", "tcUrl": f"rtmp://127.0.0.1:{client.port}/../../etc"})
        try:
            while True:
                message = client.read_message()
                if message.type == 20 and message.command()[0] != "onBWDone":
                    break
            name = message.command()[0]
            assert name != "_result" or client.publish("x")["level"] == "error"
        except (Closed, TimeoutError):
            pass
    live.assert_alive()


def test_a_publisher_that_sends_nothing_is_closed_in_time(server):
    live = server("publish { firstpkt_timeout 1500; normal_timeout 1500; }")
    with RtmpClient(live.ports["rtmp"]) as client:
        start, watch = time.monotonic(), Stopwatch(live)
        client.publish("cam")
        client.wait_closed(30)
        assert 1.0 < time.monotonic() - start and watch.seconds() < 8


def test_kickoff_for_idle_closes_a_publisher_without_players(server, clip):
    live = server("publish { kickoff_for_idle 2; }")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    publisher.join(20)
    assert publisher.error is not None, "still publishing after 20 s without a player"


def come_in(live) -> RtmpClient | None:
    client = RtmpClient(live.ports["rtmp"])
    try:
        client.handshake()
    except (Closed, OSError):
        client.close()
        return None
    return client


@pytest.mark.workers(always=True)
def test_max_connections_closes_the_next_one(server):
    live = server(root="")
    live.stop()
    live = server(conf="listen 127.0.0.1:$rtmp; max_connections 5; daemon off; srs_log_tank console; pid $folder/srs.pid;"
                       "http_api { enabled on; listen 127.0.0.1:$api; } vhost __defaultVhost__ {}")
    # Each has its place, whichever worker it is at, once that which looked whether the server serves has left.
    clients = [wait_until(lambda: come_in(live), 15, "there is a place") for _ in range(5)]
    with RtmpClient(live.ports["rtmp"]) as last:
        last.wait_closed(10)
    for client in clients:
        client.close()
    wait_until(lambda: is_welcome(live), 15, "there is room again")


def test_a_stream_named_by_app_and_tcurl_alone_is_published_and_played(server, clip):
    """As gortmplib asks (MediaMTX) when its URL ends in a slash: app=live/cam, tcUrl ends in it, the name is empty."""
    live = server()
    publisher = Publisher(live.ports["rtmp"], "", clip("basic"), app="live/cam")
    assert publisher.status["code"] == "NetStream.Publish.Start", publisher.status
    publisher.start()
    for stream, app in (("", "live/cam"), ("?token=x", "live/cam/"), ("cam", "live"), ("", "live/cam?token=x&vhost=127.0.0.1")):
        with RtmpClient(live.ports["rtmp"]) as client:
            status = client.play(stream, app)
            assert status["code"] == "NetStream.Play.Start", (app, stream, status)
            while client.read_message().type not in (AUDIO, VIDEO):  # or it times out
                pass
    publisher.stop()
    for name in ("play", "publish"):
        with RtmpClient(live.ports["rtmp"]) as client:
            status = getattr(client, name)("", "live")
            assert status["level"] == "error" and "a stream name is required" in status["description"], status
            client.wait_closed(15)


@pytest.mark.parametrize("latency", ["", "mr on; mr_latency 350;", "mr on; mr_latency 2000;"])
def test_a_publisher_on_a_tick_may_send_fast(server, latency):
    live = server(f"publish {{ {latency} }}")
    picture = bytes([0x27, 1, 0, 0, 0]) + bytes(1_000_000)
    with RtmpClient(live.ports["rtmp"], timeout=20) as client:
        assert client.publish("cam")["code"] == "NetStream.Publish.Start"
        client.send_message(VIDEO, bytes([0x17]) + picture[1:])
        time.sleep(0.3)  # the tick begins with the first packet
        start, sent, watch = time.monotonic(), 0, Stopwatch(live)
        while time.monotonic() - start < 4:
            client.send_message(VIDEO, picture, 40 * sent)
            sent += 1
        mbps = sent * len(picture) * 8 / 1e6 / watch.seconds()
    print(f"{latency or 'plain'}: {mbps:.0f} Mbps")
    assert mbps > 150, f"{mbps:.0f} Mbps"


def test_an_encoder_of_b_frames_gets_a_warning(server, clip):
    live = server("rtc { enabled on; rtmp_to_rtc on; }", "rtc_server { enabled on; listen 127.0.0.1:$udp; }")
    with RtmpClient(live.ports["rtmp"]) as encoder:
        assert encoder.publish("cam")["code"] == "NetStream.Publish.Start"
        for tag in read_flv(clip("bframes"))[:200]:
            encoder.send_message(tag.type, tag.payload, tag.timestamp)
        told = encoder.read_status()
        assert (told["code"], told["level"]) == ("NetStream.Publish.BFrames", "warning") and "set 0 B-frames" in told["description"]
