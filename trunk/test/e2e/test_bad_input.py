"""Bad input: the answer is a closed connection and one log line; the server lives and another stream loses nothing."""

import os
import random
import re
import struct
import time
import urllib.request

import pytest

from bystander_watch import Watch
from live_server import LiveServer, conf, wait_until
from rtmp_client import AUDIO, COMMAND, DATA, USER_CONTROL, Bystander, Closed, RtmpClient, amf0, amf0_key, encode_message
from transport_stream import TransportStream, UdpSender

pytestmark = pytest.mark.workers

CLOSES_WITHIN_S = 5


def assert_closed(client: RtmpClient, limit_s: float = CLOSES_WITHIN_S) -> None:
    try:
        client.wait_closed(limit_s)
    except TimeoutError:
        raise AssertionError(f"not closed within {limit_s} s") from None


def test_random_bytes(server, clip):
    live = server()
    noise = random.Random(7)
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        for _ in range(20):
            with RtmpClient(live.ports["rtmp"]) as client:
                try:
                    client.send(bytes([noise.randrange(256)]) + noise.randbytes(noise.randrange(1537, 20000)))
                except Closed:
                    pass
                client.socket.shutdown(1)
                assert_closed(client)
        watch.done(20, expect_complaint=False)


def test_random_bytes_after_the_handshake(server, clip):
    live = server()
    noise = random.Random(8)
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        for _ in range(20):
            with RtmpClient(live.ports["rtmp"]) as client:
                client.handshake()
                try:
                    client.send(noise.randbytes(30000))
                    client.socket.shutdown(1)
                except (Closed, OSError):
                    pass
                assert_closed(client)
        watch.done(20, expect_complaint=False)


def test_another_protocol_on_the_rtmp_port(server):
    live = server()
    watch = Watch(live)
    for words in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + b"x" * 2000, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(1600)):
        with RtmpClient(live.ports["rtmp"]) as client:
            client.send(words)
            assert_closed(client)
    watch.done(2)


HANDSHAKE_CUTS = [0, 1, 2, 5, 9, 100, 767, 1535, 1536, 1537, 1538, 1600, 2304, 3000, 3072, 3073]


def test_a_handshake_cut_at_any_length(server, clip):
    live = server()
    whole = b"\x03" + bytes(8) + os.urandom(1528) + os.urandom(1536)
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        for cut in HANDSHAKE_CUTS:
            with RtmpClient(live.ports["rtmp"]) as client:
                client.send(whole[:cut])
                client.socket.shutdown(1)
                assert_closed(client)
        watch.done(len(HANDSHAKE_CUTS), expect_complaint=False)


@pytest.mark.long
def test_a_handshake_cut_at_every_length(server, clip):
    live = server()
    whole = b"\x03" + bytes(8) + os.urandom(1528) + os.urandom(1536)
    with Bystander(live.ports["rtmp"], clip("basic")):
        for cut in range(len(whole) + 1):
            with RtmpClient(live.ports["rtmp"]) as client:
                client.send(whole[:cut])
                client.socket.shutdown(1)
                assert_closed(client)
    live.assert_alive()


def type0(csid: int, length: int, kind: int, stream: int = 0, time_field: int = 0) -> bytes:
    return bytes([csid]) + time_field.to_bytes(3, "big") + length.to_bytes(3, "big") + bytes([kind]) + stream.to_bytes(4, "little")


def deep_object(levels: int) -> bytes:
    return amf0("connect") + amf0(1) + b"\x03" + (amf0_key("a") + b"\x03") * levels


def long_string(claimed: int) -> bytes:
    return amf0("connect") + amf0(1) + b"\x0c" + struct.pack(">I", claimed) + b"abc"


def message(payload: bytes, kind: int = COMMAND) -> bytes:
    return type0(2, 4, 1) + struct.pack(">I", 60000) + type0(3, len(payload), kind) + payload


