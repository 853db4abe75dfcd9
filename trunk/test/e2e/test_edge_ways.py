"""Ways in which an edge gets a stream: over HTTP-FLV, with its player's protocol, where an origin sends it."""

import random
import signal
import socket
import time
import urllib.request
import zlib

import pytest

import play_check
from able_players import GOP_FRAMES, Order, is_frame
from edge_stage import status_of
from edges import REMUX, edge_of, gaps_of, publish_again
from fake_origin import FakeOrigin, clients_of, flv_of, http_of, origins_of, redirect_to
from live_server import Stopwatch, conf, wait_until
from players import FfmpegPublisher, wait_playable
from rtmp_client import Player, Publisher, RtmpClient, read_flv_tags
from small_server import SmallServer


class MuteOrigin(SmallServer):
    """Accepts everything and never responds."""

    def serve(self, connection: socket.socket) -> None:
        while connection.recv(65536):
            pass


class RandomOrigin(SmallServer):
    """Sends bytes that are not RTMP, at once or after a valid handshake."""

    def serve(self, connection: socket.socket) -> None:
        chosen = random.Random(self.port)
        if chosen.random() < 0.5:
            connection.sendall(b"\x03" + bytes(3072))
            connection.recv(65536)
        connection.sendall(chosen.randbytes(100_000))
        while connection.recv(65536):
            pass


@pytest.mark.parametrize("form", ["protocol", "url"])
def test_an_edge_pulls_over_http_flv(server, clip, form):
    origin = server(REMUX)
    edge = server(edge_of(f"127.0.0.1:{origin.ports['http']}", more="protocol flv;") if form == "protocol" else edge_of(http_of(origin)))
    publisher = publish_again(origin, clip)
    for url in (edge.url("cam"), flv_of(edge)):
        assert play_check.play(url, 3).problems() == [], url
    assert clients_of(origin, "flv-play") == 1 and clients_of(origin, "rtmp-play") == 0
    assert origins_of(edge) == {http_of(origin): "up"}
    publisher.stop()


def heard_of(origin, head: str, seconds: float) -> bytes:
    """What comes for a request of the stream, for so long, and until that is something."""
    with socket.create_connection(("127.0.0.1", origin.ports["http"]), 10) as connection:
        connection.sendall(f"GET /live/cam.flv HTTP/1.1\r\nHost: o\r\n{head}\r\n".encode())
        heard, end = b"", time.monotonic() + seconds
        while (time.monotonic() < end or len(heard) <= 10_000) and (part := connection.recv(1 << 16)):
            heard += part
    return heard


def test_marks_over_http_flv_are_for_nodes_that_ask(server, clip):
    origin = server(f"{REMUX} hls {{ enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; }}")
    publisher = publish_again(origin, clip)
    for head, is_marked in (("", False), ("X-Millrace-Marks: 1\r\n", False), ("X-Millrace-Path: vid-0\r\n", False),
                            ("X-Millrace-Path: vid-0\r\nX-Millrace-Marks: 1\r\n", True)):
        heard = heard_of(origin, head, 3)
        assert len(heard) > 10_000 and (b"onMillraceMark" in heard, b"X-Millrace-Marks: 1\r\n" in heard) == (is_marked, is_marked), head
    publisher.stop()


def first_frame(origin, way: str, order: Order, has_ms: int | None) -> int:
    """The number of the frame with which the stream begins for an edge that has media of that age."""
    path = {"millrace_path": "vid-0"}
    if way == "rtmp":
        with RtmpClient(origin.ports["rtmp"]) as client:
            client.play("cam", arguments=path if has_ms is None else path | {"millrace_has": str(has_ms)})
            got = [(message.type, message.payload, message.mark()) for message in client.read_at_least(10)]
    else:
        fields = {"X-Millrace-Path": "vid-0", "X-Millrace-Marks": "1"} | ({} if has_ms is None else {"X-Millrace-Has": str(has_ms)})
        with urllib.request.urlopen(urllib.request.Request(flv_of(origin), headers=fields), timeout=10) as answer:
            tags = read_flv_tags(answer.read(60_000))
        got = [(tag.type, tag.payload, (tag.type, zlib.crc32(tag.payload))) for tag in tags]
    return next(order.at[mark] for kind, payload, mark in got if is_frame(kind, payload) and mark in order.at)


