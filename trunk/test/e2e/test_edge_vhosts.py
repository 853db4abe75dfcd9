"""A client that was admitted to one virtual host gets nothing of another one, for any query: through an edge, a node of a cluster, another
worker. Each of these queries names two virtual hosts, each for another reader."""

import urllib.error
import urllib.request

import pytest

from cluster_nodes import fixture_network, fixture_node, fixture_registry, wait_nodes  # noqa: F401  pylint: disable=unused-import
from hook_server import Answer, HookServer
from live_server import Ports, free_udp_ports, wait_until
from rtmp_client import VIDEO, Player, Publisher

HLS = "hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html/%s; }"
REMUX = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
DENY = Answer('{"code": 1, "msg": "no"}')
SECRET = "cluster { secret open-sesame; }"
# The first one that a reader finds: "open" here.
QUERIES = ["vhost=open&domain=protected", "vhost=open&x?vhost=protected", "vhost=open&v%68ost=protected", "vhost=open&x=1...vhost...protected",
           "x?vhost=open&d%6fmain=protected"]


def vhosts(inside: str, protected: str = "") -> str:
    """Two virtual hosts beside the default one, each with the same inside."""
    return "".join(f"vhost {name} {{ {inside} {HLS % name} {protected if name == 'protected' else ''} }}\n" for name in ("open", "protected"))


def publish(server, clip, vhost: str) -> Publisher:
    publisher = Publisher(server.ports["rtmp"], f"cam?vhost={vhost}", clip, host=getattr(server, "host", "127.0.0.1"))
    publisher.start()
    wait_until(lambda: vhost in streams_of(server), 10, "it is published")
    return publisher


def streams_of(server) -> dict[str, str]:
    """The URLs of active streams by the name of their virtual host."""
    streams = server.api("/api/v1/streams/")["streams"]
    names = {one["id"]: one["name"] for one in server.api("/api/v1/vhosts/")["vhosts"]}
    return {names[one["vhost"]]: one["name"] for one in streams if one["publish"]["active"]}


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=15) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def wait_no_pull(edge) -> None:
    """A pull asks for what its first player has asked for."""
    wait_until(lambda: not edge.api("/api/v1/clusters")["data"]["pulls"], 20, "the pull has ended")


def assert_has(player: Player, own: Publisher, other: Publisher) -> None:
    """Frames of its own publisher, none of the other one's."""
    wait_until(lambda: sum(message.type == VIDEO for message in player.messages) > 20, 20, "the stream")
    marks = {message.mark() for message in player.stop() if message.type == VIDEO and not message.is_sequence_header()}
    assert not marks & set(other.sent), "frames of the other virtual host"
    assert marks <= set(own.sent)


@pytest.mark.parametrize("protocol", ["rtmp", "flv"])
def test_an_edges_query_chooses_no_virtual_host_at_the_origin(server, clip, protocol):
    """The edge guards its virtual host, and the origin trusts its edges."""
    with HookServer(answers={"on_play": DENY}) as hooks:
        origin = server(root=vhosts(f"{REMUX} {SECRET}", f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; }}"))
        place = f"127.0.0.1:{origin.ports['rtmp' if protocol == 'rtmp' else 'http']}"
        pull = f"cluster {{ mode remote; origin {place}; protocol {protocol}; secret open-sesame; first_frame_timeout 1; linger 0; }} {REMUX}"
        edge = server(root=vhosts(pull, "security { enabled on; deny play all; }"))
        publisher = publish(origin, clip("second"), "protected")
        for query in QUERIES:
            player = Player(edge.ports["rtmp"], f"cam?{query}")
            assert player.status["level"] == "error", query
            player.client.close()
            wait_no_pull(edge)
        for query in QUERIES[:3]:
            assert status_of(f"http://127.0.0.1:{edge.ports['http']}/live/cam.flv?{query}") in (403, 404), query
            wait_no_pull(edge)
        if protocol == "rtmp":  # It takes seconds.
            assert status_of(f"http://127.0.0.1:{edge.ports['http']}/live/cam.m3u8?{QUERIES[1]}") == 404
        assert not streams_of(edge), "nothing is filed under another name"
        other = publish(origin, clip("basic"), "open")
        for query in QUERIES[:3]:
            player = Player(edge.ports["rtmp"], f"cam?{query}")
            player.start()
            assert_has(player, other, publisher)
            wait_no_pull(edge)
        publisher.stop()
        other.stop()