# What is sent after a good handshake; each must close the connection with one complaint.
BAD_CHUNKS = {
    "a message of 16 MB": type0(3, 0xFFFFFF, 9) + bytes(128),
    "a message just over 10 MiB": type0(3, 10 * 1024 * 1024 + 1, 9) + bytes(128),
    "a string that claims 4 GB": message(long_string(0xFFFFFFFF)),
    "an array that claims 4 billion values": message(amf0("connect") + amf0(1) + b"\x0a\xff\xff\xff\xff\x05"),
    "AMF nested 10,000 deep": message(deep_object(10_000)),
    "a chunk size of 1": type0(2, 4, 1) + struct.pack(">I", 1) + type0(3, 4, COMMAND) + b"\x02\x00\x01a",
    "a chunk size of 0": type0(2, 4, 1) + struct.pack(">I", 0) + type0(3, 4, COMMAND) + b"\x02\x00\x01a",
    "type 3 before any header": bytes([0xC0 | 9]) + bytes(200),
    "type 2 before any header": bytes([0x80 | 9]) + bytes(200),
    "a new header inside a message": type0(3, 1000, COMMAND) + bytes(128) + type0(3, 900, COMMAND) + bytes(128),
    "a command that is no AMF": message(b"\xff" * 50),
    "a truncated connect": message(amf0("connect") + amf0(1) + b"\x03" + amf0_key("app") + b"\x02\x00\x20li"),
    "a connect without tcUrl": message(amf0("connect") + amf0(1) + amf0({"app": "live"})),
    "hundreds of chunk streams": b"".join(bytes([0, n]) + (0).to_bytes(3, "big") + (1000).to_bytes(3, "big") + bytes([9, 0, 0, 0, 0]) + bytes(128)
                                          for n in range(250)),
}


@pytest.fixture(name="one_server", scope="module")
def fixture_one_server(tmp_path_factory, clip, workers):  # pylint: disable=unused-argument
    """For several tests; the bystander plays through all of them."""
    live = LiveServer(tmp_path_factory.mktemp("one_server"), conf()).start()
    try:
        with Bystander(live.ports["rtmp"], clip("basic")):
            yield live
        live.stop()
    finally:
        live.kill()


@pytest.mark.parametrize("case", list(BAD_CHUNKS))
def test_bad_chunks(one_server, case):
    watch = Watch(one_server)
    for _ in range(3):
        with RtmpClient(one_server.ports["rtmp"]) as client:
            client.handshake()
            try:
                client.send(BAD_CHUNKS[case])
            except Closed:
                pass
            assert_closed(client)
    watch.done(3)


def test_garbage_from_a_publisher_ends_only_that_publisher(server, clip):
    live = server()
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        with RtmpClient(live.ports["rtmp"]) as client:
            assert client.publish("bad")["level"] == "status"
            client.send_message(9, b"\x17\x00\x00\x00\x00\xff\xff")  # A sequence header of nonsense is the players' problem.
            client.send_message(9, b"")
            client.send_message(8, b"")
            client.send_message(18, b"\xff\xff\xff")
            client.send(bytes([0xC0 | 33]) + bytes(300))
            assert_closed(client)
        watch.done(3, expect_complaint=False)


@pytest.mark.parametrize("count", [pytest.param(300, id="300"), pytest.param(2000, id="2000", marks=pytest.mark.long)])
def test_connections_that_say_nothing_are_freed(server, clip, count):
    live = server(conf="listen 127.0.0.1:$rtmp; max_connections 5000; daemon off; srs_log_tank console; pid $folder/srs.pid;"
                       "http_api { enabled on; listen 127.0.0.1:$api; } vhost __defaultVhost__ {}")
    with Bystander(live.ports["rtmp"], clip("basic")):
        before = live.connections()
        silent = [RtmpClient(live.ports["rtmp"]) for _ in range(count)]
        wait_until(lambda: live.connections() >= before + count, 20, f"{count} connections")
        start = time.monotonic()
        wait_until(lambda: live.connections() <= before, 60, "the silent connections are closed", 0.5)
        assert time.monotonic() - start > 20, "closed before the 30 s that a slow client is given"
        for client in silent:
            assert_closed(client, 1)
            client.close()