@pytest.mark.parametrize("way", ["rtmp", "flv"])
def test_a_reconnecting_node_gets_the_media_after_its_newest(server, clip, way):
    """A publisher that moves may leave its last frames at its new place, in a GOP that is not the newest when its former place asks for it."""
    origin = server(REMUX)
    publisher = publish_again(origin, clip)
    player = Player(origin.ports["rtmp"], "cam")
    player.start()
    order = Order(clip("basic"))
    wait_until(lambda: len([message for message in player.messages if is_frame(message.type, message.payload)]) > 250, 30, "there are ten seconds")
    newcomer, goes_on = first_frame(origin, way, order, None), first_frame(origin, way, order, 4_000)
    assert newcomer % GOP_FRAMES == goes_on % GOP_FRAMES == 0
    # From 4.5 s to a GOP more before the newest frame, and within the newest GOP.
    assert (newcomer - goes_on) % len(order.marks) in (GOP_FRAMES, 2 * GOP_FRAMES, 3 * GOP_FRAMES), (newcomer, goes_on)
    player.stop()
    publisher.stop()


def test_over_tls_the_origin_has_to_prove_itself(server, clip, certificate):
    key, cert = certificate
    plain = "http_server { enabled on; listen 127.0.0.1:$http;"
    text = conf(REMUX).replace(plain, f"{plain} https {{ enabled on; listen 127.0.0.1:$https; key {key}; cert {cert}; }}")
    origin = server(conf=text)
    place = f"127.0.0.1:{origin.ports['https']}"
    publisher = publish_again(origin, clip)
    edge = server(edge_of(place, more="protocol flvs;"), f"tls_client {{ ca_file {cert}; }}\n")
    assert play_check.play(edge.url("cam"), 2).problems() == []
    assert clients_of(origin, "flv-play") == 1
    careful = server(edge_of(f"https://{place}", more="first_frame_timeout 1;"))
    assert status_of(flv_of(careful)) == 404
    careful.wait_log("the certificate is not trusted")
    assert origins_of(careful) == {f"https://{place}": "down"}
    publisher.stop()


def test_an_edge_pulls_over_rtmps(server, clip, certificate):
    key, cert = certificate
    origin = server(root=f"rtmps {{ enabled on; listen 127.0.0.1:$rtmps; key {key}; cert {cert}; }}\n")
    place = f"rtmps://127.0.0.1:{origin.ports['rtmps']}"
    publisher = publish_again(origin, clip)
    edge = server(edge_of(place), f"tls_client {{ ca_file {cert}; }}\n")
    assert play_check.play(edge.url("cam"), 2).problems() == []
    assert clients_of(origin, "rtmp-play") == 1
    careful = server(edge_of(place, more="first_frame_timeout 1;"))
    assert status_of(flv_of(careful)) == 404
    assert origins_of(careful) == {place: "down"}
    publisher.stop()


def order_of(origins: list[str], stream: str) -> list[str]:
    """The order in which edges try the origins, as in engine/relay/origin_health.cpp: all nodes of all versions agree on it."""
    def weight(origin: str) -> int:
        value = 0xCBF29CE484222325
        for byte in f"{origin}\n/live/{stream}".encode():
            value = (value ^ byte) * 0x100000001B3 % 2**64
        value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD % 2**64
        return value ^ value >> 33

    return sorted(origins, key=weight, reverse=True)


def stream_that_asks_last(place: str, others: list[str]) -> str:
    return next(stream for stream in (f"cam{number}" for number in range(1000)) if order_of([place, *others], stream)[-1] == place)


