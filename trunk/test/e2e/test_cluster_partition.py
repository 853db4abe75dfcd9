"""Half of a cluster's nodes, each on a machine of its own, cannot reach the registry for longer than their leases last: no client that plays
notices, and afterwards the table is right again."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import own_network
from cluster_nodes import LEASE_S, assert_unnoticed, cluster_of, owners, publish_when_allowed, start_nodes, videos
from live_server import wait_until
from nodes import Node
from rtmp_client import Player, Publisher

APART_S = 3 * LEASE_S
RIGHT_WITHIN_S = 10


def route(node: Node, words: str) -> None:
    subprocess.run(["nsenter", f"--net=/proc/{node.machine.keeper.pid}/ns/net", "ip", "route", *words.split()], check=True)


def publish(node: Node, stream: str, clip) -> Publisher:
    publisher = Publisher(node.ports["rtmp"], stream, clip, host=node.host)
    publisher.start()
    return publisher


def play(node: Node, stream: str) -> Player:
    player = Player(node.ports["rtmp"], stream, host=node.host)
    player.start()
    return player


def keep_half_from_the_registry(folder, clip) -> None:
    with ExitStack() as stack:
        registry, nodes = start_nodes(stack, folder, 4)
        sources = {"near": publish(nodes[0], "near", clip), "far": publish(nodes[2], "far", clip)}
        players = [(stream, play(node, stream)) for stream in sources for node in nodes]
        for _, player in players:
            wait_until(lambda one=player: videos(one) > 0, 10, "it plays")

        for node in nodes[2:]:
            route(node, f"add blackhole {registry.host}/32")
        for node in nodes[2:]:
            wait_until(lambda one=node: cluster_of(one)["registry"]["state"] == "away", 20, "its registry is away")
        began = time.monotonic()
        # What begins meanwhile: found by neighbours, and by the registry on its own side of the cut.
        sources |= {"late_far": publish(nodes[3], "late_far", clip), "late_near": publish(nodes[1], "late_near", clip)}
        players += [("late_far", play(nodes[2], "late_far")), ("late_near", play(nodes[0], "late_near"))]
        for _, player in players[-2:]:
            wait_until(lambda one=player: videos(one) > 0, 5, "a stream that began meanwhile plays")
        time.sleep(max(0.0, began + APART_S - time.monotonic()))
        assert [cluster_of(node)["registry"]["state"] for node in nodes] == ["up", "up", "away", "away"]
        assert "/live/late_far" not in owners(nodes[0]), "nobody on this side has asked for it"

        for node in nodes[2:]:
            route(node, f"del blackhole {registry.host}/32")
        all_of_them = {"/live/near": "n0", "/live/late_near": "n1", "/live/far": "n2", "/live/late_far": "n3"}
        for node in nodes:
            wait_until(lambda one=node: owners(one) == all_of_them, RIGHT_WITHIN_S, f"the table is right: {all_of_them}")
        time.sleep(1)
        for stream, player in players:
            assert_unnoticed(player, sources[stream])
            player.stop()
        for publisher in sources.values():
            assert publisher.error is None
            publisher.stop()
        for node in nodes:
            node.assert_no_report()


def test_half_of_the_nodes_lose_the_registry(tmp_path, clip):
    own_network.run(keep_half_from_the_registry, tmp_path, clip("basic"), limit_s=120)


def call_an_owner_that_is_cut_off(folder, clip) -> None:
    with ExitStack() as stack:
        _, nodes = start_nodes(stack, folder, 3)
        first, other = publish(nodes[0], "cam", clip), publish(nodes[0], "other", clip)
        # So that the nodes know each other's machines, as they do.
        neighbour = play(nodes[1], "other")
        wait_until(lambda: videos(neighbour) > 0 and len(owners(nodes[1])) == 2, 10, "the first node is heard")
        nodes[0].machine.cut()
        calls = stack.enter_context(ThreadPoolExecutor())
        call = calls.submit(play, nodes[1], "cam")
        # Until the lease of the first node has ended it is refused.
        second = publish_when_allowed(nodes[2], clip, 2 * LEASE_S)
        player = call.result(20)
        wait_until(lambda: videos(player) > 0, 1, "media of the new owner, while the old one has not answered yet")
        nodes[0].machine.mend()
        for one in (player, neighbour, first, other, second):
            one.stop()
        assert player.error is None


def test_a_pull_does_not_wait_for_an_owner_that_is_cut_off(tmp_path, clip):
    own_network.run(call_an_owner_that_is_cut_off, tmp_path, clip("basic"), limit_s=60)
