"""Workers that are killed over and over, that have no descriptor left, or that share a limit: the others lose nothing, the figures fit, and the
master keeps nothing of it."""

import contextlib
import http.client
import os
import re
import resource
import select
import signal
import socket
import threading
import time
import urllib.error
from pathlib import Path

import pytest

from live_server import LiveServer, conf, is_gone, wait_until
from picture_publisher import publisher as big_publisher, send_pictures
from rtmp_client import Closed, Player, RtmpClient, assert_gapless
from worker_stage import WORKERS, clients, pids, players_on_all, start, start_publisher, streams, videos


@pytest.fixture(name="live")
def fixture_live(server):
    live = start(server)
    live.wait_log(f"{WORKERS} workers serve", 20)
    return live


class Returning(threading.Thread):
    """A player that comes again when it is thrown out, as real ones do."""

    def __init__(self, port: int, stream: str):
        super().__init__(daemon=True)
        self.port, self.stream, self.rounds, self.got = port, stream, 0, 0
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.is_set():
            with contextlib.suppress(Closed, OSError, AssertionError), RtmpClient(self.port) as client:
                client.play(self.stream)
                self.rounds += 1
                while not self._stopping.is_set():
                    self.got += len(client.read_media(0.2))
            self._stopping.wait(0.1)

    def stop(self) -> None:
        self._stopping.set()
        self.join(10)


class Asking(threading.Thread):
    """Sends requests to the API continuously. A request to a dying worker gets no answer and is repeated; every answer is consistent."""

    LIMIT_S = 1.4  # a worker that has no core for longer is left out of an answer

    def __init__(self, live: LiveServer, stream: str, most: int):
        super().__init__(daemon=True)
        self.live, self.stream, self.most = live, stream, most
        self.answers, self.unanswered, self.wrong = 0, 0, []
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(0.05):
            began = time.monotonic()
            try:
                known, all_clients = streams(self.live), clients(self.live)
            except urllib.error.HTTPError as error:
                self.wrong.append(str(error))
                continue
            except (OSError, http.client.HTTPException):
                self.unanswered += 1
                continue
            if time.monotonic() - began > self.LIMIT_S:
                continue
            self.answers += 1
            ids = [one["id"] for one in all_clients]
            fits = [(one["name"], one["publish"]["active"]) for one in known] == [(self.stream, True)] and len(ids) == len(set(ids)) and \
                1 <= len(ids) <= self.most and 1 <= known[0]["clients"] <= self.most and sum(one["publish"] for one in all_clients) == 1
            if not fits:
                self.wrong.append((known, all_clients))

    def stop(self) -> None:
        self._stopping.set()
        self.join(10)
        assert not self.wrong, (len(self.wrong), self.wrong[0])
        assert self.answers > 20


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def resident_kib(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1))


def clients_on(live: LiveServer, worker: int) -> list[dict]:
    return [one for one in clients(live) if one["worker"] == worker]


def answers(live: LiveServer) -> set[int]:
    return {one["worker"] for one in live.api("/api/v1/summaries")["data"]["workers"]}


