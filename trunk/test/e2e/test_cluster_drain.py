"""Clusters: how a node is emptied before it stops."""

import http.client
import shutil
import signal
import time

import pytest

from able_players import RECONNECT, Order
from cluster_nodes import (REDIRECT, WHEP, ask_api, cluster_of, drain_of, fixture_network, fixture_registry, fixture_site, get,  # noqa: F401
                           owners, publish_when_allowed, start_player, start_publisher, videos, wait_nodes, wait_up, where)
from live_server import LiveServer, Stopwatch, wait_until
from rtc_offer import offer
from rtc_site import FRAMES
from rtmp_client import VIDEO, Closed, Player, RtmpClient


def able_player(node: LiveServer) -> RtmpClient:
    """A player that has announced Reconnect."""
    able = RtmpClient(node.ports["rtmp"], host=node.host)
    able.connect("live", capsEx=1)
    able.create_stream()
    able.call("play", 5, None, "cam?token=x", -2000, stream_id=1)
    return able


def reconnect_request(able: RtmpClient) -> dict:
    while (told := able.read_status())["code"] != RECONNECT:
        pass
    return told


@pytest.mark.one_machine("who asks for the drain has to be on the node's machine")
def test_a_node_that_drains_gives_its_publishers_and_players_away(registry, site, server, clip):
    """The publisher is our own RTMP client, a forward, which announces Reconnect; so does one player. No frame is lost."""
    first, second = site(registry, REDIRECT + "drain_limit 12;"), site(registry)
    wait_nodes(first, second)
    encoder = server(f"forward {{ enabled on; destination {first.host}:{first.ports['rtmp']}; }}")
    publisher = start_publisher(encoder, clip("basic"))
    wait_until(lambda: owners(second) == {"/live/cam": "n0"}, 20, "it is registered")
    local, remote = start_player(first), start_player(second)
    able = able_player(first)
    wait_until(lambda: videos(local) > 10 and videos(remote) > 10, 10, "both play")
    ready = get(first, "api", "/readyz")[0]
    assert ready == 200 and drain_of(first)["state"] == "serving"
    answer = ask_api(first, "POST", "/api/v1/drain")
    assert answer.status == 200 and answer.json()["data"]["state"] == "draining"
    wait_until(lambda: owners(second) == {"/live/cam": "n1"}, 10, "the stream is on the other node")
    told = reconnect_request(able)
    assert told["tcUrl"] == f"rtmp://{second.host}:{second.ports['rtmp']}/live?millrace_hop=n0"
    able.close()
    assert get(first, "api", "/readyz")[0] == 503
    facts = drain_of(first)
    assert facts["state"] == "draining" and facts["limit_ms"] == 12000 and facts["asked"] >= 2, facts
    # New players are redirected, and publishers are refused.
    late = Player(first.ports["rtmp"], "cam", host=first.host)
    assert late.status["ex"]["code"] == 302, late.status
    late.client.close()
    status, location = get(first, "http", "/live/cam.m3u8")
    assert status == 302 and location.startswith(f"http://{second.host}:{second.ports['http']}/live/cam.m3u8"), (status, location)
    assert ask_api(first, "POST", WHEP, offer("recvonly"), Content_Type="application/sdp").status == 307
    with pytest.raises((AssertionError, Closed, OSError)):
        publish_when_allowed(first, clip("basic"), 0.5)
    # Players without a redirect stay until the limit.
    seen = videos(local)
    wait_until(lambda: videos(local) > seen + 10, 10, "the player that was there goes on")
    assert local.error is None and first.process.poll() is None
    first.process.wait(30)
    assert "drain ends after" in first.log() and "the server has stopped gracefully" in first.log()
    time.sleep(1)
    got = [message for message in remote.stop() if message.type == VIDEO]
    assert remote.error is None and Order(clip("basic")).holes(got) == []
    assert max(later.arrived - earlier.arrived for earlier, later in zip(got, got[1:])) < 2.5 + publisher.longest_pause
    encoder.wait_log("FWR continues at")
    local.stop()
    publisher.stop()