def test_pings_without_a_reader_cost_little(server, clip):
    """A player of a stream that never comes asks for ever and reads nothing: it goes before that costs memory."""
    live = server()
    ping = encode_message(USER_CONTROL, 0, b"\0\x06" + bytes(4), stream_id=0, chunk_stream=2) * 5000
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        with RtmpClient(live.ports["rtmp"], receive_buffer=4096) as client:
            client.play("nobody")
            client.socket.settimeout(10)
            with pytest.raises((Closed, OSError)):
                for _ in range(600):
                    client.send(ping)
            assert live.resident_kib() - watch.kib < 8 * 1024
        watch.done(1)


def test_slow_but_honest_bytes_are_understood(server, clip):
    """The other side of the coin: one byte at a time is slow, not wrong."""
    live = server()
    with RtmpClient(live.ports["rtmp"]) as client:
        hello = b"\x03" + bytes(8) + os.urandom(1528)
        for at in range(0, len(hello), 7):
            client.send(hello[at:at + 7])
            time.sleep(0.0005)
        answer = client._take(1 + 1536 + 1536)  # pylint: disable=protected-access
        client.send(answer[1:1537])
        connect = amf0("connect") + amf0(1) + amf0({"app": "live", "tcUrl": f"rtmp://127.0.0.1:{client.port}/live"})
        for byte in message(connect):
            client.send(bytes([byte]))
            time.sleep(0.0005)
        assert client.read_command("_result")[3]["code"] == "NetConnection.Connect.Success"


def test_repeated_messages_of_a_publisher_are_throttled_in_the_log(server):
    live = server("", "stream_caster { enabled on; caster mpegts_over_udp; output rtmp://127.0.0.1/live/cast; listen 127.0.0.1:$caster; }")
    name, empty = amf0("onMetaData"), b"\x03\x00\x00\x09"
    with RtmpClient(live.ports["rtmp"]) as client:
        client.publish("cam")
        for i in range(500):
            client.send(encode_message(AUDIO, i, bytes([0xAF, 0, 0x12, 0x10 + 8 * (i % 2)])) + encode_message(DATA, i, name + empty))
    live.wait_log("cleanup when unpublish", 15)
    for what in ("got metadata", "audio sh, codec"):
        assert 10 <= live.log().count(what) <= 20, what
    with UdpSender(live.ports["caster"]) as sender:
        stream = TransportStream()
        for i in range(200):
            sender.send(stream.frame(i, 40 * i, 200))
            sender.send(stream.tables(1 + i % 31, [(0xE100, 0x1B), *((0xE101 + pid, (0x0F, 0x03)[i % 2]) for pid in range(12))]))
        wait_until(lambda: any(one["frames"] >= 190 for one in live.api("/api/v1/streams/")["streams"]), 15, "all is taken")
        assert 10 <= live.log().count("mpegts: got") <= 20


@pytest.mark.one_worker("each worker writes so many lines")
def test_a_flood_of_bad_clients_is_a_few_lines_of_the_log(server):
    live = server("", "exporter { enabled on; listen 127.0.0.1:$exporter; }")
    began = time.monotonic()
    for _ in range(300):
        with RtmpClient(live.ports["rtmp"]) as client:
            client.handshake()
            client.send(type0(3, 20, COMMAND) + b"\xff" * 20)
            client.wait_closed(CLOSES_WITHIN_S)
    took = time.monotonic() - began
    live.wait_log("more like this were left out", 20)
    assert len(live.complaints()) < 160 + 10 * took, "a hundred at once, then ten a second"
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=10) as answer:
        left_out = re.search(r"^millrace_log_lines_left_out_total (\d+)$", answer.read().decode(), re.M)
    wait_until(lambda: int(left_out[1]) + len(live.complaints()) >= 300, 10, "lines, or their number")
