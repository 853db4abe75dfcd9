"""A reader that takes 10 KB/s of a 2 Mbps stream costs no other client a frame, and needs bounded memory."""

import re
import socket
import threading
import time
import urllib.request
from contextlib import ExitStack

import pytest

from live_server import wait_until
from rtmp_client import Bystander, RtmpClient

pytestmark = pytest.mark.workers

RATE_BYTES = 10_000
GROWTH_KIB = 8 * 1024  # Beyond the level it had when the slow readers were known to be behind.


class SlowReader(threading.Thread):
    """Plays, then reads about 10 KB each second."""

    def __init__(self, port: int, stream: str):
        super().__init__(daemon=True)
        self.client = RtmpClient(port, receive_buffer=16384)
        self.client.play(stream)
        self.total, self.was_closed = 0, False
        self._stopping = threading.Event()

    def run(self) -> None:
        self.client.socket.settimeout(1)
        while not self._stopping.wait(0.1):
            try:
                block = self.client.socket.recv(RATE_BYTES // 10)
            except TimeoutError:
                continue
            except OSError:
                block = b""
            if not block:
                self.was_closed = True
                return
            self.total += len(block)

    def stop(self) -> None:
        self._stopping.set()
        self.join(3)
        self.client.close()


def run_with_slow_readers(live, clip, seconds: float) -> None:
    levels = []
    with Bystander(live.ports["rtmp"], clip("fat"), stream="fat"):
        slow = [SlowReader(live.ports["rtmp"], "fat") for _ in range(3)]
        for reader in slow:
            reader.start()
        settled, end = time.monotonic() + 18, time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(1)
            if time.monotonic() > settled:
                levels.append(live.resident_kib())
        for reader in slow:
            reader.stop()
            assert reader.total > 50_000, "it read nothing"
    assert max(levels) - levels[0] < GROWTH_KIB, f"resident memory grew from {levels[0]} to {max(levels)} KiB"
    live.assert_alive()


def test_a_slow_reader_costs_other_players_no_frame(server, clip):
    live = server("play { queue_length 8; }")
    run_with_slow_readers(live, clip, 38)


@pytest.mark.long
def test_a_slow_reader_costs_other_players_no_frame_for_ten_minutes(server, clip):
    live = server()
    run_with_slow_readers(live, clip, 600)


IMPATIENT = "http_remux { enabled on; } play { stall_timeout 2; unpublished_timeout 2; }"
EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; }"


def open_player(live, protocol: str, stream: str) -> socket.socket:
    """A player that reads the answer to its request, and then nothing."""
    if protocol == "rtmp":
        client = RtmpClient(live.ports["rtmp"], receive_buffer=16384)
        client.play(stream)
        return client.socket
    player = socket.socket()
    player.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
    player.settimeout(15)
    player.connect(("127.0.0.1", live.ports["http"]))
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    player.sendall(f"GET /live/{stream}.flv HTTP/1.1\r\nHost: h\r\n{upgrade * (protocol == 'websocket')}\r\n".encode())
    return player


def metric(live, name: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=3) as answer:
        return int(re.search(rf"^{name} (\d+)$", answer.read().decode(), re.M)[1])


PROTOCOLS = ("rtmp", "flv", "websocket")


def test_players_that_take_nothing_are_closed_and_counted(server, clip):
    live = server(IMPATIENT, EXPORTER)
    with Bystander(live.ports["rtmp"], clip("fat"), stream="fat"), ExitStack() as stack:
        for protocol in PROTOCOLS:
            stack.enter_context(open_player(live, protocol, "fat"))
        wait_until(lambda: live.log().count("the player took nothing for 2 s (stall_timeout)") >= len(PROTOCOLS), 20, "all are closed")
    assert metric(live, "millrace_players_stalled_total") == len(PROTOCOLS)


def test_players_of_an_unpublished_stream_are_closed_after_a_while(server):
    live = server(IMPATIENT, EXPORTER)
    with ExitStack() as stack:
        players = [stack.enter_context(open_player(live, protocol, "nobody")) for protocol in PROTOCOLS]
        wait_until(lambda: live.log().count("the stream was not published for 2 s (unpublished_timeout)") >= len(PROTOCOLS), 20, "all leave")
        for player in players:
            player.settimeout(15)
            while player.recv(4096):
                pass
    assert metric(live, "millrace_players_unpublished_total") == len(PROTOCOLS)
