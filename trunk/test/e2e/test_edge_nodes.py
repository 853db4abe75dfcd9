"""Edges whose origins are on other machines: each node has a network of its own, and a round trip between two of them takes 20 ms."""

import os
import signal
import subprocess
import threading
import time

import pytest

import own_network
from edge_stage import ONE_WAY_S, PLAIN, Stage, addresses_of, names_of
from edges import REMUX, gaps_of, pulls_of
from live_server import wait_until
from nodes import Node
from rtmp_client import VIDEO, Player, Publisher


class FfmpegPlayer:
    """ffmpeg plays from the node's own machine for as long as this context lasts. `arrived`: when each packet of video had come through it."""

    def __init__(self, node: Node, url: str):
        live = ["-rtmp_live", "live"] if url.startswith("rtmp") else []
        command = [*node.machine.command, "ffmpeg", "-nostdin", "-loglevel", "error", "-fflags", "nobuffer", *live, "-i", url,
                   "-map", "0:v", "-c", "copy", "-flush_packets", "1", "-f", "framecrc", "-"]
        self.url, self.arrived = url, []
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            if not line.startswith(b"#"):
                self.arrived.append(time.monotonic())

    def plays(self) -> bool:
        return self.process.poll() is None

    def longest_gap(self) -> float:
        return max(later - earlier for earlier, later in zip(self.arrived, self.arrived[1:]))

    def first_after(self, moment: float) -> float:
        return wait_until(lambda: next((one for one in self.arrived if one > moment), 0), 15, f"media by {self.url}", 0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join()


def first_frame(player: Player) -> float:
    return wait_until(lambda: next((message.arrived for message in player.messages if message.type == VIDEO), 0), 10, "a frame", 0.005)


def join_times(folder, clip) -> None:
    with Stage(folder, 2) as stage:
        origin = stage.node()
        edge = stage.edge(origin)
        for stream in "abc":
            stage.publish(origin, clip, stream)
        time.sleep(1)
        took, waited = [], []
        for stream in "abc":
            asked, watch = time.monotonic(), stage.watch(origin, edge)
            took.append(first_frame(stage.play(edge, stream)) - asked)
            waited.append(watch.waited())
        print("cold joins, s:", took, "of which for a CPU:", waited)
        assert sorted(all_s - for_a_cpu for all_s, for_a_cpu in zip(took, waited))[1] < 0.3, (took, waited)
        assert min(took) > 5 * 2 * ONE_WAY_S, "the wire takes its time: TCP, the handshake, connect, createStream, play"


def test_a_cold_join_takes_some_round_trips(tmp_path, clip):
    own_network.run(join_times, tmp_path, clip("basic"))


def lose_an_origin(folder, clip, how: int) -> None:
    with Stage(folder, 3) as stage:
        origins = [stage.node(mortal=True), stage.node(mortal=True)]
        edge = stage.edge(*origins)
        publishers = [stage.publish(origin, clip) for origin in origins]
        player = stage.play(edge)
        wait_until(lambda: len(player.messages) > 50, 10, "the stream through the edge")
        used, other = sorted(origins, key=pulls_of, reverse=True)
        watch = stage.watch(other, edge)
        os.kill(used.process.pid, how)
        gone = time.monotonic()
        wait_until(lambda: any(message.arrived > gone + 0.5 for message in player.messages if message.type == VIDEO), 20, "media again")
        time.sleep(1)
        gap, waited = max(gaps_of(player, gone - 1)), watch.waited()
        print("longest gap, s:", gap, "for a CPU:", waited)
        assert player.error is None
        # Silence is twice what the edge has seen before.
        assert gap < (1.0 if how == signal.SIGKILL else 2.0 + 2 * max(publisher.longest_pause for publisher in publishers)) + waited


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "silent"])
def test_players_stay_when_an_origin_goes(tmp_path, clip, how):
    own_network.run(lose_an_origin, tmp_path, clip("basic"), how)


def come_back_elsewhere(folder, clip) -> None:
    with Stage(folder, 3) as stage:
        first, second = stage.node(mortal=True), stage.node()
        edge = stage.edge(first, second)
        publisher = stage.publish(first, clip)
        player = stage.play(edge)
        wait_until(lambda: len(player.messages) > 50, 10, "the stream through the edge")
        first.process.kill()
        first.process.wait()
        publisher.stop()
        time.sleep(2.5)
        again = Publisher(second.ports["rtmp"], "cam", clip, host=second.host)
        back, watch = time.monotonic(), stage.watch(second, edge)
        again.start()
        stage.stack.callback(again.stop)
        wait_until(lambda: any(message.arrived > back for message in player.messages if message.type == VIDEO), 20, "media through the edge", 0.01)
        took = next(message.arrived for message in player.messages if message.type == VIDEO and message.arrived > back) - back
        print("media after the publisher is back, s:", took)
        assert took < 1.0 + watch.waited() and player.error is None


