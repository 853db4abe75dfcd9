"""Clusters: any node takes any publisher and any player; where a stream is stands in a registry, which may go away."""

import socket
import subprocess
import time
import urllib.request

import pytest

import play_check
from able_players import url as url_of
from cluster_nodes import (OUTPUTS, RTC, assert_unnoticed, cluster_of, fixture_network, fixture_node, fixture_registry, get, owners,  # noqa: F401
                           publish_when_allowed, start_player, start_publisher, videos, wait_nodes, wait_up, where)
from dash_files import fetch as dash_fetch, has as dash_has
from live_server import LiveServer, Stopwatch, conf, free_port, wait_until, wait_within
from players import FfmpegPublisher, wait_playable
from registry_server import LateAnswers, RegistryServer, Sentinel
from rtmp_client import Closed
from same_segments import names_in_dash

AWAY = "cluster registry is away"
RIGHT_WITHIN_S = 10
TS_VHOST = "vhost ts.test { http_remux { enabled on; mount [vhost]/[app]/[stream].ts; } }\n"


def test_publish_anywhere_play_anywhere(registry, node, clip):
    nodes = [node(registry), node(registry), node(registry)]
    wait_up(*nodes)
    with FfmpegPublisher(nodes[1].url("cam"), clip("basic")):
        wait_playable(nodes[1].url("cam"))
        wait_until(lambda: owners(nodes[0]) == {"/live/cam": "n1"}, 10, "it is registered")
        watch = Stopwatch(*nodes)
        early = start_player(nodes[2])
        wait_until(lambda: videos(early) > 0, 10, "the first frame on another node", 0.005)
        assert watch.seconds() < 1
        for one in nodes:
            assert where(one, "/live/cam") == "n1" and where(one, "/live/none") == "nowhere"
        assert play_check.play(nodes[0].url("cam"), 3).problems() == []
        early.stop()
        assert early.error is None
        with urllib.request.urlopen(f"http://{nodes[1].host}:{nodes[1].ports['exporter']}/metrics") as answer:
            metrics = answer.read().decode()
        for line in ("millrace_cluster_registry_up 1", 'millrace_cluster_owned_streams{state="registered"} 1'):
            assert line in metrics, metrics
    wait_until(lambda: owners(nodes[0]) == {}, 10, "the stream leaves the registry with its publisher")
    wait_until(lambda: {one["id"] for one in cluster_of(nodes[0])["nodes"]} == {"n0", "n1", "n2"}, 20, "all nodes are listed")


def test_a_player_that_comes_first_gets_the_stream_wherever_it_is_published(registry, node, clip):
    first, second = node(registry), node(registry)
    wait_up(first, second)
    player = start_player(first)
    time.sleep(0.5)
    assert player.error is None
    publisher = start_publisher(second, clip("basic"))
    wait_within(lambda: videos(player) > 0, 2, (first, second), "media on the node where the player waits")
    # And when it comes to the player's own node instead.
    publisher.stop()
    wait_until(lambda: owners(first) == {}, 10, "it is gone")
    publisher = publish_when_allowed(first, clip("basic"), 10)
    seen = videos(player)
    wait_within(lambda: videos(player) > seen, 1, (first, second), "media of the node's own publisher")
    assert where(second, "/live/cam") == "n0"
    publisher.stop()
    player.stop()
    assert player.error is None


@pytest.mark.parametrize("back", [0, 2], ids=["at_the_players_node", "at_a_third_node"])
def test_the_owner_is_killed(registry, node, clip, back):
    nodes = [node(registry), node(registry), node(registry)]
    wait_up(*nodes)
    start_publisher(nodes[1], clip("basic"))
    player = start_player(nodes[0])
    wait_until(lambda: videos(player) > 10, 20, "it plays")
    nodes[1].kill()
    # Its lease has not ended.
    publisher = publish_when_allowed(nodes[back], clip("basic"), 3)
    seen = videos(player)
    wait_within(lambda: videos(player) > seen, 1, (nodes[0], nodes[2]), "media after the publisher came back")
    wait_until(lambda: owners(nodes[0]) == {"/live/cam": f"n{back}"}, 10, "the registry names the new owner")
    publisher.stop()
    player.stop()
    assert player.error is None


def test_a_second_publisher_is_refused_elsewhere(registry, node, clip):
    first, second = node(registry), node(registry)
    wait_up(first, second)
    publisher = start_publisher(first, clip("basic"))
    player = start_player(second)
    wait_until(lambda: videos(player) > 0, 10, "it plays")
    with pytest.raises((AssertionError, Closed, OSError)):
        publish_when_allowed(second, clip("basic"), 2)
    wait_until(lambda: owners(first) == {"/live/cam": "n0"}, 10, "it is still the first one's")
    seen = videos(player)
    wait_until(lambda: videos(player) > seen + 10, 10, "the first one goes on")
    assert publisher.error is None
    publisher.stop()
    player.stop()


