"""The memory budget: who makes the server take much loses it with a sentence, and nobody else notices."""

import contextlib
import re
import time
import urllib.request

from live_server import LiveServer, wait_until
from rtmp_client import VIDEO, Closed, RtmpClient, encode_message

BUDGET_MIB = 64
CONF = """\
listen $rtmp;
max_connections 500;
daemon off; srs_log_tank console; pid $folder/srs.pid;
http_api { enabled on; listen $api; }
exporter { enabled on; listen 127.0.0.1:$exporter; }
limits { memory_budget 64; }
vhost __defaultVhost__ { HLS }
"""
MESSAGE = 9 << 20
SETUP = b"\x17\x00\x00\x00\x00\x01\x64\x00\x1f\xff\xe1\x00\x04\x67\x64\x00\x1f\x01\x00\x02\x68\xee"


def start(server, hls: str = "") -> LiveServer:
    return server(conf=CONF.replace("HLS", hls))


def metric(live: LiveServer, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=5) as answer:
        return float(re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.M).group(1))


def publisher(live: LiveServer, stream: str) -> RtmpClient:
    client = RtmpClient(live.ports["rtmp"])
    assert client.publish(stream)["code"] == "NetStream.Publish.Start"
    client.set_chunk_size(60000)
    return client


def send_pictures(client: RtmpClient, mib: int, first: int = 0) -> None:
    """Of half a MiB, 40 ms apart, a key picture first."""
    if first == 0:
        client.send(encode_message(VIDEO, 0, SETUP))
    for i in range(first, first + 2 * mib):
        head = (b"\x17" if i == 0 else b"\x27") + b"\x01\x00\x00\x00" + (512 * 1024 - 9).to_bytes(4, "big")
        client.send(encode_message(VIDEO, 40 * i, head + bytes([0x65 if i == 0 else 0x41]) + bytes(512 * 1024 - 10)))


def test_unfinished_messages_take_a_quarter_at_most(server):
    live = start(server)
    before = live.resident_kib()
    with contextlib.ExitStack() as stack:
        closed = 0
        for i in range(30):
            client = stack.enter_context(publisher(live, f"hoard{i}"))
            with contextlib.suppress(Closed):
                client.send(encode_message(VIDEO, 0, bytes(MESSAGE), chunk_size=60000)[:-1000])
            assert metric(live, 'millrace_memory_used_bytes{use="unfinished"}') <= BUDGET_MIB / 4 * (1 << 20)
        closed = metric(live, "millrace_memory_losses_total")
        assert closed >= 25, "of 30, one or two fit"
        assert live.resident_kib() - before < BUDGET_MIB << 10
    assert "limits.memory_budget, 64 MiB" in live.log()
    with publisher(live, "afterwards") as client:
        send_pictures(client, 1)
    live.assert_alive()


def test_the_largest_stream_is_closed_and_the_others_go_on(server):
    live = start(server)
    with publisher(live, "modest") as modest, publisher(live, "greedy") as greedy:
        send_pictures(modest, 10)
        send_pictures(greedy, 48)
        wait_until(lambda: metric(live, 'millrace_memory_used_bytes{use="packets"}') > 57.7 * (1 << 20), 5, "the count of what streams hold")
        with RtmpClient(live.ports["rtmp"]) as late:
            status = late.publish("late")
            assert status["code"] == "NetStream.Publish.Rejected" and "limits.memory_budget" in status["description"], status
        with contextlib.suppress(Closed):
            send_pictures(greedy, 15, first=96)
        live.wait_log("this stream takes", 5)
        greedy.wait_closed(5)
        send_pictures(modest, 1, first=20)
        wait_until(lambda: metric(live, 'millrace_memory_used_bytes{use="packets"}') < 20 << 20, 10, "the ring's memory")
        time.sleep(0.5)
        send_pictures(modest, 1, first=22)
        assert [stream["name"] for stream in live.api("/api/v1/streams")["streams"] if stream["publish"]["active"]] == ["modest"]
        assert metric(live, "millrace_memory_losses_total") == 1
        wait_until(lambda: live.resident_kib() < (BUDGET_MIB + 40) << 10, 60, "the memory's way back to the system")


def test_what_nobody_publishes_any_more_goes_first(server):
    live = start(server, "hls { enabled on; hls_path $folder/html; hls_fragment 1; hls_window 60; hls_dispose 100; }")
    with publisher(live, "over") as over:
        send_pictures(over, 26)
    wait_until(lambda: metric(live, 'millrace_memory_used_bytes{use="windows"}') > 20 << 20, 10, "the window of HLS")
    with publisher(live, "living") as living:
        for first in range(0, 80, 10):
            send_pictures(living, 5, first=first)
            time.sleep(0.2)
        live.wait_log("what is left of /live/over", 10)
        send_pictures(living, 1, first=80)
        assert "this stream takes" not in live.log()
