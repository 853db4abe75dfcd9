"""HTTP-FLV players that come and go at random: what they cost must go with them."""

import os
import random
import selectors
import socket
import time

import pytest

from live_server import wait_until
from rtmp_client import Publisher

pytestmark = pytest.mark.workers

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
SLACK_KIB = 6 * 1024  # Of resident memory: the allocator keeps some.


def descriptors(server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


class Crowd:
    """Keeps about `size` players connected, each for a random time; what they are sent is thrown away unread by us."""

    def __init__(self, port: int, path: str, size: int, stay_s: float):
        self.request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        self.port, self.size, self.stay_s = port, size, stay_s
        self.selector = selectors.DefaultSelector()
        self.leaving: list[tuple[float, socket.socket]] = []
        self.came = self.bytes = self.lost = 0
        self.random = random.Random(3)

    def _come(self, now: float) -> None:
        player = socket.socket()
        player.connect(("127.0.0.1", self.port))
        player.sendall(self.request)
        player.setblocking(False)
        self.selector.register(player, selectors.EVENT_READ)
        self.leaving.append((now + self.random.uniform(0, 2 * self.stay_s), player))
        self.came += 1

    def _leave(self, player: socket.socket) -> None:
        self.selector.unregister(player)
        # Some say goodbye, some vanish.
        if self.random.random() < 0.5:
            player.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        player.close()

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            stay = []
            for due, player in self.leaving:
                if due <= now:
                    self._leave(player)
                else:
                    stay.append((due, player))
            self.leaving = stay
            for _ in range(min(self.size - len(self.leaving), 100)):
                self._come(now)
            for key, _ in self.selector.select(0.05):
                count = len(key.fileobj.recv(1 << 16))
                self.bytes += count
                self.lost += count == 0
            time.sleep(0.02)

    def end(self) -> None:
        for _, player in self.leaving:
            self._leave(player)
        self.leaving = []


def churn(server, clip, players: int, seconds: float) -> None:
    live = server(FLV, root="")
    live.write_conf(live.conf_path.read_text().replace("max_connections     1000", "max_connections     4000"))
    live.stop()
    live.start()
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    # The first crowd fills what is kept for the next: pools, caches, the allocator.
    first = Crowd(live.ports["http"], "/live/cam.flv", players, 2)
    first.run(6)
    first.end()
    wait_until(lambda: descriptors(live) < 40, 10, "the first crowd's descriptors are closed")
    fds, kib = descriptors(live), live.resident_kib()
    crowd = Crowd(live.ports["http"], "/live/cam.flv", players, min(10, seconds / 4))
    crowd.run(seconds)
    crowd.end()
    wait_until(lambda: descriptors(live) <= fds, 10, f"{fds} descriptors as before, not {descriptors(live)}")
    time.sleep(3)
    assert crowd.came > players and crowd.bytes > 0 and crowd.lost == 0
    grown = live.resident_kib() - kib
    assert grown < SLACK_KIB, f"{crowd.came} players came and went, and {grown} KiB stayed"
    publisher.stop()


def test_players_that_come_and_go_leave_nothing_behind(server, clip):
    churn(server, clip, 200, 12)


@pytest.mark.long
def test_two_thousand_players_come_and_go_for_ten_minutes(server, clip):
    churn(server, clip, 2000, 600)
