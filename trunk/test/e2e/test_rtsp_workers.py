"""RTSP in a server with two workers: publishers and players at any of them, a pull on demand, a drain, and an upgrade that cuts neither a player nor a
publisher over the connection."""

import contextlib

import pytest
from camera import Camera, Habits
from live_server import installed, wait_until
from players import FfmpegPublisher
from pull_stage import Viewer, conf_of, ingest
from rtc_offer import ask
from rtsp_stage import Client, Publisher, play, rtsp_url, start, wait_published
from upgrade_stage import facts, upgrade

pytestmark = pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")
WORKERS = 2


@pytest.fixture(name="two", autouse=True)
def fixture_two(monkeypatch):
    monkeypatch.setenv("SRS_WORKERS", str(WORKERS))


def serving(server, vhost: str = ""):
    live = start(server, vhost=vhost)
    live.wait_log(f"{WORKERS} workers serve", 20)
    return live


class Watcher(Client):
    """Plays the first track; its frames are counted as they are read."""

    def __init__(self, live, url: str):
        super().__init__(live)
        self.play(url)

    def wait_more(self, count: int = 50) -> None:
        target = self.frames + count
        while self.frames < target:
            self.skip_frame()


def workers_of_players(live) -> set:
    return {one["worker"] for one in live.api("/api/v1/clients/?count=1000")["clients"] if one["type"] == "rtsp-play"}


def players_on_all(live, url: str, stack: contextlib.ExitStack) -> list[Watcher]:
    players: list[Watcher] = []
    while len(workers_of_players(live)) < WORKERS:
        assert len(players) < 60, "connections do not spread"
        players.append(stack.enter_context(Watcher(live, url)))
        players[-1].wait_more(1)
    return players


def test_players_of_each_worker_get_a_stream_of_one(server, clip):
    live = serving(server)
    with Publisher(rtsp_url(live), clip("basic")), contextlib.ExitStack() as stack:
        wait_published(live)
        for player in players_on_all(live, rtsp_url(live), stack):
            player.wait_more()
        assert play(rtsp_url(live), 3).problems() == []
        assert play(rtsp_url(live), 3, transport="udp").problems() == []


def test_a_pull_on_demand_is_one_for_all_workers(server):
    with Camera(Habits()) as camera:
        live = serving(server, conf_of(camera.url(), options="transport tcp; on_demand on;"))
        wait_until(lambda: ingest(live)["state"] == "idle", 20, lambda: ingest(live))
        assert camera.connections == 0
        with contextlib.ExitStack() as stack:
            for _ in range(4):  # on any worker
                stack.enter_context(Viewer(live.url("door"))).wait_more(5)
            assert ingest(live)["state"] == "running"
            assert sum(request.method == "PLAY" for request in camera.requests) == 1, "the camera is pulled once"
        wait_until(lambda: ingest(live)["state"] == "idle", 60, lambda: ingest(live))
        assert ingest(live)["last_error"] == "", "its viewers have left, and nothing has failed"


def test_an_upgrade_cuts_neither_players_nor_publishers(server, clip):
    live = serving(server)
    with Publisher(rtsp_url(live), clip("basic")) as publisher, contextlib.ExitStack() as stack:
        wait_published(live)
        before = players_on_all(live, rtsp_url(live), stack)
        upgrade(live)
        for player in before:
            player.wait_more()
        assert publisher.process.poll() is None, publisher.said()
        # The new program has the stream of the old one, and takes new publishers.
        after = stack.enter_context(Watcher(live, rtsp_url(live)))
        after.wait_more()
        with Publisher(rtsp_url(live, "second"), clip("basic")):
            wait_published(live, "second")
            assert play(rtsp_url(live, "second"), 2).problems() == []
        for player in before:
            player.wait_more(10)
        assert sum(one["publishers"] for one in facts(live)["others"]) == 1, facts(live)


def test_a_drain_ends_with_rtsp_clients(server, clip):
    """RTSP has no way to send a client elsewhere: it plays on until the graceful stop closes its connection."""
    live = start(server, root="} grace_start_wait 300; grace_final_wait 3000; heartbeat { enabled off;")
    live.wait_log(f"{WORKERS} workers serve", 20)
    with Publisher(rtsp_url(live), clip("basic")) as publisher:
        wait_published(live)
        with Watcher(live, rtsp_url(live)) as player:
            player.wait_more(5)
            assert ask(live.ports["api"], "POST", "/api/v1/drain").status == 200
            wait_until(lambda: live.log().count("drain begins") == WORKERS, 20, "all workers drain")
            before = player.frames
            with pytest.raises(ConnectionError):
                while True:
                    player.skip_frame()
            assert player.frames > before
        assert live.process.wait(40) == 0
        wait_until(lambda: publisher.process.poll() is not None, 20, "ffmpeg has lost its server")
    assert live.log().count("srs terminated") == WORKERS + 1
