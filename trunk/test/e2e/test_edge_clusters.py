"""Clusters of origins that send players to each other, servers that know each other, services that say where a stream is."""

import json
import socket
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import play_check
from edge_stage import status_of
from edges import REMUX, edge_of, publish_again
from fake_origin import FakeOrigin, clients_of, flv_of, http_of, origins_of
from live_server import Stopwatch, wait_until
from load_tools import Nginx
from rtc_offer import ask, offer
from rtmp_client import Closed, Player, Publisher, RtmpClient
from small_server import SmallServer


def cluster_of(*others) -> str:
    """Of an origin that knows other origins by their APIs."""
    return f"cluster {{ origin_cluster on; coworkers {' '.join(f'127.0.0.1:{other}' for other in others)}; }} {REMUX}"


HLS = "hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; }"
DEAD_PORT = 9


def test_a_player_is_sent_to_the_origin_that_has_the_stream(server, clip):
    holder = server(f"{REMUX} {HLS}")
    idle = server(REMUX)
    asked = server(cluster_of(DEAD_PORT, idle.ports["api"], holder.ports["api"]) + HLS)
    publisher = publish_again(holder, clip)
    player = Player(asked.ports["rtmp"], "cam")
    assert player.status["level"] == "error" and player.status["ex"]["code"] == 302, player.status
    # In the form that older servers ask for, too, whatever their method.
    coworker = f"127.0.0.1:{holder.ports['api']}"
    names = {"ip": "192.0.2.1", "vhost": "__defaultVhost__", "app": "live", "stream": "cam"}
    for method in ("GET", "POST"):
        url = f"http://{coworker}/api/v1/clusters?{urllib.parse.urlencode(names)}&coworker={coworker}"
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=10) as answer:
            data = json.load(answer)["data"]
        assert data["query"] == names and data["origin"].pop("http") == f"127.0.0.1:{holder.ports['http']}"
        assert data["origin"] == {"ip": "127.0.0.1", "port": holder.ports["rtmp"], "vhost": "__defaultVhost__", "api": coworker, "routers": [coworker]}
    place = f"rtmp://127.0.0.1:{holder.ports['rtmp']}/live"
    assert (player.status["ex"]["redirect"], player.status["ex"]["redirect2"]) == (place, f"{place}/cam")
    player.client.close()
    # These players follow.
    for url in (flv_of(asked), f"{http_of(asked)}/live/cam.m3u8"):
        assert play_check.play(url, 3).problems() == [], url
    assert clients_of(holder, "flv-play") + clients_of(holder, "hls-play") > 0
    assert not asked.api("/api/v1/streams/")["streams"], "nothing is pulled"
    nothing = Player(asked.ports["rtmp"], "nothing")
    assert nothing.status["level"] == "error" and "ex" not in nothing.status, nothing.status
    nothing.client.close()
    assert status_of(flv_of(asked, "nothing")) == 404
    own = Publisher(asked.ports["rtmp"], "own", clip("basic"))
    own.start()
    assert play_check.play(asked.url("own"), 2).problems() == [], "what is here is served here"
    own.stop()
    publisher.stop()


def test_whep_players_are_sent_too(server, clip):
    rtc = "rtc_server { enabled on; listen 127.0.0.1:$rtc; candidate 127.0.0.1; }\n"
    holder = server("rtc { enabled on; rtmp_to_rtc on; }", rtc)
    asked = server(cluster_of(holder.ports["api"]) + "rtc { enabled on; rtmp_to_rtc on; }", rtc)
    publisher = publish_again(holder, clip)
    target = "/rtc/v1/whep/?app=live&stream=cam"
    answer = ask(asked.ports["api"], "POST", target, offer("recvonly"), Content_Type="application/sdp")
    assert (answer.status, answer.headers["Location"]) == (307, f"http://127.0.0.1:{holder.ports['api']}{target}")
    publisher.stop()


