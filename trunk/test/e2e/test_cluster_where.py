"""Clusters: where players are sent, and how a node is emptied before it stops."""

import http.client
import signal
import time

import pytest

from live_server import LiveServer, conf, wait_until
from rtc_offer import ask, offer
from rtmp_client import Closed, Player, Publisher, RtmpClient
from test_cluster import (VHOST, cluster_of, fixture_node, fixture_registry, owners, publish_when_allowed,  # noqa: F401
                          start_player, start_publisher, videos, wait_up, where)

OUTPUTS = " dash { enabled on; dash_fragment 1; dash_path $folder/html; } rtc { enabled on; rtmp_to_rtc on; }"
WHEP = "/rtc/v1/whep/?app=live&stream=cam"
REDIRECT = "redirect on; capacity 1000000000;"


@pytest.fixture(name="site")
def fixture_site(tmp_path):
    """site(registry, more) starts a node with all outputs."""
    started = []

    def start(registry, more: str = "", root: str = "") -> LiveServer:
        name = f"n{len(started)}"
        block = (f"cluster {{ registry {registry.url()}; node_id {name}; advertise 127.0.0.1; beat 1; lease 3; {more} }}\n"
                 "exporter { enabled on; listen 127.0.0.1:$exporter; }\n"
                 "rtc_server { enabled on; listen 127.0.0.1:$rtc; candidate 127.0.0.1; }\n")
        started.append(LiveServer(tmp_path / name, conf(VHOST + OUTPUTS, block + root)).start())
        return started[-1]

    yield start
    try:
        for one in started:
            one.assert_no_report()
    finally:
        for one in started:
            one.kill()