@pytest.mark.parametrize("bad", [MuteOrigin, RandomOrigin])
def test_an_invalid_origin_is_left_without_effect_on_clients(server, clip, bad):
    origin = server()
    place = f"rtmp://127.0.0.1:{origin.ports['rtmp']}"
    with bad() as other:
        others = [f"rtmp://127.0.0.1:{other.port}"]
        stream, quiet = stream_that_asks_last(place, others), stream_that_asks_last(others[0], [place])
        publishers = [Publisher(origin.ports["rtmp"], name, clip("basic")) for name in (stream, quiet)]
        for one in publishers:
            one.start()
        edge = server(edge_of(place, *others, more="first_frame_timeout 20;"))
        bystander = Player(edge.ports["rtmp"], quiet)
        bystander.start()
        watch = Stopwatch(origin, edge)
        player = Player(edge.ports["rtmp"], stream)
        player.start()
        wait_until(lambda: len(player.messages) > 30, 20, "the stream")
        assert watch.seconds() < 5 + 3
        assert origins_of(edge) == {place: "up", others[0]: "down"}
        assert max(gaps_of(bystander)) < 2.5 + publishers[1].longest_pause
        for one in (player, bystander, *publishers):
            one.stop()
        assert (player.error, bystander.error) == (None, None)


@pytest.mark.parametrize("what", ["falls silent", pytest.param("never answers", marks=pytest.mark.long)])
def test_an_encoder_stays_connected_while_its_origin_is_silent(server, mortal, clip, what):
    """Whose machine still takes what is sent."""
    other = mortal()
    with MuteOrigin() as mute:
        silent = mortal() if what == "falls silent" else mute
        places = [f"rtmp://127.0.0.1:{other.ports['rtmp']}", f"rtmp://127.0.0.1:{silent.port if silent is mute else silent.ports['rtmp']}"]
        stream = stream_that_asks_last(*places[:1], places[1:])
        edge = server(edge_of(*places))
        watch = Stopwatch(other, edge)
        publisher = Publisher(edge.ports["rtmp"], stream, clip("basic"))
        publisher.start()
        if silent is not mute:
            wait_until(lambda: silent.api("/api/v1/streams/")["streams"], 10, "the stream at its origin")
            time.sleep(1)
            watch = Stopwatch(other, edge)
            silent.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: other.api("/api/v1/streams/")["streams"], 15, "the stream at the other origin", 0.02)
        assert watch.seconds() < (3 + 1 if silent is not mute else 5 + 1)
        assert play_check.play(other.url(stream), 2).problems() == [] and publisher.error is None
        publisher.stop()


def test_an_edge_finds_the_one_origin_that_has_the_stream(server, clip):
    """The others take the request and wait; each is asked in its turn."""
    origin, *others = (server() for _ in range(4))
    places = [f"rtmp://127.0.0.1:{one.ports['rtmp']}" for one in (origin, *others)]
    stream = stream_that_asks_last(places[0], places[1:])
    publisher = Publisher(origin.ports["rtmp"], stream, clip("basic"))
    publisher.start()
    edge = server(edge_of(*places))
    player = Player(edge.ports["rtmp"], stream)
    player.start()
    wait_until(lambda: player.messages, 20, "the stream")
    assert set(origins_of(edge)) == set(places)
    player.stop()
    publisher.stop()


def test_the_request_carries_query_host_and_path(server):
    def refuse(connection, _head):
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

    with FakeOrigin(refuse) as origin:
        edge = server(edge_of(origin.url, more="vhost o.example; first_frame_timeout 1;"))
        assert status_of(flv_of(edge) + "?token=a%20b&vhost=__defaultVhost__") == 404
        lines = origin.heads[0].split("\r\n")
        assert lines[0] == "GET /live/cam.flv?token=a%20b&vhost=o.example HTTP/1.1"
        assert f"Host: 127.0.0.1:{origin.port}" in lines
        assert any(line.startswith("X-Millrace-Path: ") and len(line) > 20 for line in lines)
        assert 1 <= len(origin.heads) <= 4, "after a pause"
        assert origins_of(edge) == {origin.url: "up"}, "an origin without the stream is healthy"
        edge.wait_log("does not have the stream")