def test_a_publisher_that_returns_at_once_elsewhere_is_let_in(registry, node, clip):
    nodes = node(registry), node(registry)
    wait_up(*nodes)
    for attempt in range(4):
        publisher = start_publisher(nodes[attempt % 2], clip("basic"))
        assert publisher.status["code"] == "NetStream.Publish.Start", (attempt, publisher.status)
        wait_until(lambda: len(publisher.sent) > 10, 10, "it has sent media")
        wait_until(lambda owner=f"n{attempt % 2}": owners(nodes[0]) == {"/live/cam": owner}, 10, "it is registered")
        publisher.break_off()


def test_a_second_publisher_takes_over_elsewhere(registry, node, clip):
    vhost = " publish { takeover on; }"
    first, second, third = node(registry, vhost), node(registry, vhost), node(registry, vhost)
    wait_up(first, second, third)
    publisher = start_publisher(first, clip("basic"))
    players = [start_player(one) for one in (first, second, third)]
    for player in players:
        wait_until(lambda one=player: videos(one) > 0, 10, "it plays")
    other = start_publisher(second, clip("basic"))
    watch = Stopwatch(first, second, third)
    publisher.join(10)
    assert not publisher.is_alive(), "the first publisher is closed"
    wait_until(lambda: owners(first) == {"/live/cam": "n1"}, 10, "the second one owns it")
    for player in players:
        seen = videos(player)
        wait_until(lambda one=player, count=seen: videos(one) > count + 5, 10, "every player goes on")
        assert player.error is None
    assert watch.seconds() < 5
    other.stop()
    for player in players:
        player.stop()


def test_the_registry_restarts_empty(registry, node, clip):
    nodes = [node(registry), node(registry)]
    wait_up(*nodes)
    publisher = start_publisher(nodes[0], clip("basic"))
    local, remote = start_player(nodes[0]), start_player(nodes[1])
    wait_until(lambda: videos(remote) > 0 and videos(local) > 0, 10, "both play")
    wait_until(lambda: len(cluster_of(nodes[0])["nodes"]) == 2, 20, "it knows its neighbour")
    registry.stop()
    wait_until(lambda: cluster_of(nodes[1])["registry"]["state"] == "away", 20, "it is away")
    later = start_publisher(nodes[1], clip("basic"), "later")
    third = start_player(nodes[0], "later")
    wait_within(lambda: videos(third) > 0, 3, (*nodes,), "a stream that was published without a registry, on another node: a neighbour")
    time.sleep(3)
    registry.start()
    wait_within(lambda: owners(nodes[0]) == {"/live/cam": "n0", "/live/later": "n1"}, RIGHT_WITHIN_S, nodes, "the table is right again")
    time.sleep(2)
    for player, source in ((local, publisher), (remote, publisher), (third, later)):
        assert_unnoticed(player, source)
        player.stop()
    for one in (publisher, later):
        assert one.error is None
        one.stop()


def test_an_edge_with_a_list_of_origins_asks_the_registry_first(registry, node, clip):
    owner = node(registry)
    dead = free_port()
    by_registry = node(registry, f" cluster {{ mode remote; origin 127.0.0.1:{dead}; }}")
    by_list = node(registry, f" cluster {{ mode remote; origin {owner.host}:{owner.ports['rtmp']}; }}", url=f"redis://127.0.0.1:{dead}")
    wait_up(owner, by_registry)
    publisher = start_publisher(owner, clip("basic"))
    wait_until(lambda: owners(owner) == {"/live/cam": "n0"}, 10, "it is registered")
    for edge in (by_registry, by_list):
        player = start_player(edge)
        wait_within(lambda one=player: videos(one) > 0, 1, (owner, edge), "it plays")
        player.stop()
        assert player.error is None
    publisher.stop()