def test_a_publishers_query_at_an_edge_chooses_no_virtual_host_at_the_origin(server, clip):
    with HookServer(answers={"on_publish": DENY}) as hooks:
        origin = server(f"{SECRET} {(hook := 'http_hooks { enabled on; on_publish %s; }' % hooks.url('/on_publish'))}", vhosts(SECRET, hook))
        edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; secret open-sesame; }}")
        for query in ("vhost=protected", "domain=protected", "x?vhost=protected", "v%68ost=protected"):
            publisher = Publisher(edge.ports["rtmp"], f"cam?{query}", clip("basic"))
            publisher.start()
            wait_until(lambda: streams_of(origin), 10, "it is at the origin")
            assert set(streams_of(origin)) == {"__defaultVhost__"}, query
            publisher.stop()
            wait_until(lambda: not streams_of(origin), 10, "it has ended")
        assert not hooks.events, "the origin believes the edge's proof"


def test_an_edge_publishes_where_it_pulls(server, clip):
    """Where the origin has another name for the virtual host."""
    origin = server(root=vhosts(REMUX))
    edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; vhost open; }}")
    publisher = Publisher(edge.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    wait_until(lambda: streams_of(origin), 10, "it is at the origin")
    assert set(streams_of(origin)) == {"open"}
    publisher.stop()


@pytest.mark.one_machine
def test_a_nodes_query_chooses_no_virtual_host_in_its_cluster(registry, node, clip):
    with HookServer(answers={"on_play": DENY}) as hooks:
        root = vhosts(f"{REMUX} cluster {{ linger 0; }}", f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; }}")
        owner, other = [node(registry, more="secret open-sesame;", root=root) for _ in range(2)]
        wait_nodes(owner, other)
        publishers = {vhost: publish(owner, clip(name), vhost) for vhost, name in (("open", "basic"), ("protected", "second"))}
        for query in QUERIES:
            player = Player(other.ports["rtmp"], f"cam?{query}", host=other.host)
            player.start()
            assert_has(player, publishers["open"], publishers["protected"])
            wait_no_pull(other)
        assert not hooks.events
        for publisher in publishers.values():
            publisher.stop()


def clients_of(live, kind: str) -> list[dict]:
    return [one for one in live.api("/api/v1/clients/?count=1000")["clients"] if one["type"] == kind]


def test_a_workers_query_chooses_no_virtual_host_at_another_worker(server, clip):
    live = server(root=f"workers 2;\n{vhosts(REMUX, 'security { enabled on; deny play all; }')}", ports=Ports(udp=free_udp_ports(2)))
    live.wait_log("2 workers serve", 20)
    own = publish(live, clip("basic"), "open")
    home = clients_of(live, "fmle-publish")[0]["worker"]
    while True:  # The kernel spreads connections.
        other = publish(live, clip("second"), "protected")
        if {one["worker"] for one in clients_of(live, "fmle-publish")} == {home}:
            break
        other.stop()
        wait_until(lambda: "protected" not in streams_of(live), 10, "it has ended")
    for query in QUERIES:
        players = []
        while {one["worker"] for one in clients_of(live, "rtmp-play")} <= {home}:
            assert len(players) < 40, "connections do not spread"
            players.append(Player(live.ports["rtmp"], f"cam?{query}"))
            players[-1].start()
        for player in players:
            assert_has(player, own, other)
        wait_until(lambda: not clients_of(live, "rtmp-play"), 10, "they have left")
        # Another player's pull has another query.
        wait_until(lambda: len(live.api("/api/v1/streams/")["streams"][0]["workers"]) == 1, 20, "the pull has ended")
    other.stop()
    own.stop()
