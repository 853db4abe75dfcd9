"""The memory budget: the client with the largest memory is closed with a reason, and no other client is affected."""

import contextlib
import re
import time
import urllib.request

import pytest

from live_server import LiveServer, wait_until
from picture_publisher import publisher, send_pictures
from rtmp_client import VIDEO, Closed, Player, RtmpClient, encode_message

pytestmark = pytest.mark.one_worker("each worker judges its own clients, by the memory that the others leave: test_workers_die.py says what holds then")

BUDGET_MIB = 160
CONF = """\
listen $rtmp;
max_connections 500;
daemon off; srs_log_tank console; pid $folder/srs.pid;
http_api { enabled on; listen $api; }
exporter { enabled on; listen 127.0.0.1:$exporter; }
limits { memory_budget 160; }
vhost __defaultVhost__ { publish { normal_timeout 60000; } HLS }
"""
MESSAGE = 9 << 20


def start(server, hls: str = "") -> LiveServer:
    return server(conf=CONF.replace("HLS", hls))


def metric(live: LiveServer, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=5) as answer:
        return float(re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.M).group(1))


def test_unfinished_messages_take_a_quarter_at_most(server):
    live = start(server)
    with contextlib.ExitStack() as stack:
        for i in range(30):
            client = stack.enter_context(publisher(live, f"hoard{i}"))
            with contextlib.suppress(Closed):
                client.send(encode_message(VIDEO, 0, bytes(MESSAGE), chunk_size=60000)[:-1000])
            assert metric(live, 'millrace_memory_used_bytes{use="unfinished"}') <= BUDGET_MIB / 4 * (1 << 20)
        wait_until(lambda: metric(live, "millrace_memory_losses_total") >= 24, 10, "of 30, four or five fit")
        assert live.resident_kib() < BUDGET_MIB << 10
    assert "limits.memory_budget, 160 MiB" in live.log()
    with publisher(live, "afterwards") as client:
        send_pictures(client, 1)
    live.assert_alive()


def test_the_largest_stream_is_closed_and_the_others_continue(server):
    live = start(server)
    with publisher(live, "modest") as modest, publisher(live, "large") as large, publisher(live, "larger") as larger:
        send_pictures(modest, 30)
        send_pictures(large, 35)
        sent = 0
        with contextlib.suppress(Closed):
            while sent < 80:
                send_pictures(larger, 2, first=2 * sent)
                sent += 2
                time.sleep(0.3)
        live.wait_log("this stream takes", 15)
        assert sent > 25, "it is the smaller one until then"
        larger.wait_closed(15)
        send_pictures(modest, 1, first=80)
        send_pictures(large, 1, first=90)
        wait_until(lambda: metric(live, 'millrace_memory_used_bytes{use="packets"}') < 90 << 20, 20, "the ring's memory")
        names = [stream["name"] for stream in live.api("/api/v1/streams")["streams"] if stream["publish"]["active"]]
        assert sorted(names) == ["large", "modest"]
        assert metric(live, "millrace_memory_losses_total") == 1
        assert max(live.resident_kib() for _ in range(20)) < BUDGET_MIB << 10


def test_publishers_are_refused_when_the_budget_is_nearly_used_up(server):
    """From 70 % on. One of them takes less than the rest up to 75 %, where a client would be closed."""
    mib = 5
    live = start(server, "} vhost edge.test { cluster { mode remote; origin 127.0.0.1:9; }")
    with contextlib.ExitStack() as stack:
        for number in range(40):
            late = stack.enter_context(RtmpClient(live.ports["rtmp"]))
            status = late.publish(f"cam{number}")
            if status["code"] != "NetStream.Publish.Start":
                break
            late.set_chunk_size(60000)
            send_pictures(late, mib)
            wait_until(lambda: metric(live, 'millrace_memory_used_bytes{use="packets"}') > (mib * (number + 1) - 1) << 20, 15,  # pylint: disable=cell-var-from-loop
                       "all of it is counted")
            time.sleep(0.5)
        assert status["code"] == "NetStream.Publish.Rejected" and "limits.memory_budget" in status["description"], status
        assert number >= 50 / mib
        with RtmpClient(live.ports["rtmp"]) as viewer:
            status = viewer.play("cam?vhost=edge.test")
        assert status["level"] == "error" and "limits.memory_budget" in status["description"], "nothing is pulled either"
        assert live.resident_kib() < BUDGET_MIB << 10


def test_an_edge_ends_its_largest_pull_and_the_others_continue(server):
    origin = server("publish { normal_timeout 60000; }")
    live = start(server, f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }}")
    with contextlib.ExitStack() as stack:
        fat = [stack.enter_context(publisher(origin, f"fat{number}")) for number in range(4)]
        modest = stack.enter_context(publisher(origin, "modest"))
        players = {}
        for name, client in [("modest", modest), *((f"fat{number}", client) for number, client in enumerate(fat))]:
            send_pictures(client, 1)
            players[name] = Player(live.ports["rtmp"], name)
            players[name].start()
            wait_until(lambda name=name: any(message.type == VIDEO for message in players[name].messages), 15, f"{name} plays")
        peak_kib, sent = 0, 2
        while sent < 56:
            for client in fat:
                send_pictures(client, 1, first=sent)
            send_pictures(modest, 1, first=sent) if sent < 20 else None  # pylint: disable=expression-not-assigned
            sent += 2
            for _ in range(10):
                time.sleep(0.02)
                peak_kib = max(peak_kib, live.resident_kib())
        live.wait_log("edge-pull pauses because memory is short", 15)
        paused = set(re.findall(r"pauses because memory is short, stream=/live/(\w+):", live.log()))
        assert paused <= {"fat0", "fat1", "fat2", "fat3"} and metric(live, "millrace_memory_losses_total") >= 1
        assert peak_kib < BUDGET_MIB << 10, f"{peak_kib >> 10} MiB, {paused}"
        assert "origin disconnected" not in live.log(), "the origin is healthy"
        before = len(players["modest"].messages)
        send_pictures(modest, 1, first=100)
        wait_until(lambda: len(players["modest"].messages) >= before + 2, 15, "the modest stream goes on")
        for player in players.values():
            player.stop()


def test_unpublished_streams_are_released_first(server):
    live = start(server, "hls { enabled on; hls_path $folder/html; hls_fragment 1; hls_window 60; hls_dispose 100; }")
    with publisher(live, "over") as over:
        send_pictures(over, 35)
    wait_until(lambda: metric(live, 'millrace_memory_used_bytes{use="windows"}') > 28 << 20, 20, "the window of HLS")
    with publisher(live, "living") as living:
        for first in range(0, 160, 10):
            send_pictures(living, 5, first=first)
            time.sleep(0.2)
            if "KiB of /live/over are released" in live.log():
                break
        live.wait_log("KiB of /live/over are released", 20)
        send_pictures(living, 1, first=first + 10)
        assert "this stream takes" not in live.log()