@pytest.mark.parametrize("pause_s", [7, pytest.param(600, marks=pytest.mark.long)])
def test_the_registry_is_paused(registry, node, clip, pause_s):
    """Longer than the lease; ten minutes of it with a shortened clock are a test of engine/cluster."""
    nodes = [node(registry), node(registry)]
    wait_up(*nodes)
    publisher = start_publisher(nodes[0], clip("basic"))
    remote = start_player(nodes[1])
    wait_until(lambda: videos(remote) > 0, 10, "it plays")
    registry.pause()
    try:
        watch = Stopwatch(*nodes)
        more = start_player(nodes[1])
        wait_until(lambda: videos(more) > 0, 10, "what is pulled is played without the registry", 0.01)
        other = start_publisher(nodes[1], clip("basic"), "other")
        assert other.status["code"] == "NetStream.Publish.Start" and watch.seconds() < 2
        with urllib.request.urlopen(f"http://{nodes[0].host}:{nodes[0].ports['http']}/live/cam.flv", timeout=5) as answer:
            assert answer.read(100)
        for path in ("/healthz", "/readyz"):
            assert get(nodes[0], "api", path)[0] == 200
        time.sleep(pause_s)
    finally:
        registry.go_on()
    wait_within(lambda: owners(nodes[0]) == {"/live/cam": "n0", "/live/other": "n1"}, RIGHT_WITHIN_S, nodes, "the table is right again")
    assert_unnoticed(remote, publisher)
    assert publisher.error is None and other.error is None
    for one in (remote, more, publisher, other):
        one.stop()


def test_clients_do_not_wait_for_a_late_registry(registry, node, network, clip):
    late = LateAnswers(registry, 0.4, network.ADDRESS)
    try:
        first, second = [node(registry, url=f"redis://{late.host}:{late.port}") for _ in range(2)]
        wait_until(lambda: len(cluster_of(second)["nodes"]) == 2, 20, "late answers count")
        watch = Stopwatch(first)
        publisher = start_publisher(first, clip("basic"))
        assert publisher.status["code"] == "NetStream.Publish.Start" and watch.seconds() < 0.5, "200 ms for the registry"
        wait_until(lambda: b"n0|" in registry.call("GET", "millrace:own:/live/cam"), 10, "it is registered all the same")
        player = start_player(second)
        # 200 ms, and then the pull looks for the answer.
        wait_within(lambda: videos(player) > 0, 0.8, (first, second), "it plays elsewhere")
        player.stop()
        publisher.stop()
        assert player.error is None and publisher.error is None
    finally:
        late.stop()


def test_a_password(tmp_path, node, network, clip):
    registry = RegistryServer(tmp_path / "registry", "pass word", machine=network.add_port()).start()
    try:
        good = node(registry, url=f"redis://:pass%20word@{registry.host}:{registry.port}")
        bad = node(registry, url=f"redis://:wrong@{registry.host}:{registry.port}")
        wait_up(good)
        publisher = start_publisher(good, clip("basic"))
        wait_until(lambda: owners(good) == {"/live/cam": "n0"}, 10, "it is registered")
        bad.wait_log("the registry refuses the password")
        wait_until(lambda: cluster_of(bad)["registry"]["state"] == "away", 10, "it is away")
        assert "pass word" not in good.log() and "pass%20word" not in good.log() and "wrong" not in bad.log()
        publisher.stop()
    finally:
        registry.stop()


