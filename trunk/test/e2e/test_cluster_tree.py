"""Clusters: a stream that many nodes pull goes to 64 of them from its owner, and to the others from those."""

import socket
import time
import urllib.request

from cluster_nodes import (cluster_of, fixture_network, fixture_node, fixture_registry, publish_when_allowed, start_player,  # noqa: F401
                           start_publisher, videos, wait_up, where)
from live_server import wait_until, wait_within
from rtmp_client import RtmpClient

DIRECT_MAX = 64


def register_pretender(registry, network, name: str) -> None:
    """Drains the node, so that no player is redirected to it."""
    registry.call("SET", f"millrace:node:{name}", f"7|{network.ADDRESS}|1|0|0||draining|0|0|", "PX", "120000")
    registry.call("ZADD", "millrace:nodes", str(round(1000 * time.time()) + 120_000), name)


def pull_as(name: str, owner) -> RtmpClient:
    client = RtmpClient(owner.ports["rtmp"], host=owner.host)
    client.handshake()
    client.set_chunk_size(60000)
    command = {"app": "live", "type": "nonprivate", "tcUrl": owner.url("").rstrip("/")}
    client.call("connect", 1, command, {"millrace_path": f"server-of-{name}", "millrace_node": name})
    client.read_command("_result")
    client.create_stream()
    client.call("play", 5, None, "cam", -2000, stream_id=1)
    assert client.read_status()["level"] == "status"
    return client


def pull_of(node) -> dict:
    pulls = node.api("/api/v1/clusters")["data"]["pulls"]
    return pulls[0]["origin"] if pulls else {"url": None}


def handed_on(node) -> int:
    with urllib.request.urlopen(f"http://{node.host}:{node.ports['exporter']}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return int(next(line.rsplit(" ", 1)[1] for line in lines if line.startswith("millrace_cluster_handed_on_pulls_total")))


def test_an_owner_with_many_pullers_names_a_node_that_has_the_stream(registry, node, network, clip):
    names = [f"x{number}" for number in range(DIRECT_MAX - 1)]
    for name in names:
        register_pretender(registry, network, name)
    first, late = node(registry), node(registry)
    wait_up(first, late)
    owner = node(registry)  # the last one: it lists all of them at its start
    wait_until(lambda: len(cluster_of(owner)["nodes"]) == len(names) + 3, 20, "the owner knows all nodes")
    publisher = start_publisher(owner, clip("basic"))
    at_first = start_player(first)
    wait_until(lambda: videos(at_first) > 0, 10, "the first node has it")
    at_owner, at_branch = f"rtmp://{owner.host}:{owner.ports['rtmp']}", f"rtmp://{first.host}:{first.ports['rtmp']}"
    assert pull_of(first)["url"] == at_owner and handed_on(owner) == 0
    pretenders = [pull_as(name, owner) for name in names]
    at_late = start_player(late)
    wait_until(lambda: videos(at_late) > 0, 10, "the late node has it too")
    assert pull_of(late)["url"] == at_branch and handed_on(owner) == 1

    # What makes a node look again does not make it leave the branch while the owner is the same.
    asked = cluster_of(late)["registry"]["commands"]
    tries = pull_of(late)["tries"]
    registry.call("PUBLISH", "millrace:events", "moved|n9|1|5|/live/cam")
    wait_until(lambda: cluster_of(late)["registry"]["commands"] > asked, 10, "it asks the registry")
    seen = videos(at_late)
    wait_until(lambda: videos(at_late) > seen + 10, 10, "it plays on")
    assert pull_of(late)["url"] == at_branch and pull_of(late)["tries"] == tries

    # The node between is lost: there is a place at the owner.
    first.kill()
    seen = videos(at_late)
    wait_within(lambda: videos(at_late) > seen and pull_of(late)["url"] == at_owner, 2, (late, owner), "media from the owner itself")
    assert at_late.error is None and publisher.error is None
    for client in pretenders:
        client.close()
    for one in (at_late, at_first, publisher):
        one.stop()


def test_a_pull_that_has_given_way_may_take_its_time(registry, node, network, clip):
    """Its node is silent and drains: a publisher takes the stream, leaves again, and the next player begins another pull."""
    one = node(registry)
    wait_up(one)
    with socket.create_server((network.ADDRESS, 0)) as mute:
        registry.call("SET", "millrace:node:x0", f"7|{network.ADDRESS}|{mute.getsockname()[1]}|0|0||draining|0|0|", "PX", "120000")
        registry.call("SET", "millrace:own:/live/cam", "x0|7|4|1")
        first = start_player_that_waits(one)
        wait_until(lambda: pull_of(one)["url"], 5, "it is pulled")
        publisher = publish_when_allowed(one, clip("basic"), 5)
        publisher.stop()
        wait_until(lambda: where(one, "/live/cam") == "nowhere", 5, "it is gone")
        registry.call("SET", "millrace:own:/live/cam", "x0|7|40|1")
        registry.call("PUBLISH", "millrace:events", "moved|x0|7|40|/live/cam")
        second = start_player_that_waits(one)
        wait_until(lambda: pull_of(one)["url"], 5, "it is pulled again")
        for player in (first, second):
            player.close()
    one.assert_alive()


def start_player_that_waits(node) -> RtmpClient:
    client = RtmpClient(node.ports["rtmp"], host=node.host)
    client.connect("live")
    client.create_stream()
    client.call("play", 5, None, "cam", -2000, stream_id=1)
    return client