def test_an_edge_obeys_a_redirect(server, clip):
    holder = server(REMUX)
    asked = server(cluster_of(holder.ports["api"]))
    publisher = publish_again(holder, clip)
    for origin in (f"127.0.0.1:{asked.ports['rtmp']}", http_of(asked)):
        edge = server(edge_of(origin))
        watch = Stopwatch(holder, asked, edge)
        player = Player(edge.ports["rtmp"], "cam")
        player.start()
        wait_until(lambda one=player: one.messages, 10, "the stream through the redirect", 0.01)
        assert watch.seconds() < 2, "at once, without a pause"
        player.stop()
        assert play_check.play(edge.url("cam"), 2).problems() == [], origin
        edge.wait_log("edge-pull redirect")
        states = origins_of(edge)
        assert len(states) == 2 and set(states.values()) == {"up"}, states
    publisher.stop()


def test_rtmp_redirects_in_a_circle_end(server):
    """Two origins, each of which redirects to the other one."""
    ports = {}

    def says(name: str):
        def answer(connection, _) -> None:
            body = json.dumps({"code": 0, "data": {"origin": {"ip": "127.0.0.1", "port": ports[name]}}})
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        return FakeOrigin(answer)

    with says("right") as asked_by_left, says("left") as asked_by_right:
        left, right = server(cluster_of(asked_by_left.port)), server(cluster_of(asked_by_right.port))
        ports.update(left=left.ports["rtmp"], right=right.ports["rtmp"])
        edge = server(edge_of(left, more="first_frame_timeout 2;"))
        began = time.monotonic()
        assert status_of(flv_of(edge)) == 404
        tries = (time.monotonic() - began) / 0.5 + 1
        connections = edge.api("/api/v1/clusters")["data"]["totals"]["connections"]
        assert 2 <= connections <= 2 * tries, f"one redirect, then a pause: {connections} connections in {tries:.1f} tries"
        assert asked_by_left.heads and asked_by_right.heads, "both were asked"
        assert set(origins_of(edge).values()) == {"up"}, "who redirects is there"
        player = Player(edge.ports["rtmp"], "cam")
        assert player.status["level"] == "error" and "ex" not in player.status, player.status
        player.client.close()
        wait_until(lambda: not edge.api("/api/v1/clusters")["data"]["pulls"], 15, "nobody waits any more, and nothing goes on")


def test_origins_that_do_not_answer_refuse(server):
    asked = server(cluster_of(DEAD_PORT))
    watch = Stopwatch(asked)
    player = Player(asked.ports["rtmp"], "cam")
    assert player.status["level"] == "error" and watch.seconds() < 3
    player.client.close()
    asked.wait_log("(3091)")
    with FakeOrigin(lambda connection, _: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + b"[" * 90000)) as hostile:
        asked = server(cluster_of(hostile.port))
        assert status_of(flv_of(asked)) in (403, 404)
        asked.wait_log("(3091)")


class HookService:
    """Answers each callback with what `answer` gives, and keeps what was asked."""

    def __init__(self, answer=lambda _: {"code": 0}):
        self.asked: list[dict] = []
        self._answer = answer
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.asked.append(body)
                text = json.dumps(service._answer(body)).encode()  # pylint: disable=protected-access
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def actions(self) -> list[str]:
        return [body["action"] for body in self.asked]


ALL_HOOKS = "on_connect on_close on_publish on_unpublish on_play on_stop".split()


def asking(hooks: HookService) -> str:
    return "http_hooks { enabled on; " + " ".join(f"{name} {hooks.url};" for name in ALL_HOOKS) + " }"