def with_tls(folder, machine, password: str) -> tuple[RegistryServer, int, str]:
    """A registry, its other port, and the option of those that trust its certificate."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj",
                    "/CN=registry", "-addext", f"subjectAltName=IP:{machine.address}"], check=True, capture_output=True)
    port = free_port()
    more = ["--tls-port", str(port), "--tls-cert-file", str(certificate), "--tls-key-file", str(key), "--tls-ca-cert-file", str(certificate),
            "--tls-auth-clients", "no"]
    return RegistryServer(folder / "registry", password, more, machine).start(), port, f"tls_client {{ ca_file {certificate}; }}\n"


def test_over_tls(tmp_path, node, network, clip):
    registry, port, trust = with_tls(tmp_path, network.add_port(), "hush")
    try:
        url = f"rediss://default:hush@{registry.host}:{port}"
        good, bad = node(registry, url=url, root=trust), node(registry, url=url, root="tls_client { ca_file /etc/ssl/certs/ca-certificates.crt; }\n")
        wait_up(good)
        publisher = start_publisher(good, clip("basic"))
        wait_until(lambda: owners(good) == {"/live/cam": "n0"}, 10, "it is registered")
        bad.wait_log(AWAY)  # a stranger's certificate is refused
        wait_until(lambda: cluster_of(bad)["registry"]["state"] == "away", 10, "it is away")
        publisher.stop()
    finally:
        registry.stop()


def test_every_node_plays_every_stream_in_every_format(tmp_path, node, network, load, clip):
    """One registry, which each node reaches in its own way: plain, with a password, over TLS, and by a sentinel."""
    registry, port, trust = with_tls(tmp_path, network.add_port(), "")
    sentinel = None
    try:
        registry.call("ACL", "SETUSER", "node", "on", ">hush", "~*", "&*", "+@all")
        sentinel = Sentinel(tmp_path / "sentinel", registry, network.add_port())
        place = f"{registry.host}:{registry.port}"
        urls = [f"redis://{place}", f"redis://node:hush@{place}", f"rediss://{registry.host}:{port}",
                f"redis+sentinel://{sentinel.host}:{sentinel.port}/main"]
        nodes = [node(registry, OUTPUTS, url=url, root=RTC + trust + TS_VHOST) for url in urls]
        wait_nodes(*nodes)
        names = [f"cam_{number}" for number in range(len(nodes))]
        for one, name in zip(nodes, names):
            load("sb_rtmp_publish", "-c", 1, "-r", one.url(name), "-i", clip("basic"))
        load("sb_rtmp_publish", "-c", 1, "-r", nodes[0].url("cam?vhost=ts.test"), "-i", clip("basic"))
        all_of_them = {f"/live/{name}": f"n{number}" for number, name in enumerate(names)} | {"ts.test/live/cam": "n0"}
        for one in nodes:
            wait_until(lambda it=one: owners(it) == all_of_them, 20, f"each node has its stream: {all_of_them}")
        check_formats(nodes, names, load)
    finally:
        if sentinel is not None:
            sentinel.stop()
        registry.stop()


def check_formats(nodes, names, load) -> None:
    def play_all(kind: str) -> list:
        return [load(kind, "-c", len(names), "-s", 0, "-r", url_of(one, kind, "cam_{i}"), "--seconds", 6) for one in nodes]

    running = {kind: play_all(kind) for kind in ("sb_rtmp_load", "sb_flv_load", "sb_rtc_load")}
    for one in nodes:
        ask = urllib.request.Request(f"http://{one.host}:{one.ports['http']}/live/cam.ts", headers={"Host": "ts.test"})
        with urllib.request.urlopen(ask, timeout=10) as stream:
            packets = stream.read(100 * 188)
        assert len(packets) == 100 * 188 and set(packets[::188]) == {0x47}, one.folder
        for name in names:
            dash_has(one, f"/live/{name}.mpd", 2)
            for path in names_in_dash(dash_fetch(one, f"/live/{name}.mpd")[1].decode())[-1:]:
                assert b"moof" in dash_fetch(one, f"/live/{path}")[1], (one.folder, path)
            wait_until(lambda it=one, path=f"/live/{name}.m3u8": get(it, "http", path)[0] == 200, 20, "the playlist")
    running["sb_hls_load"] = play_all("sb_hls_load")
    for kind, loads in running.items():
        for one, result in zip(nodes, [it.result(40) for it in loads]):
            # Datagrams may be lost if they are not read in time.
            is_whole = kind == "sb_rtc_load" or result["metrics"]["gaps"]["max"] == 0
            assert result["failed"] == 0 and is_whole, (one.folder, kind, result)
            assert kind == "sb_hls_load" or result["alive"] == len(names), (one.folder, kind, result)


def test_sentinels_name_another_master(tmp_path, node, network, clip):
    master = RegistryServer(tmp_path / "master", machine=network.add_port()).start()
    replica = RegistryServer(tmp_path / "replica", more=["--replicaof", master.host, str(master.port)], machine=network.add_port()).start()
    sentinel = Sentinel(tmp_path / "sentinel", master, network.add_port())
    try:
        url = f"redis+sentinel://{sentinel.host}:1,{sentinel.host}:{sentinel.port}/main"
        first, second = node(master, url=url), node(master, url=url)
        wait_up(first, second)
        wait_until(lambda: b"slaves=1" in master_of(sentinel), 30, "the sentinel knows the replica")
        publisher = start_publisher(first, clip("basic"))
        player = start_player(second)
        wait_until(lambda: videos(player) > 0, 10, "it plays")
        away = first.log().count(AWAY)
        master.stop()
        wait_until(lambda: first.log().count(AWAY) > away, 10, "the master is gone")
        # A sentinel that had no CPU for two seconds does nothing for the next thirty.
        wait_until(lambda: is_master(replica), 60, "the replica is the master")
        wait_within(lambda: owners(second) == {"/live/cam": "n0"}, RIGHT_WITHIN_S, (first, second), "the table is right again")
        assert_unnoticed(player, publisher)
        assert publisher.error is None
        player.stop()
        publisher.stop()
    finally:
        for one in (sentinel, replica, master):
            one.stop()


def is_master(registry: RegistryServer) -> bool:
    try:
        return b"role:master" in registry.call("INFO", "replication")
    except OSError:  # one that becomes it closes its connections
        return False


def master_of(sentinel: Sentinel) -> bytes:
    with socket.create_connection((sentinel.host, sentinel.port), 5) as line:
        line.sendall(b"INFO sentinel\r\n")
        return line.recv(65536)


def test_hostile_registry_entries_are_ignored(registry, node, clip):
    one = node(registry)
    wait_up(one)
    publisher = start_publisher(one, clip("basic"))
    for stream, own in (("a", "x" * 100_000), ("b", "n9|1|1|1"), ("c", "||||"), ("d", "n0|1|99999999999999999999|1"), ("e", "n0|1|1|1")):
        registry.call("SET", f"millrace:own:/live/{stream}", own)
        assert where(one, f"/live/{stream}") == "nowhere"
    # Values beyond the bound of a reply: each look-up must answer, and the connection must last.
    whole = "x" * 20_000_000
    registry.call("SET", "millrace:own:/live/whole", whole)
    registry.call("SET", "millrace:node:n8", whole)
    registry.call("ZADD", "millrace:nodes", "9999999999999", "n8")
    registry.call("SET", "millrace:own:/live/of_n8", "n8|1|1|1")
    assert where(one, "/live/whole") == where(one, "/live/of_n8") == "nowhere"
    wait_until(lambda: "/live/cam" in owners(one), 10, "the list of owners is read")
    registry.call("DEL", "millrace:node:n8")
    assert AWAY not in one.log()
    registry.call("SET", "millrace:node:n9", "1|evil host|1|1|1||up|0|0|")
    registry.call("SET", "millrace:node:n0", f"7|{one.host}|1|0|0||up|0|0|", "PX", "5000")
    one.wait_log("another process has this node_id too")
    registry.call("LPUSH", "millrace:own:/live/list", "x")
    registry.call("PUBLISH", "millrace:events", "moved|n9|1|9007199254740992|/live/cam")
    registry.call("PUBLISH", "millrace:events", "x" * 1_000_000)
    registry.call("SET", "millrace:own:/live/cam", "not an owner")
    registry.call("PUBLISH", "millrace:events", "moved|n9|1|5|/live/cam")
    assert where(one, "/live/list") in ("unknown", "nowhere")
    wait_until(lambda: owners(one).get("/live/cam") == "n0", 10, "its owner sets it right")
    assert publisher.error is None
    one.assert_alive()
    publisher.stop()


def test_the_scripts_refuse_and_count(registry, node, network, clip):
    """What the unit tests have a model for."""
    one = node(registry)
    wait_up(one)
    # A living other node, and one whose lease is another run's.
    with socket.create_server((network.ADDRESS, 0)) as living:
        check_scripts(registry, one, living.getsockname(), clip)


def check_scripts(registry, one, place, clip):
    registry.call("SET", "millrace:node:n9", f"7|{place[0]}|{place[1]}|0|0||up|0|0|", "PX", "60000")
    registry.call("SET", "millrace:own:/live/cam", "n9|7|4|1")
    with pytest.raises((AssertionError, Closed, OSError)):
        publish_when_allowed(one, clip("basic"), 1)
    assert registry.call("GET", "millrace:own:/live/cam").split(b"\r\n")[1] == b"n9|7|4|1"
    registry.call("SET", "millrace:own:/live/cam", "n9|6|4|1")
    publisher = publish_when_allowed(one, clip("basic"), 10)
    text = registry.call("GET", "millrace:own:/live/cam").split(b"\r\n")[1].decode().split("|")
    assert text[0] == "n0" and text[2] == "5", "its epoch is above the dead one's"
    publisher.stop()


def test_a_server_without_a_registry_is_alone(server):
    one = server()
    assert "cluster" not in one.api("/api/v1/clusters")["data"]
    assert one.api("/api/v1/cluster/where?stream=/live/cam")["data"]["state"] == "alone"


@pytest.mark.parametrize("said", ["registry http://h;", "registry redis://h; node_id a|b;", "registry redis://h; advertise a/b;",
                                  "registry redis://h; beat 5; lease 6;", "registry redis://:hush@h:x;"])
def test_a_wrong_block_is_named(tmp_path, said):
    one = LiveServer(tmp_path / "wrong", conf(root=f"cluster {{ {said} }}\n"))
    one.start(["-t", "-c", str(one.conf_path)], ready=False)
    assert one.process.wait(10) != 0
    assert "cluster." in one.log() and "hush" not in one.log(), one.log()