def test_an_origin_in_trouble_is_down(server):
    def fail(connection, _head):
        connection.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")

    with FakeOrigin(fail) as origin:
        edge = server(edge_of(origin.url, more="first_frame_timeout 1;"))
        assert status_of(flv_of(edge)) == 404
        assert origins_of(edge) == {origin.url: "down"}


def test_a_place_without_media_that_an_origin_names_is_left(server, clip):
    def begin_only(connection: socket.socket, _: str) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\n\r\nFLV\x01\x05\0\0\0\x09\0\0\0\0")
        while connection.recv(4096):
            pass

    origin = server(REMUX)
    publisher = publish_again(origin, clip)
    with FakeOrigin(begin_only) as silent:
        places = iter([silent.url])
        with FakeOrigin(lambda connection, head: redirect_to(next(places, flv_of(origin)))(connection, head)) as first:
            edge = server(edge_of(first.url))
            player = Player(edge.ports["rtmp"], "cam")
            player.start()
            wait_until(lambda: silent.heads, 10, "it goes where it is sent")
            wait_until(lambda: player.messages, 15, "it asks again, and is sent to one that has media")
            player.stop()
    assert len(silent.heads) == 1 and len(first.heads) == 2
    publisher.stop()


def test_a_redirect_over_http_is_followed(server, clip):
    origin = server(REMUX)
    publisher = publish_again(origin, clip)
    with FakeOrigin(redirect_to(flv_of(origin))) as last, FakeOrigin(redirect_to(f"{last.url}/b.flv?k=1")) as first:
        edge = server(edge_of(first.url))
        assert play_check.play(edge.url("cam"), 2).problems() == []
        assert len(first.heads) == 1 and last.heads[0].startswith("GET /b.flv?k=1 HTTP/1.1\r\n")
    with FakeOrigin(redirect_to(origin.url("cam"))) as other_protocol:
        edge = server(edge_of(other_protocol.url))
        assert play_check.play(edge.url("cam"), 2).problems() == []
    publisher.stop()


def test_redirects_in_a_circle_end(server):
    with FakeOrigin(redirect_to("/again.flv")) as origin:
        edge = server(edge_of(origin.url, more="first_frame_timeout 1;"))
        began = time.monotonic()
        assert status_of(flv_of(edge)) == 404
        tries = max(1, round((time.monotonic() - began) / 0.5) + 1)
        assert 4 <= len(origin.heads) <= 4 * tries, "three redirects, then a pause"
        assert origin.heads[1].startswith("GET /again.flv HTTP/1.1\r\n")


def test_a_body_without_chunks_ends_with_its_stream(server, clip):
    data = clip("basic").read_bytes()

    def send_file(connection, _head):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\n\r\n")
        for at in range(0, len(data), 100_000):
            connection.sendall(data[at:at + 100_000])
            time.sleep(0.05)

    with FakeOrigin(send_file) as origin:
        edge = server(edge_of(origin.url))
        player = Player(edge.ports["rtmp"], "cam")
        player.start()
        wait_until(lambda: len(origin.heads) > 1, 20, "the stream ends, and is asked for again")
        assert len(player.messages) > 50 and player.error is None
        assert origins_of(edge) == {origin.url: "up"}, "the end of a stream is not the origin's fault"
        edge.wait_log("the stream ended at the origin")
        player.stop()