def test_an_hls_player_continues_at_another_node(registry, site, clip):
    first, second = site(registry, REDIRECT + "drain_limit 10;"), site(registry)
    wait_nodes(first, second)
    publisher = start_publisher(second, clip("basic"))
    # As a player does: the master playlist, then the one that it names.
    wait_until(lambda: get(first, "http", "/live/cam.m3u8")[0] == 200, 30, "the playlist on the first node")
    line = http.client.HTTPConnection(first.host, first.ports["http"], timeout=30)
    line.request("GET", "/live/cam.m3u8")
    master = line.getresponse().read().decode()
    media = [one for one in master.splitlines() if one and not one.startswith("#")][0]
    wait_until(lambda: get(first, "http", media)[0] == 200, 15, "the media playlist")
    first.process.send_signal(signal.SIGQUIT)
    status, location = wait_until(lambda: (found := get(first, "http", media))[0] == 302 and found, 8, "it is sent on")
    assert location == f"http://{second.host}:{second.ports['http']}{media}&millrace_hop=n0"
    assert get(second, "http", location.split(str(second.ports["http"]), 1)[1])[0] == 200, "it is the same session there"
    first.process.wait(20)
    publisher.stop()


def test_an_encoder_that_cannot_be_asked_stays_to_the_limit(registry, site, clip):
    first, second = site(registry, "drain_limit 6;", "grace_start_wait 100; grace_final_wait 500;\n"), site(registry)
    wait_nodes(first, second)
    publisher = start_publisher(first, clip("basic"))
    began, watch = time.monotonic(), Stopwatch(first, second)
    first.process.send_signal(signal.SIGQUIT)
    wait_until(lambda: {one["id"]: one["state"] for one in cluster_of(second)["nodes"]}.get("n0") == "draining", 5, "the others know")
    publisher.join(60)
    assert 5.9 < time.monotonic() - began and watch.seconds() < 13
    first.wait_log("asked to leave")
    again = publish_when_allowed(second, clip("basic"), 10)
    assert where(second, "/live/cam") == "here" or owners(second) == {"/live/cam": "n1"}
    again.stop()


def test_a_drain_is_not_for_strangers(registry, site):
    one = site(registry)
    wait_up(one)
    if one.host != "127.0.0.1":
        assert ask_api(one, "POST", "/api/v1/drain").status == 403
    assert ask_api(one, "PUT", "/api/v1/drain").status == 405
    assert drain_of(one) == {"state": "serving", "lasted_ms": 0, "limit_ms": 0, "publishers": 0, "players": 0, "asked": 0, "redirected": 0}


@pytest.mark.long
def test_with_redirect_off_no_address_is_sent(registry, site, server, clip):
    """Clients may not reach the advertised addresses: they reconnect through, for instance, a load balancer."""
    first, second = site(registry, "drain_limit 10;"), site(registry)
    wait_nodes(first, second)
    encoder = server(f"forward {{ enabled on; destination {first.host}:{first.ports['rtmp']}; }}")
    publisher = start_publisher(encoder, clip("basic"))
    wait_until(lambda: owners(second) == {"/live/cam": "n0"}, 20, "it is registered")
    able = able_player(first)
    wait_until(lambda: get(first, "http", "/live/cam.m3u8")[0] == 200, 30, "the playlist")
    first.process.send_signal(signal.SIGQUIT)
    told = reconnect_request(able)
    assert "tcUrl" not in told, told
    able.close()
    assert get(first, "http", "/live/cam.m3u8") == (200, ""), "players that come are served to the limit"
    assert ask_api(first, "POST", WHEP, offer("recvonly"), Content_Type="application/sdp").status == 201
    # Here a new connection leads to the node that drains: the forward stays while it may, and then tries again elsewhere or later.
    encoder.wait_log("FWR keeps the connection to", 8)
    assert drain_of(first)["redirected"] == 0
    first.process.wait(30)
    publisher.stop()