@pytest.mark.parametrize("seconds", [20, pytest.param(120, marks=pytest.mark.long)])
def test_a_worker_killed_each_five_seconds_costs_the_others_nothing(live, clip, seconds):
    steady = start_publisher(live, clip, "steady")
    owner = next(one["worker"] for one in clients(live) if one["publish"])
    returning = [Returning(live.ports["rtmp"], "steady") for _ in range(12)]
    for player in returning:
        player.start()
    wait_until(lambda: len(clients(live)) == 1 + len(returning), 20, "all players are there")
    master, before = live.process.pid, None
    # Players that come again are counted until their old connection is found closed.
    asking = Asking(live, "steady", 2 * (1 + len(returning) + 6))
    asking.start()
    end, rounds = time.monotonic() + seconds, 0
    # Each of the two dies at least once: the probability of no client at either of them is (1/3)^12.
    while time.monotonic() < end or rounds < 2:
        began = time.monotonic()
        rounds += 1
        victim = sorted(number for number in pids(live) if number != owner)[rounds % 2]
        others = len(clients_on(live, victim))
        watched = [Player(live.ports["rtmp"], "steady") for _ in range(6)]
        for player in watched:
            player.start()
        wait_until(lambda: all(videos(player) > 10 for player in watched), 20, "all play")
        doomed = len(clients_on(live, victim)) - others
        old = pids(live)[victim]
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: pids(live)[victim] != old and is_gone(old), 20, "it is started again")
        wait_until(lambda: answers(live) == set(range(1, WORKERS + 1)), 20, "it answers")
        time.sleep(max(0.0, began + 5 - time.monotonic()))
        wait_until(lambda: sum(player.error is not None for player in watched) >= doomed, 10, "those of the dead worker notice")
        lost = [player for player in watched if player.error is not None]
        for player in watched:
            if player not in lost:
                assert_gapless(player.stop(), steady.sent)
        assert len(lost) == doomed, "only those of the dead worker"
        wait_until(lambda: len(clients(live)) == 1 + len(returning), 20, "all players are back, and nobody else is listed")
        expected = [("steady", 1 + len(returning), True)]
        wait_until(lambda: [(one["name"], one["clients"], one["publish"]["active"]) for one in streams(live)] == expected, 10, "the stream has them")
        if before is None:  # what one round makes the master need
            before = (descriptors(master), resident_kib(master))
    assert steady.error is None
    asking.stop()
    for player in returning:
        player.stop()
        assert player.got > 0
    assert sum(player.rounds for player in returning) > len(returning), "some were thrown out, and came again"
    assert descriptors(master) == before[0]
    assert resident_kib(master) - before[1] < 1024, (resident_kib(master), before)
    children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
    assert len(children) == WORKERS and not any(is_gone(int(child)) for child in children)
    steady.stop()


def test_a_worker_without_descriptors_refuses_and_the_others_serve(live, clip):
    publisher = start_publisher(live, clip)
    owner = next(one["worker"] for one in clients(live) if one["publish"])
    full = next(number for number in pids(live) if number != owner)
    pid = pids(live)[full]
    soft = descriptors(pid) + 3
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, 20_000))
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(("127.0.0.1", live.ports["rtmp"]))) for _ in range(60)]
        assert len(held) == 60
        time.sleep(0.5)
        served = 0
        for _ in range(60):  # the kernel chooses the worker of a connection
            with contextlib.suppress(Closed, OSError, AssertionError), RtmpClient(live.ports["rtmp"], timeout=2) as client:
                client.play("cam")
                served += len(client.read_at_least(6)) > 5
            if served == 4:
                break
        assert served == 4, "the others have room"
        assert publisher.error is None
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (20_000, 20_000))

    def plays() -> bool:
        with contextlib.suppress(Closed, OSError), RtmpClient(live.ports["rtmp"]) as client:
            client.play("cam")
            return len(client.read_at_least(4)) > 3
        return False

    wait_until(lambda: all(plays() for _ in range(6)), 40, "all serve again")
    assert pids(live)[full] == pid, "it was not restarted for it"
    publisher.stop()


def test_a_master_without_descriptors_starts_a_worker_as_soon_as_it_has_some(live, clip):
    publisher = start_publisher(live, clip)
    owner = next(one["worker"] for one in clients(live) if one["publish"])
    players = players_on_all(live)
    wait_until(lambda: all(videos(player) > 10 for player in players), 30, "all play")
    victim = next(number for number in pids(live) if number != owner)
    doomed, old, master = len(clients_on(live, victim)), pids(live)[victim], live.process.pid
    resource.prlimit(master, resource.RLIMIT_NOFILE, (3, 20_000))
    os.kill(old, signal.SIGKILL)
    live.wait_log(f"worker {victim} cannot be started", 20)
    resource.prlimit(master, resource.RLIMIT_NOFILE, (20_000, 20_000))
    wait_until(lambda: pids(live)[victim] != old and answers(live) == set(pids(live)), 20, "it is started again")
    wait_until(lambda: sum(player.error is not None for player in players) == doomed, 10, "only its players notice")
    assert publisher.error is None
    for player in players:
        if player.error is None:
            assert_gapless(player.stop(), publisher.sent)
    publisher.stop()


def test_each_worker_has_a_core_of_its_own(server):
    live = server(root="workers 2; worker_affinity on;")
    live.wait_log("2 workers serve", 20)
    mine = {tuple(os.sched_getaffinity(pid)) for pid in pids(live).values()}
    assert all(len(cores) == 1 for cores in mine)
    assert len(mine) == min(2, len(os.sched_getaffinity(0)))


