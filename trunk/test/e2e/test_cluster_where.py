"""Clusters: where players are sent, and whom nodes believe."""

import http.client

from cluster_nodes import (REDIRECT, WHEP, ask_api, cluster_of, fixture_network, fixture_registry, fixture_site, get, owners,  # noqa: F401
                           start_player, start_publisher, videos, wait_nodes, wait_up, where)
from live_server import wait_until
from rtc_offer import offer
from rtmp_client import Player


def test_players_are_sent_to_the_node_that_has_the_stream(registry, site, clip):
    asked, owner = site(registry, REDIRECT), site(registry, REDIRECT)
    wait_nodes(asked, owner)
    publisher = start_publisher(owner, clip("basic"))
    player = Player(asked.ports["rtmp"], "cam?token=x", host=asked.host)
    assert player.status["level"] == "error" and player.status["ex"]["code"] == 302, player.status
    place = f"rtmp://{owner.host}:{owner.ports['rtmp']}/live"
    assert player.status["ex"]["redirect"] == f"{place}?millrace_hop=n0"
    assert player.status["ex"]["redirect2"] == f"{place}/cam?token=x&millrace_hop=n0"
    player.client.close()
    for path in ("/live/cam.flv", "/live/cam.m3u8", "/live/cam.mpd"):
        status, location = get(asked, "http", path)
        assert (status, location) == (302, f"http://{owner.host}:{owner.ports['http']}{path}?millrace_hop=n0"), path
    answer = ask_api(asked, "POST", WHEP, offer("recvonly"), Content_Type="application/sdp")
    assert (answer.status, answer.headers["Location"]) == (307, f"http://{owner.host}:{owner.ports['api']}{WHEP}&millrace_hop=n0")
    assert not asked.api("/api/v1/streams/")["streams"], "nothing is pulled"
    # On the owner all of them are served; and a player that has been sent before stays wherever it comes.
    local = start_player(owner)
    sent = start_player(asked, "cam?millrace_hop=n1")
    wait_until(lambda: videos(local) > 0 and videos(sent) > 0, 10, "both play")
    assert cluster_of(asked)["players"] == {"sent": 5, "stayed": 1}
    # The other API of WebRTC has no redirect, and neither have WebSocket players: the stream is pulled for them.
    wait_until(lambda: asked.api("/api/v1/streams/")["streams"], 10, "it is pulled now")
    for one in (local, sent):
        one.stop()
        assert one.error is None
    publisher.stop()


def test_whep_and_dash_are_played_on_every_node(registry, site, clip):
    nodes = [site(registry), site(registry)]
    wait_nodes(*nodes)
    publisher = start_publisher(nodes[0], clip("basic"))
    for node in nodes:
        answer = ask_api(node, "POST", WHEP, offer("recvonly"), Content_Type="application/sdp")
        assert answer.status == 201 and "a=sendonly" in answer.body, answer.status
        wait_until(lambda one=node: get(one, "http", "/live/cam.mpd")[0] == 200, 30, "the MPD")
    wait_until(lambda: nodes[1].api("/api/v1/clusters")["data"]["pulls"], 10, "the second node pulls it")
    assert len(nodes[1].api("/api/v1/clusters")["data"]["pulls"]) == 1, "once for both"
    publisher.stop()


def test_a_player_stays_in_its_region(registry, site, clip):
    near, far = site(registry, REDIRECT + " region eu;"), site(registry, REDIRECT + " region us;")
    wait_nodes(near, far)
    publisher = start_publisher(far, clip("basic"))
    player = start_player(near)
    wait_until(lambda: videos(player) > 0, 10, "it is pulled to the region")
    player.stop()
    assert player.error is None
    publisher.stop()


def test_the_load_is_shown(registry, site, clip):
    owner, other = site(registry, "capacity 1000000;"), site(registry)
    wait_nodes(owner, other)
    publisher = start_publisher(owner, clip("basic"))
    players = [start_player(owner) for _ in range(4)]
    def record() -> dict:
        return {one["id"]: one for one in cluster_of(other)["nodes"]}["n0"]
    seen = wait_until(lambda: (one := record())["load"] > 20_000 and one, 20, "the other node sees the load")
    assert seen["capacity"] == 1_000_000 and 0.02 < seen["share"] < 3
    with_metrics = http.client.HTTPConnection(owner.host, owner.ports["exporter"], timeout=30)
    with_metrics.request("GET", "/metrics")
    lines = dict(line.rsplit(" ", 1) for line in with_metrics.getresponse().read().decode().splitlines() if not line.startswith("#"))
    assert lines["millrace_cluster_capacity_bytes"] == "1000000" and float(lines["millrace_cluster_capacity_used"]) > 0.01
    for player in players:
        player.stop()
    publisher.stop()


def test_nodes_with_a_secret_reject_unsigned_entries(registry, site, clip):
    first, second = site(registry, "secret hush;"), site(registry, "secret hush;")
    stranger = site(registry)
    wait_up(first, second, stranger)
    publisher = start_publisher(first, clip("basic"))
    wait_until(lambda: owners(second) == {"/live/cam": "n0"}, 10, "a node of the cluster is believed")
    player = start_player(second)
    wait_until(lambda: videos(player) > 0, 10, "it plays")
    alien = start_publisher(stranger, clip("basic"), "alien")
    wait_until(lambda: where(stranger, "/live/alien") in ("here", "n2"), 10, "it is registered")
    assert where(second, "/live/alien") == "nowhere" and "/live/alien" not in owners(second)
    # What stands there for a stream of ours, but with another address.
    registry.call("SET", "millrace:node:n9", f"7|{first.host}|1|0|0||up|0|0|", "PX", "60000")
    registry.call("SET", "millrace:own:/live/forged", "n9|7|4|1")
    assert where(second, "/live/forged") == "nowhere"
    registry.call("PUBLISH", "millrace:events", "kick|n0|1|0|/live/cam")
    seen = videos(player)
    wait_until(lambda: videos(player) > seen + 10, 10, "nobody was kicked")
    assert publisher.error is None and "hush" not in first.log()
    for one in (player, alien, publisher):
        one.stop()