@pytest.mark.parametrize("way", ["http", "rtmp", "rtmp in a row"])
def test_a_publisher_that_leaves_does_not_mark_the_origin(server, clip, way):
    origin = server(REMUX)
    above = server(edge_of(origin)) if way == "rtmp in a row" else origin
    edge = server(edge_of(http_of(above) if way == "http" else above))
    watch = Stopwatch(origin, above, edge)
    publisher = publish_again(origin, clip)
    player = Player(edge.ports["rtmp"], "cam")
    player.start()
    wait_until(lambda: len(player.messages) > 50, 10, "the stream through the edge")
    publisher.stop()
    wait_until(lambda: "the stream ended at the origin" in edge.log(), 15, "the edge hears of it")
    time.sleep(2)
    assert list(origins_of(edge).values()) == ["up"]
    assert "origin disconnected" not in edge.log() or watch.waited() > 0.7, "no silence was waited for"
    again = publish_again(origin, clip)
    count = len(player.messages)
    wait_until(lambda: len(player.messages) > count + 50, 15, "the stream is back")
    assert player.error is None
    player.stop()
    again.stop()


def test_a_publisher_that_pauses_is_not_its_origins_fault(server, clip):
    """The origin's other stream continues, so the edge waits for this one."""
    origin = server()
    edge = server(edge_of(origin))
    watch = Stopwatch(origin, edge)
    other = Publisher(origin.ports["rtmp"], "other", clip("basic"))
    other.start()
    with FfmpegPublisher(origin.url("cam"), clip("basic")) as pausing:
        wait_playable(origin.url("cam"))
        players = [Player(edge.ports["rtmp"], stream) for stream in ("cam", "other")]
        for player in players:
            player.start()
        wait_until(lambda: all(len(player.messages) > 50 for player in players), 10, "both streams")
        pausing.process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        count = len(players[0].messages)
        pausing.process.send_signal(signal.SIGCONT)
        wait_until(lambda: len(players[0].messages) > count + 20, 15, "it goes on")
        assert max(gaps_of(players[0])) > 1.5 and max(gaps_of(players[1])) < 2.5 + other.longest_pause
    # When the other stream was silent, too, for a second, the origin was lost.
    was_held = watch.waited() > 0.7 or other.longest_pause > 0.7
    assert was_held or edge.api("/api/v1/clusters")["data"]["totals"]["connections"] == 2
    assert was_held or "origin disconnected" not in edge.log()
    for one in (*players, other):
        one.stop()


def test_edges_in_a_circle_over_http(server):
    left = server(REMUX)
    right = server(edge_of(http_of(left), more="first_frame_timeout 2;"))
    left.stop()
    extra = f"cluster {{ mode remote; origin {http_of(right)}; first_frame_timeout 2; }}"
    left.write_conf(left.conf_path.read_text().replace("vhost __defaultVhost__ {\n", f"vhost __defaultVhost__ {{ {extra}\n"))
    left.start()
    assert status_of(flv_of(left)) == 404
    wait_until(lambda: "in a circle" in left.log() + right.log(), 10, "the log says so")
    alone = server(REMUX)
    alone.stop()
    extra = f"cluster {{ mode remote; origin {http_of(alone)}; first_frame_timeout 2; }}"
    alone.write_conf(alone.conf_path.read_text().replace("vhost __defaultVhost__ {\n", f"vhost __defaultVhost__ {{ {extra}\n"))
    alone.start()
    assert status_of(flv_of(alone)) == 404
    alone.wait_log("in a circle")


def test_a_pull_follows_its_client(server, clip):
    origin = server(REMUX)
    places = f"rtmp://127.0.0.1:{origin.ports['rtmp']} {http_of(origin)}"
    edge = server(edge_of(places, more="follow_client on;"))
    publishers = []
    for stream in ("flv", "rtmp"):
        publishers.append(Publisher(origin.ports["rtmp"], stream, clip("basic")))
        publishers[-1].start()
    assert play_check.play(flv_of(edge, "flv"), 2).problems() == []
    assert (clients_of(origin, "flv-play"), clients_of(origin, "rtmp-play")) == (1, 0)
    assert play_check.play(edge.url("rtmp"), 2).problems() == []
    assert (clients_of(origin, "flv-play"), clients_of(origin, "rtmp-play")) == (1, 1)
    for publisher in publishers:
        publisher.stop()