def test_auto_is_a_worker_for_each_core_that_may_be_used(tmp_path):
    cores = sorted(os.sched_getaffinity(0))
    for count in {1, len(cores)}:
        live = LiveServer(tmp_path / f"auto-{count}", conf(root="workers auto;\n"))
        live.start(preexec=lambda mine=set(cores[:count]): os.sched_setaffinity(0, mine))
        try:
            if count > 1:
                live.wait_log(f"{count} workers serve", 20)
            else:
                assert "workers" not in live.api("/api/v1/summaries")["data"] and "workers serve" not in live.log(), "one process, without a master"
            live.stop()
        finally:
            live.kill()


def test_the_environment_sets_the_number_of_workers(tmp_path):
    text = "listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid; http_api { enabled on; listen 127.0.0.1:$api; }\n" \
           "workers 4; vhost __defaultVhost__ {}\n"
    live = LiveServer(tmp_path / "by-environment", text, environment={"SRS_WORKERS": "2"}).start()
    try:
        live.wait_log("2 workers serve", 20)
        assert len(live.pids()) == 2
        live.stop()
    finally:
        live.kill()


MEMORY_CONF = """\
listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid;
http_api { enabled on; listen 127.0.0.1:$api; }
exporter { enabled on; listen 127.0.0.1:$exporter; }
workers 3; limits { memory_budget 300; }
vhost __defaultVhost__ { publish { normal_timeout 60000; } }
"""


def test_a_worker_may_take_the_memory_that_the_others_leave(server):
    live = server(conf=MEMORY_CONF)
    live.wait_log("3 workers serve", 20)
    with big_publisher(live, "large") as large:
        # More than a third of what all may take.
        for first in range(0, 200, 20):
            send_pictures(large, 10, first=first)
            time.sleep(0.2)
        assert [one["name"] for one in streams(live)] == ["large"] and "this stream takes" not in live.log()
        with contextlib.ExitStack() as stack:
            more = []
            for number in range(6):
                one = stack.enter_context(RtmpClient(live.ports["rtmp"]))
                if one.publish(f"more{number}")["code"] != "NetStream.Publish.Start":
                    break
                one.set_chunk_size(60000)
                more.append(one)
                with contextlib.suppress(Closed):
                    for first in range(0, 100, 10):
                        send_pictures(one, 5, first=first)
                        time.sleep(0.1)
            time.sleep(1)
            assert sum(resident_kib(pid) for pid in live.pids()) < 320 << 10, "all together"
            assert more
            live.wait_log("limits.memory_budget, 300 MiB")
    live.assert_alive()


def test_a_place_is_for_all_and_that_of_a_dead_worker_is_free(server):
    live = server(conf=conf(root="workers 3;").replace("max_connections     1000;", "max_connections 30;"))
    live.wait_log("3 workers serve", 20)

    def connect_many(stack: contextlib.ExitStack) -> list[socket.socket]:
        """Sixty, one after another, whose handshake is answered or who are refused: a worker that has no core for a moment gets its share as well."""
        held = []
        for _ in range(60):
            held.append(stack.enter_context(socket.create_connection(("127.0.0.1", live.ports["rtmp"]))))
            held[-1].settimeout(15)
            with contextlib.suppress(ConnectionError):
                held[-1].sendall(b"\x03" + bytes(1536))
                held[-1].recv(1, socket.MSG_PEEK)
        return held

    def open_ones(held: list[socket.socket]) -> int:
        ended = select.poll()
        for each in held:
            ended.register(each, select.POLLRDHUP)
        return len(held) - len(ended.poll(0))

    with contextlib.ExitStack() as stack:
        held = connect_many(stack)
        before = open_ones(held)
        assert 27 <= before <= 30, "some places may be the API's"
        old = pids(live)[2]
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: pids(live)[2] != old, 20, "it is started again")
        wait_until(lambda: answers(live) == {1, 2, 3}, 20, "it answers")
        left = open_ones(held)
        assert left < before  # that none of 27 was at it has a chance of (2/3)^27, 1 in 50,000
        again = connect_many(stack)
        assert 27 <= left + open_ones(again) <= 30