def get(port: int, path: str) -> tuple[int, str]:
    """Status and Location, not followed."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        line.request("GET", path)
        answer = line.getresponse()
        return answer.status, answer.headers.get("Location", "")
    finally:
        line.close()


def wait_nodes(*nodes: LiveServer) -> None:
    wait_up(*nodes)
    for node in nodes:
        wait_until(lambda one=node: len(cluster_of(one)["nodes"]) == len(nodes), 10, "it knows the others")


def test_players_are_sent_to_the_node_that_has_the_stream(registry, site, clip):
    asked, owner = site(registry, REDIRECT), site(registry, REDIRECT)
    wait_nodes(asked, owner)
    publisher = start_publisher(owner, clip("basic"))
    player = Player(asked.ports["rtmp"], "cam?token=x")
    assert player.status["level"] == "error" and player.status["ex"]["code"] == 302, player.status
    place = f"rtmp://127.0.0.1:{owner.ports['rtmp']}/live"
    assert player.status["ex"]["redirect"] == f"{place}?millrace_hop=n0"
    assert player.status["ex"]["redirect2"] == f"{place}/cam?token=x&millrace_hop=n0"
    player.client.close()
    for path in ("/live/cam.flv", "/live/cam.m3u8", "/live/cam.mpd"):
        status, location = get(asked.ports["http"], path)
        assert (status, location) == (302, f"http://127.0.0.1:{owner.ports['http']}{path}?millrace_hop=n0"), path
    answer = ask(asked.ports["api"], "POST", WHEP, offer("recvonly"), Content_Type="application/sdp")
    assert (answer.status, answer.headers["Location"]) == (307, f"http://127.0.0.1:{owner.ports['api']}{WHEP}&millrace_hop=n0")
    assert not asked.api("/api/v1/streams/")["streams"], "nothing is pulled"
    # On the owner all of them are served; and a player that has been sent before stays wherever it comes.
    local = start_player(owner)
    sent = start_player(asked, "cam?millrace_hop=n1")
    wait_until(lambda: videos(local) > 0 and videos(sent) > 0, 5, "both play")
    assert cluster_of(asked)["players"] == {"sent": 5, "stayed": 1}
    # The other API of WebRTC has no redirect, and neither have WebSocket players: the stream is pulled for them.
    wait_until(lambda: asked.api("/api/v1/streams/")["streams"], 5, "it is pulled now")
    for one in (local, sent):
        one.stop()
        assert one.error is None
    publisher.stop()


def test_whep_and_dash_are_played_on_every_node(registry, site, clip):
    nodes = [site(registry), site(registry)]
    wait_nodes(*nodes)
    publisher = start_publisher(nodes[0], clip("basic"))
    for node in nodes:
        answer = ask(node.ports["api"], "POST", WHEP, offer("recvonly"), Content_Type="application/sdp")
        assert answer.status == 201 and "a=sendonly" in answer.body, answer.status
        wait_until(lambda one=node: get(one.ports["http"], "/live/cam.mpd")[0] == 200, 15, "the MPD")
    wait_until(lambda: nodes[1].api("/api/v1/clusters")["data"]["pulls"], 5, "the second node pulls it")
    assert len(nodes[1].api("/api/v1/clusters")["data"]["pulls"]) == 1, "once for both"
    publisher.stop()


def test_a_player_stays_in_its_region(registry, site, clip):
    near, far = site(registry, REDIRECT + " region eu;"), site(registry, REDIRECT + " region us;")
    wait_nodes(near, far)
    publisher = start_publisher(far, clip("basic"))
    player = start_player(near)
    wait_until(lambda: videos(player) > 0, 5, "it is pulled to the region")
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
    wait_until(lambda: record()["load"] > 20_000, 15, "the other node sees the load")
    assert record()["capacity"] == 1_000_000 and 0.02 < record()["share"] < 3
    with_metrics = http.client.HTTPConnection("127.0.0.1", owner.ports["exporter"], timeout=5)
    with_metrics.request("GET", "/metrics")
    lines = dict(line.rsplit(" ", 1) for line in with_metrics.getresponse().read().decode().splitlines() if not line.startswith("#"))
    assert lines["millrace_cluster_capacity_bytes"] == "1000000" and float(lines["millrace_cluster_capacity_used"]) > 0.01
    for player in players:
        player.stop()
    publisher.stop()


def drain_of(node: LiveServer) -> dict:
    return node.api("/api/v1/drain")["data"]


def test_a_node_that_drains_gives_its_publishers_and_players_away(registry, site, server, clip):
    """The publisher is our own RTMP client, a forward, which announces Reconnect; so does one player. No frame is lost."""
    first, second = site(registry, "drain_limit 8;"), site(registry)
    wait_nodes(first, second)
    encoder = server(f"forward {{ enabled on; destination 127.0.0.1:{first.ports['rtmp']}; }}")
    publisher = start_publisher(encoder, clip("basic"))
    wait_until(lambda: owners(second) == {"/live/cam": "n0"}, 10, "it is registered")
    local, remote = start_player(first), start_player(second)
    able = RtmpClient(first.ports["rtmp"])
    able.connect("live", capsEx=1)
    able.create_stream()
    able.call("play", 5, None, "cam?token=x", -2000, stream_id=1)
    wait_until(lambda: videos(local) > 10 and videos(remote) > 10, 10, "both play")
    ready = get(first.ports["api"], "/readyz")[0]
    assert ready == 200 and drain_of(first)["state"] == "serving"
    answer = ask(first.ports["api"], "POST", "/api/v1/drain")
    assert answer.status == 200 and answer.json()["data"]["state"] == "draining"
    wait_until(lambda: owners(second) == {"/live/cam": "n1"}, 5, "the stream is on the other node")
    while (told := able.read_status())["code"] != "NetConnection.Connect.ReconnectRequest":
        pass
    assert told["tcUrl"] == f"rtmp://127.0.0.1:{second.ports['rtmp']}/live?millrace_hop=n0"
    able.close()
    assert get(first.ports["api"], "/readyz")[0] == 503
    facts = drain_of(first)
    assert facts["state"] == "draining" and facts["limit_ms"] == 8000 and facts["asked"] >= 2, facts
    # Who comes now is sent on, and publishers are refused.
    late = Player(first.ports["rtmp"], "cam")
    assert late.status["ex"]["code"] == 302, late.status
    late.client.close()
    status, location = get(first.ports["http"], "/live/cam.m3u8")
    assert status == 302 and location.startswith(f"http://127.0.0.1:{second.ports['http']}/live/cam.m3u8"), (status, location)
    assert ask(first.ports["api"], "POST", WHEP, offer("recvonly"), Content_Type="application/sdp").status == 307
    with pytest.raises((AssertionError, Closed, OSError)):
        publish_when_allowed(first, clip("basic"), 0.5)
    # Players that cannot be told stay to the limit.
    seen = videos(local)
    wait_until(lambda: videos(local) > seen + 10, 5, "the player that was there goes on")
    assert local.error is None and first.process.poll() is None
    first.process.wait(20)
    assert "drain ends after" in first.log() and "the server has stopped gracefully" in first.log()
    time.sleep(1)
    arrived = [message.arrived for message in remote.stop() if message.type == 9]
    assert remote.error is None and max(later - earlier for earlier, later in zip(arrived, arrived[1:])) < 1, "nothing is missing elsewhere"
    assert "FWR goes on at" in encoder.log()
    local.stop()
    publisher.stop()


def test_an_hls_player_goes_on_at_another_node(registry, site, clip):
    first, second = site(registry, "drain_limit 6;"), site(registry)
    wait_nodes(first, second)
    publisher = start_publisher(second, clip("basic"))
    # As a player does: the master playlist, then the one that it names.
    wait_until(lambda: get(first.ports["http"], "/live/cam.m3u8")[0] == 200, 15, "the playlist on the first node")
    line = http.client.HTTPConnection("127.0.0.1", first.ports["http"], timeout=10)
    line.request("GET", "/live/cam.m3u8")
    master = line.getresponse().read().decode()
    media = [one for one in master.splitlines() if one and not one.startswith("#")][0]
    assert get(first.ports["http"], media)[0] == 200
    first.process.send_signal(signal.SIGQUIT)
    status, location = wait_until(lambda: (found := get(first.ports["http"], media))[0] == 302 and found, 5, "it is sent on")
    assert location == f"http://127.0.0.1:{second.ports['http']}{media}&millrace_hop=n0"
    assert get(second.ports["http"], location.split(str(second.ports["http"]), 1)[1])[0] == 200, "it is the same session there"
    first.process.wait(20)
    publisher.stop()


def test_an_encoder_that_cannot_be_asked_stays_to_the_limit(registry, site, clip):
    first, second = site(registry, "drain_limit 3;", "grace_start_wait 100; grace_final_wait 500;\n"), site(registry)
    wait_nodes(first, second)
    publisher = start_publisher(first, clip("basic"))
    began = time.monotonic()
    first.process.send_signal(signal.SIGQUIT)
    wait_until(lambda: {one["id"]: one["state"] for one in cluster_of(second)["nodes"]}["n0"] == "draining", 3, "the others know")
    time.sleep(max(0.0, began + 2.5 - time.monotonic()))
    assert publisher.error is None and publisher.is_alive()
    publisher.join(5)
    assert 2.9 < time.monotonic() - began < 8
    assert "asked to leave" in first.log()
    again = publish_when_allowed(second, clip("basic"), 3)
    assert where(second, "/live/cam") == "here" or owners(second) == {"/live/cam": "n1"}
    again.stop()


def test_a_drain_is_not_for_strangers(registry, site):
    one = site(registry)
    wait_up(one)
    assert ask(one.ports["api"], "PUT", "/api/v1/drain").status == 405
    assert drain_of(one) == {"state": "serving", "lasted_ms": 0, "limit_ms": 0, "publishers": 0, "players": 0, "asked": 0, "redirected": 0}


def test_nodes_with_a_secret_believe_nobody_else(registry, site, clip):
    first, second = site(registry, "secret hush;"), site(registry, "secret hush;")
    stranger = site(registry)
    wait_up(first, second, stranger)
    publisher = start_publisher(first, clip("basic"))
    wait_until(lambda: owners(second) == {"/live/cam": "n0"}, 5, "a node of the cluster is believed")
    player = start_player(second)
    wait_until(lambda: videos(player) > 0, 5, "it plays")
    alien = start_publisher(stranger, clip("basic"), "alien")
    wait_until(lambda: where(stranger, "/live/alien") in ("here", "n2"), 5, "it is registered")
    assert where(second, "/live/alien") == "nowhere" and "/live/alien" not in owners(second)
    # What stands there for a stream of ours, but with another address.
    registry.call("SET", "millrace:node:n9", "7|127.0.0.1|1|0|0||up|0|0|", "PX", "60000")
    registry.call("SET", "millrace:own:/live/forged", "n9|7|4|1")
    assert where(second, "/live/forged") == "nowhere"
    registry.call("PUBLISH", "millrace:events", "kick|n0|1|0|/live/cam")
    seen = videos(player)
    wait_until(lambda: videos(player) > seen + 10, 5, "nobody was kicked")
    assert publisher.error is None and "hush" not in first.log()
    for one in (player, alien, publisher):
        one.stop()