def test_publishers_are_not_sent_to_an_edge(registry, site, server, clip):
    origin, edge, other = site(registry, REDIRECT + "drain_limit 14;"), site(registry, "publishers off;"), site(registry)
    wait_nodes(origin, edge, other)
    states = {"n0": "up", "n1": "edge", "n2": "up"}
    wait_until(lambda: {one["id"]: one["state"] for one in cluster_of(origin)["nodes"]} == states, 20, "the edge says what it is")
    with pytest.raises((AssertionError, Closed, OSError)):
        publish_when_allowed(edge, clip("basic"), 0.5)
    encoder = server(f"forward {{ enabled on; destination {origin.host}:{origin.ports['rtmp']}; }}")
    names = [f"cam{number}" for number in range(6)]
    publishers = [start_publisher(encoder, clip("basic"), name) for name in names]
    wait_until(lambda: owners(other) == {f"/live/{name}": "n0" for name in names}, 20, "all are registered")
    player = start_player(edge, "cam0")
    wait_until(lambda: videos(player) > 10, 10, "the edge plays")
    origin.process.send_signal(signal.SIGQUIT)
    wait_until(lambda: owners(other) == {f"/live/{name}": "n2" for name in names}, 12, "all are at the other origin")
    seen = videos(player)
    wait_until(lambda: videos(player) > seen + 20, 10, "the edge goes on")
    assert player.error is None
    for one in (player, *publishers):
        one.stop()
    origin.process.wait(30)


@pytest.mark.one_machine("the browser is older than the test's network")
def test_webrtc_clients_continue_at_another_node(registry, site, chromium, html):
    """Both pages: the node ends their sessions in the last quarter of the limit, they ask again and are sent on."""
    first, second = site(registry, REDIRECT + "drain_limit 12;"), site(registry)
    wait_nodes(first, second)
    shutil.copytree(html, second.folder / "html", dirs_exist_ok=True)

    def open_page(kind: str):
        where_to = f"http%3A%2F%2F127.0.0.1%3A{first.ports['api']}%2Frtc%2Fv1%2F{kind}%2F%3Fapp%3Dlive%26stream%3Dcam"
        return chromium.page().goto(f"http://{second.host}:{second.ports['http']}/players/{kind}.html?autostart=true&url={where_to}")

    publisher = open_page("whip")
    publisher.wait("document.getElementById('state').textContent === 'Live'", 20)
    players = [open_page("whep") for _ in range(2)]
    for player in players:
        player.wait("document.getElementById('state').textContent === 'Playing'", 20)
    kinds = lambda node: sorted(one["type"] for one in node.api("/api/v1/clients/")["clients"])
    assert kinds(first) == ["rtc-play", "rtc-play", "rtc-publish"]
    began = time.monotonic()
    first.process.send_signal(signal.SIGQUIT)
    wait_until(lambda: "drain begins" in first.log(), 5, "it drains")
    while (seen := (kinds(first), time.monotonic() - began))[1] < 8.9:
        assert seen[0] == ["rtc-play", "rtc-play", "rtc-publish"], f"nobody is cut before the last quarter: {seen}"
        time.sleep(0.2)
    wait_until(lambda: kinds(second) == ["rtc-play", "rtc-play", "rtc-publish"], 20, "all are at the other node")
    assert time.monotonic() - began > 8.5
    for player in players:
        before = player.value(FRAMES)
        wait_until(lambda one=player, count=before: one.value(FRAMES) > count + 20, 20, "it plays on")
    wait_until(lambda: owners(second) == {"/live/cam": "n1"}, 10, "it is registered there")
    first.process.wait(30)
    assert "remaining publishers=0, players=0" in first.log()
    for page in (publisher, *players):
        page.close()