@pytest.mark.parametrize("way", ["rtmp", "http"])
def test_an_edge_with_the_secret_causes_no_callbacks(server, clip, way):
    with HookService() as hooks, HookService() as edge_hooks:
        origin = server(f"{REMUX} {asking(hooks)} cluster {{ secret s3cret; }}")
        place = http_of(origin) if way == "http" else f"127.0.0.1:{origin.ports['rtmp']}"
        publisher = publish_again(origin, clip)
        wait_until(lambda: "on_publish" in hooks.actions(), 10, "the publisher's callback")
        before = len(hooks.asked)
        edge = server(edge_of(place, more="secret s3cret; linger 0;") + asking(edge_hooks))
        player = Player(edge.ports["rtmp"], "cam")
        player.start()
        wait_until(lambda: player.messages, 10, "the stream through the edge")
        relays = [client for client in origin.api("/api/v1/clients/")["clients"] if client["relay"]]
        player.stop()
        wait_until(lambda: not [one for one in origin.api("/api/v1/clients/")["clients"] if one["relay"]], 20, "the edge leaves")
        time.sleep(0.5)
        assert len(relays) == 1, "it is shown"
        assert hooks.actions()[before:] == [], "nobody is asked or told about it"
        # The edge reports its player, and no other client.
        wait_until(lambda: "on_close" in edge_hooks.actions(), 10, "the player's end at the edge")
        assert sorted(edge_hooks.actions()) == ["on_close", "on_connect", "on_play", "on_stop"]
        assert len({one["client_id"] for one in edge_hooks.asked}) == 1
        stranger = server(edge_of(place, more="secret other; linger 0;"))
        assert play_check.play(stranger.url("cam"), 2).problems() == []
        assert "on_play" in hooks.actions()[before:]
        wait_until(lambda: "on_stop" in hooks.actions()[before:], 10, "and its end is told")
        publisher.stop()


def test_a_publisher_forwarded_by_a_trusted_edge_causes_no_callbacks(server, clip):
    with HookService() as hooks, HookService() as edge_hooks:
        origin = server(f"{asking(hooks)} cluster {{ secret s3cret; }}")
        edge = server(edge_of(origin, more="secret s3cret;") + asking(edge_hooks))
        publisher = publish_again(edge, clip)
        wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 10, "the stream at the origin")
        assert [client["relay"] for client in origin.api("/api/v1/clients/")["clients"]] == [True]
        publisher.stop()
        wait_until(lambda: not origin.api("/api/v1/clients/")["clients"], 10, "it ends there too")
        time.sleep(0.5)
        assert hooks.actions() == []
        assert sorted(edge_hooks.actions()) == ["on_close", "on_connect", "on_publish", "on_unpublish"]


def test_a_backend_names_the_origins(server, clip):
    origin = server(REMUX)
    publisher = publish_again(origin, clip)
    urls: list[str] = []
    hooks = HookService(lambda _: {"code": 0, "data": {"urls": urls}})
    edge = server(edge_of("127.0.0.1:9", more=f"backend {hooks.url}; first_frame_timeout 1; linger 0;"))
    assert status_of(flv_of(edge)) == 404
    asked = hooks.asked[0]
    assert (asked["action"], asked["vhost"], asked["app"], asked["stream"]) == ("on_origin", "__defaultVhost__", "live", "cam")
    urls.append(f"rtmp://127.0.0.1:{origin.ports['rtmp']}")
    time.sleep(2.2)  # the age of an answer
    count = len(hooks.asked)
    assert play_check.play(edge.url("cam"), 2).problems() == []
    assert len(hooks.asked) == count + 1
    hooks.stop()
    time.sleep(2.2)
    assert play_check.play(edge.url("cam"), 2).problems() == [], "an old answer is better than none"
    player = Player(edge.ports["rtmp"], "other")
    assert player.status["level"] == "error"
    edge.wait_log("backend has no location of")
    player.client.close()
    publisher.stop()


class ConnectCheck(SmallServer):
    """An RTMP server that takes or refuses connect by what is in tcUrl, and keeps the calls; it takes what an edge pushes."""

    def __init__(self):
        self.calls: list[list] = []
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        try:
            peer = RtmpPeer(connection)
            call = peer.read_command("connect")
        except Closed:
            return
        self.calls.append(call)
        is_push = any("millrace_path" in argument for argument in call[3:])
        good = is_push or "token=good" in call[2]["tcUrl"]
        if good:
            peer.call("_result", 1, {"capabilities": 31}, {"level": "status", "code": "NetConnection.Connect.Success"})
        else:
            peer.call("_error", 1, None, {"level": "error", "code": "NetConnection.Connect.Rejected", "description": "wrong token"})
        while connection.recv(4096):
            pass