def test_players_stay_until_the_publisher_is_back_at_another_origin(tmp_path, clip):
    own_network.run(come_back_elsewhere, tmp_path, clip("basic"))


def ffmpeg_players(stage: Stage, edge: Node) -> list[FfmpegPlayer]:
    players = [stage.stack.enter_context(FfmpegPlayer(edge, addresses_of(edge)[name])) for name in ("RTMP", "FLV", "TS")]
    for player in players:
        wait_until(lambda one=player: len(one.arrived) > 50, 20, f"the stream by {player.url}")
    return players


def ffmpeg_loses_an_origin(folder, clip) -> None:
    """It is killed, and its publisher comes to the other one; then that one falls silent, while the first is back with a publisher."""
    with Stage(folder, 3) as stage:
        first, second = stage.node(mortal=True), stage.node(mortal=True)
        edge = stage.edge(first, second, more=REMUX, root=PLAIN % names_of((first, second)))
        publishers = stage.publish_both(first, clip)
        players = ffmpeg_players(stage, edge)
        first.process.kill()
        first.process.wait()
        for publisher in publishers:
            publisher.stop()
        time.sleep(2.5)
        again = [Publisher(second.ports["rtmp"], "cam", clip, app, host=second.host) for app in ("live", "plain")]
        programs = [player.process.pid for player in players]
        back, watch = time.monotonic(), stage.watch(second, edge, *programs)
        for publisher in again:
            publisher.start()
            stage.stack.callback(publisher.stop)
        took = [player.first_after(back) - back for player in players]
        print("ffmpeg has media after the publisher is back, s:", took)
        assert max(took) < 1.0 + watch.waited()
        first.start()
        stage.publish_both(first, clip)
        time.sleep(1)
        for player in players:
            player.arrived.clear()
        watch = stage.watch(first, edge, *programs)
        second.process.send_signal(signal.SIGSTOP)
        silent = time.monotonic()
        for player in players:
            player.first_after(silent + 2)
        time.sleep(1)
        print("ffmpeg's longest gap when the origin is silent, s:", [player.longest_gap() for player in players])
        assert max(player.longest_gap() for player in players) < 2.0 + 2 * max(publisher.longest_pause for publisher in again) + watch.waited()
        assert all(player.plays() for player in players)


def test_ffmpeg_stays_when_an_origin_goes(tmp_path, clip):
    own_network.run(ffmpeg_loses_an_origin, tmp_path, clip("basic"), limit_s=120)


def come_back_late(folder, clip) -> None:
    """Later than the longest pause between two tries. Ten minutes, and more, are in service/relay/origins/origin_choice_sim_test.cpp."""
    with Stage(folder, 2) as stage:
        origin = stage.node(mortal=True)
        edge = stage.edge(origin)
        publisher = stage.publish(origin, clip)
        player = stage.stack.enter_context(FfmpegPlayer(edge, edge.url("cam")))
        wait_until(lambda: len(player.arrived) > 50, 20, "the stream")
        origin.process.kill()
        origin.process.wait()
        publisher.stop()
        time.sleep(40)
        assert player.plays() and player.arrived[-1] < time.monotonic() - 30
        (one,) = edge.api("/api/v1/clusters")["data"]["origins"]
        assert one["state"] == "down" and 5 < one["failures"] < 15, one
        origin.start()
        stage.publish(origin, clip)
        back = time.monotonic()
        took = player.first_after(back) - back
        print("media after the origin is back, s:", took)
        assert took < 10 * 1.25 + 1


def publish_far_away(folder, clip) -> None:
    """Each of the round trips to the origin takes longer than the 150 ms for which others wait."""
    with Stage(folder, 2, one_way_s=0.2) as stage:
        origin = stage.node()
        edge = stage.edge(origin)
        publisher = stage.publish(edge, clip)
        wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 10, "the stream at the origin")
        time.sleep(3)
        assert publisher.error is None and "edge-fwr origin disconnected" not in edge.log()


@pytest.mark.long
def test_an_edge_forwards_publishers_to_a_far_origin(tmp_path, clip):
    own_network.run(publish_far_away, tmp_path, clip("basic"))


@pytest.mark.long
def test_an_origin_is_found_again_after_a_long_time(tmp_path, clip):
    own_network.run(come_back_late, tmp_path, clip("basic"), limit_s=120)
