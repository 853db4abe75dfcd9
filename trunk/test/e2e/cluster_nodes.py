"""Nodes of a cluster at one registry, their publishers and players, and what they say of themselves."""

import contextlib
import http.client
import time

import pytest

from live_server import LiveServer, conf, wait_until
from nodes import Bridge, Node, OneMachine, bridge_of_this_thread
from registry_server import RegistryServer
from rtc_offer import ask
from rtmp_client import VIDEO, Closed, Player, Publisher, assert_gapless

VHOST = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; }"
OUTPUTS = " dash { enabled on; dash_fragment 1; dash_path $folder/html; } rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; }"
RTC = "rtc_server { enabled on; listen 127.0.0.1:$rtc; candidate 127.0.0.1; }\n"
WHEP = "/rtc/v1/whep/?app=live&stream=cam"
LEASE_S = 3  # of the nodes of start_nodes
REDIRECT = "redirect on; capacity 1000000000;"


@contextlib.contextmanager
def nodes_in(folder, network):
    """start(registry, ...) starts one on a machine of its own; at the end all are killed, and none may have reported anything."""
    started = []

    def start(registry, vhost: str = "", url: str | None = None, more: str = "", root: str = "", outputs: str = VHOST) -> LiveServer:
        name = f"n{len(started)}"
        block = (f"cluster {{ registry {url or registry.url()}; node_id {name}; advertise 127.0.0.1; beat 1; lease 5; {more} }}\n"
                 "exporter { enabled on; listen 127.0.0.1:$exporter; }\n"
                 f"limits {{ trusted {network.ADDRESS}; }}\n")
        started.append(Node(folder / name, conf(outputs + vhost, block + root), network.add_port()).start())
        return started[-1]

    try:
        yield start
        for one in started:
            one.assert_no_report()
    finally:
        for one in started:
            one.kill()


@pytest.fixture(name="network")
def fixture_network(request):
    """A bridge that the test is on, beside the machines of nodes and registry. One machine for all of them, when the test is marked so."""
    if request.node.get_closest_marker("one_machine"):
        yield OneMachine()
        return
    with bridge_of_this_thread() as network:
        yield network


@pytest.fixture(name="registry")
def fixture_registry(tmp_path, network):
    one = RegistryServer(tmp_path / "registry", machine=network.add_port())
    yield one.start()
    one.stop()


@pytest.fixture(name="node")
def fixture_node(tmp_path, network):
    with nodes_in(tmp_path, network) as start:
        yield start


@pytest.fixture(name="site")
def fixture_site(tmp_path, network):
    """site(registry, more) starts a node with all outputs."""
    with nodes_in(tmp_path, network) as start:
        yield lambda registry, more="", root="": start(registry, OUTPUTS, more=more, root=RTC + root)


def cluster_of(node: LiveServer) -> dict:
    return node.api("/api/v1/clusters")["data"]["cluster"]


def owners(node: LiveServer) -> dict[str, str]:
    return {one["stream"]: one["node"] for one in cluster_of(node)["streams"]}


def where(node: LiveServer, stream: str) -> str:
    data = node.api(f"/api/v1/cluster/where?stream={stream}")["data"]
    return data["node"]["id"] if data["node"] else data["state"]


def wait_up(*nodes: LiveServer) -> None:
    for node in nodes:
        wait_until(lambda one=node: cluster_of(one)["registry"]["state"] == "up", 20, "the registry is connected")


def videos(player: Player) -> int:
    return sum(message.type == VIDEO for message in player.messages)


def assert_unnoticed(player: Player, publisher: Publisher) -> None:
    """Not a frame is missing, and none came later than on a busy machine; what the publisher's own process did not get of it is not counted."""
    got = [message for message in list(player.messages) if message.type == VIDEO]
    assert player.error is None and len(got) > 10
    assert_gapless(got, [mark for mark in publisher.sent if mark[0] == VIDEO])
    gap = max(later.arrived - earlier.arrived for earlier, later in zip(got, got[1:]))
    assert gap < 2.5 + publisher.longest_pause, f"{gap:.2f} s without a frame"


def start_player(node: LiveServer, stream: str = "cam") -> Player:
    player = Player(node.ports["rtmp"], stream, host=node.host)
    player.start()
    return player


def start_publisher(node: LiveServer, clip, stream: str = "cam") -> Publisher:
    publisher = Publisher(node.ports["rtmp"], stream, clip, host=node.host)
    publisher.start()
    return publisher


def publish_when_allowed(node: LiveServer, clip, limit_s: float) -> Publisher:
    """As an encoder does that tries again."""
    deadline = time.monotonic() + limit_s
    while True:
        try:
            publisher = Publisher(node.ports["rtmp"], "cam", clip, host=node.host)
            if publisher.status["code"] == "NetStream.Publish.Start":
                publisher.start()
                return publisher
            publisher.client.close()
        except (Closed, OSError, TimeoutError):
            pass
        assert time.monotonic() < deadline, "nobody lets the publisher in"
        time.sleep(0.1)


def get(node: LiveServer, port: str, path: str) -> tuple[int, str]:
    """Status and Location, not followed."""
    line = http.client.HTTPConnection(node.host, node.ports[port], timeout=30)
    try:
        line.request("GET", path)
        answer = line.getresponse()
        return answer.status, answer.headers.get("Location", "")
    finally:
        line.close()


def ask_api(node: LiveServer, method: str, path: str, body: str = "", **headers):
    return ask(node.ports["api"], method, path, body, host=node.host, **headers)


def wait_nodes(*nodes: LiveServer) -> None:
    wait_up(*nodes)
    for node in nodes:
        wait_until(lambda one=node: len(cluster_of(one)["nodes"]) == len(nodes), 20, "it knows the others")


def start_nodes(stack: contextlib.ExitStack, folder, count: int, vhost: str = VHOST, root: str = "") -> tuple[RegistryServer, list[Node]]:
    """A registry, and nodes that know each other, each on a machine of its own, of a test in a network of its own."""
    bridge = stack.enter_context(Bridge(count))
    machines = list(bridge.ports)
    registry = RegistryServer(folder / "registry", machine=bridge.add_port()).start()
    stack.callback(registry.stop)
    nodes = []
    for number, port in enumerate(machines):
        block = (f"cluster {{ registry {registry.url()}; node_id n{number}; advertise {port.address}; beat 1; lease {LEASE_S}; }}\n"
                 f"limits {{ trusted {Bridge.ADDRESS}; }}\n")
        nodes.append(Node(folder / f"n{number}", conf(vhost, block + root), port))
        stack.callback(nodes[-1].kill)
        nodes[-1].start()
    wait_nodes(*nodes)
    return registry, nodes


def drain_of(node: LiveServer) -> dict:
    return node.api("/api/v1/drain")["data"]