class RtmpPeer(RtmpClient):
    """The server's side of a connection that was accepted."""

    def __init__(self, connection: socket.socket):  # pylint: disable=super-init-not-called
        connection.settimeout(10)
        self.socket, self.received = connection, 0
        self._acknowledged, self._chunk_size_in, self._chunk_size_out = 0, 128, 128
        self._lanes, self._buffer = {}, bytearray()
        first = self._take(1 + 1536)
        self.send(b"\x03" + bytes(1536) + first[1:])
        self._take(1536)


def test_an_origin_decides_about_clients(server, clip):
    with ConnectCheck() as origin:
        edge = server(edge_of(f"127.0.0.1:{DEAD_PORT}", f"127.0.0.1:{origin.port}", more="token_traverse on; first_frame_timeout 1;"))
        publisher = Publisher(edge.ports["rtmp"], "cam", clip("basic"), app="live?token=bad")
        publisher.start()
        wait_until(lambda: publisher.error is not None, 10, "a publisher without a good token is refused")
        publisher.stop()
        call = origin.calls[0]
        assert call[0] == "connect" and call[2]["tcUrl"] == f"rtmp://127.0.0.1:{edge.ports['rtmp']}/live?token=bad"
        edge.wait_log("Illegal edge token")
        count = len(origin.calls)
        good = Publisher(edge.ports["rtmp"], "cam", clip("basic"), app="live?token=good")
        good.start()
        wait_until(lambda: len(origin.calls) > count and edge.api("/api/v1/streams/")["streams"], 10, "a good one is taken")
        edge.wait_log("edge token auth ok")
        good.stop()
        assert status_of(flv_of(edge, "x") + "?token=bad") == 403
        assert origin.calls[-1][2]["tcUrl"].endswith("/live?token=bad"), "no other way in"


def test_clients_are_refused_without_a_deciding_origin(server):
    edge = server(edge_of(f"127.0.0.1:{DEAD_PORT}", more="token_traverse on;"))
    player = Player(edge.ports["rtmp"], "cam")
    assert player.status["level"] == "error"
    player.client.close()
    edge.wait_log("(3067)")


def test_another_kind_of_server_is_an_origin(server, clip, tmp_path):
    nginx = Nginx(tmp_path / "nginx")
    try:
        edge = server(edge_of(f"127.0.0.1:{nginx.rtmp}"))
        publisher = Publisher(nginx.rtmp, "cam", clip("basic"))
        publisher.start()
        player = Player(edge.ports["rtmp"], "cam")
        player.start()
        wait_until(lambda: len(player.messages) > 100, 20, "the stream through the edge")
        assert play_check.play(flv_of(edge), 3).problems() == []
        publisher.stop()
        time.sleep(3)
        assert set(origins_of(edge).values()) == {"up"}, "its publisher has left, it is well"
        count = len(player.messages)
        again = Publisher(nginx.rtmp, "cam", clip("basic"))
        again.start()
        wait_until(lambda: len(player.messages) > count + 50, 15, "the stream is back")
        assert player.error is None
        player.stop()
        again.stop()
    finally:
        nginx.stop()


def test_another_kind_of_server_is_an_edge_of_ours(server, clip, tmp_path):
    origin = server()
    nginx = Nginx(tmp_path / "nginx", f"pull rtmp://127.0.0.1:{origin.ports['rtmp']}/live;")
    try:
        publisher = publish_again(origin, clip)
        wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 10, "the stream")
        player = Player(nginx.rtmp, "cam")
        player.start()
        wait_until(lambda: len(player.messages) > 100, 20, "the stream through nginx")
        assert clients_of(origin, "rtmp-play") == 1
        player.stop()
        assert player.error is None
        publisher.stop()
    finally:
        nginx.stop()
