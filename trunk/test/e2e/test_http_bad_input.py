"""Bad input over HTTP: the answer is a 4xx and a closed connection; nothing behind it is understood as a second request, and players
of other streams lose nothing."""

import os
import select
import socket
import struct
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

import live_server
from bystander_watch import Watch
from flv_streams import FLV, PORT, assert_gapless
from http_streams import VIDEO, HttpStream, WebSocketStream, count_tags, read_tags
from live_server import Stopwatch, wait_until
from rtmp_client import Bystander, Publisher

pytestmark = pytest.mark.workers

ANSWERS_WITHIN_S = 10
both_ports = pytest.mark.parametrize("port", ["http", "api"])
SECOND = b"GET /api/v1/versions HTTP/1.1\r\nHost: a\r\n\r\n"


def exchange(port: int, request: bytes, limit_s: float = ANSWERS_WITHIN_S) -> bytes:
    """Sends all of it and gives all that comes back until the server closes, which it must."""
    with socket.create_connection(("127.0.0.1", port), timeout=limit_s) as client:
        got = b""
        try:
            client.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            while data := client.recv(1 << 16):
                got += data
        except ConnectionResetError:
            pass
        except TimeoutError:
            raise AssertionError(f"not closed within {limit_s} s, {got!r} came") from None
        return got


def exchange_all(port: int, requests: dict) -> dict:
    """The same for many at once, by name: each takes the time for which a refused client may continue to send."""
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(requests, pool.map(lambda request: exchange(port, request), requests.values())))


def statuses(answer: bytes) -> list[int]:
    return [int(part.split()[0]) for part in answer.split(b"HTTP/1.1 ")[1:]]


def post(fields: bytes, body: bytes = b"0\r\n\r\n") -> bytes:
    return b"POST /api/v1/clients HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n\r\n" + body


CHUNKED = b"Transfer-Encoding: chunked"
# Each is followed by a second request, which is answered only if the first was misparsed.
SMUGGLING = {
    "length and chunks": post(b"Content-Length: 5\r\n" + CHUNKED),
    "chunks and length": post(CHUNKED + b"\r\nContent-Length: 5"),
    "two lengths": post(b"Content-Length: 5\r\nContent-Length: 0"),
    "a length with a sign": post(b"Content-Length: +5"),
    "xchunked": post(b"Transfer-Encoding: xchunked"),
    "chunked twice": post(CHUNKED + b"\r\n" + CHUNKED),
    "a blank before the colon": post(b"Transfer-Encoding : chunked"),
    "a folded line": post(b"X: y\r\n Content-Length: 5"),
    "a bare line feed": post(b"X: y\nContent-Length: 5"),
    "a bare carriage return": post(b"X: y\rContent-Length: 5"),
    "a zero byte": post(b"X: \0"),
    "chunks in HTTP/1.0": post(CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0"),
    "two hosts": post(b"Host: b"),
    "a chunk longer than it says": post(CHUNKED, b"1\r\nxy\r\n0\r\n\r\n"),
    "a chunk that ends with a line feed": post(CHUNKED, b"1\r\nx\n0\r\n\r\n"),
    "a chunk size in the decimal of another": post(CHUNKED, b"0x5\r\nhello\r\n0\r\n\r\n"),
    "a chunk size beyond 64 bits": post(CHUNKED, b"10000000000000005\r\nhello\r\n0\r\n\r\n"),
    "a chunk extension without end": post(CHUNKED, b"5;" + b"x" * 5000 + b"\r\nhello\r\n0\r\n\r\n"),
    "a trailer that is none": post(CHUNKED, b"0\r\n\x00\r\n\r\n"),
}


@both_ports
def test_smuggled_requests_are_not_understood(server, clip, port):
    live = server(FLV)
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        answers = exchange_all(live.ports[port], {name: request + SECOND for name, request in SMUGGLING.items()})
        assert {name: statuses(answer) for name, answer in answers.items()} == {name: [400] for name in SMUGGLING}
        watch.done(len(SMUGGLING))


BIG = {
    "a header of 1 MB": (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * (1 << 20) + b"\r\n\r\n", 431),
    "1 MB of blanks": (b"GET / HTTP/1.1\r\nHost: a\r\nX:" + b" " * (1 << 20) + b"\r\n\r\n", 431),
    "10,000 headers": (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", 431),
    "10,000 trailers": (post(CHUNKED, b"0\r\n" + b"X: y\r\n" * 10_000 + b"\r\n"), 431),
    "a target of 1 MB": (b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    "a method of 1 MB": (b"G" * (1 << 20) + b" / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a body that claims 2^63 bytes": (post(b"Content-Length: 9223372036854775808", b"x" * 1000), 413),
    "a chunk that claims 2^63 bytes": (post(CHUNKED, b"8000000000000000\r\n" + b"x" * (1 << 21)), 413),
    "chunks of a body without end": (post(CHUNKED, b"10000\r\n" + (b"x" * 0x10000 + b"\r\n10000\r\n") * 32), 413),
    "a thousand parameters": (b"GET /api/v1/versions?" + b"a&" * 1000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 400),
}


@both_ports
def test_endless_input_is_limited(server, clip, port):
    live = server(FLV)
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        answers = exchange_all(live.ports[port], {name: request for name, (request, _) in BIG.items()})
        for name, (request, status) in BIG.items():
            got = statuses(answers[name])
            # A client that still sends when the connection closes may lose the answer to a reset.
            assert got in ([status], []), f"{name}: {got}"
            if len(request) < 1 << 19:
                assert got == [status], name
        watch.done(len(BIG))


PATHS = [b"/../srs.conf", b"/live/../../srs.conf", b"/%2e%2e/srs.conf", b"/.%2E/srs.conf", b"/live/%2e%2e%2fsrs.conf", b"/..%2f..%2fetc/passwd",
         b"/..%5csrs.conf", b"/..\\srs.conf", b"/live/cam.flv%00.html", b"/a%0d%0aX:%20y", b"/%", b"/%zz", b"live", b"http:/x", b"/\xff\xfe/../x"]


@both_ports
def test_paths_do_not_climb(server, port):
    live = server(FLV)
    watch = Watch(live)
    answers = exchange_all(live.ports[port], {path: b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n\r\n" for path in PATHS})
    for path, answer in answers.items():
        assert statuses(answer) == [400], path
        assert b"max_connections" not in answer and b"root:" not in answer and b"\r\nX: y" not in answer
    watch.done(len(PATHS))


@both_ports
def test_other_protocols_and_noise_on_the_http_port(server, clip, port):
    live = server(FLV)
    strangers = {"RTMP": b"\x03" + bytes(1536), "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(600), "SSH": b"SSH-2.0-x\r\n",
                 "HTTP/0.9": b"GET /\r\n\r\n", "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}
    strangers.update({f"noise {i}": os.urandom(5000) for i in range(20)})
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        for name, answer in exchange_all(live.ports[port], strangers).items():
            assert statuses(answer) in ([400], [505]), name
        watch.done(len(strangers))


class Slow:
    """Many connections that each send a request byte by byte, one a second, and never get to its end."""

    def __init__(self, port: int, count: int, request: bytes):
        self.request, self.at, self.closed, self.answers = request, 0, {}, {}
        self.start = time.monotonic()
        self.clients = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(count)]

    def step(self) -> None:
        """The next byte on each, and what came back, for a second."""
        until = time.monotonic() + 1
        byte, self.at = self.request[self.at:self.at + 1], self.at + 1
        for client in self.open():
            try:
                client.sendall(byte)
            except OSError:
                self.closed.setdefault(client, time.monotonic() - self.start)
        while (left := until - time.monotonic()) > 0:
            for client in select.select(self.open(), [], [], left)[0]:
                try:
                    data = client.recv(4096)
                except ConnectionResetError:
                    data = b""
                self.answers[client] = self.answers.get(client, b"") + data
                if not data:
                    self.closed.setdefault(client, time.monotonic() - self.start)

    def open(self) -> list:
        return [client for client in self.clients if client not in self.closed]

    def close(self) -> None:
        for client in self.clients:
            client.close()


def last_marks(body: bytes) -> set[tuple]:
    """Of the newest three seconds, as Publisher.sent has them."""
    return {(tag.type, zlib.crc32(tag.body)) for tag in read_tags(body)[1][-200:]} if body else set()


SLOW_REQUESTS = {
    "header": b"GET /api/v1/versions HTTP/1.1\r\nHost: aaaaaaaaaaaaaaaaaaaa",
    "body": b"POST /api/v1/clients HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + b"x" * 40,
}


@pytest.mark.parametrize("what, count", [pytest.param("body", 200), pytest.param("header", 200, marks=pytest.mark.long),
                                         *(pytest.param(what, 1000, marks=pytest.mark.long) for what in SLOW_REQUESTS)])
def test_slow_requests_delay_no_other_client(server, clip, what, count):
    """One byte a second: such a client is closed after 15 s with a response, and delays no other client."""
    live = server(conf=live_server.conf(FLV).replace("max_connections     1000;", "max_connections 2000;"))
    request = SLOW_REQUESTS[what]
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    with Bystander(live.ports["rtmp"], clip("basic")):
        before = live.connections()
        slow = Slow(live.ports[PORT], count, request)
        if what == "body":  # The slow part is the body.
            for client in slow.clients:
                client.sendall(request[:request.index(b"\r\n\r\n") + 4])
            slow.at = request.index(b"\r\n\r\n") + 4
        with HttpStream(live.ports[PORT], "/live/cam.flv") as player:
            while slow.open():
                assert time.monotonic() - slow.start < 30, f"{len(slow.open())} slow clients are still there"
                slow.step()
                watch = Stopwatch(live)
                assert live.api("/api/v1/versions")["code"] == 0 and watch.seconds() < 3, "the API answers as ever"
            newest = [mark for mark in publisher.sent if mark[0] == VIDEO][-1]
            player.read_until(lambda body: newest in last_marks(body), 3)
        assert newest in last_marks(player.body), "the player is not behind"
        assert_gapless(read_tags(player.body)[1])
        assert min(slow.closed.values()) > 14, "nobody is sent away early"
        assert all(statuses(answer) == [408] for answer in slow.answers.values())
        slow.close()
        wait_until(lambda: live.connections() <= before, 15, "their sockets are closed")
    publisher.stop()
    live.assert_alive()


def frame(first: int, payload: bytes, claims: int | None = None) -> bytes:
    """A masked frame; it may claim another length than it has."""
    size = len(payload) if claims is None else claims
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack("!H", size) if size < 1 << 16 else b"\xff" + struct.pack("!Q", size)
    return bytes([first]) + length + bytes(4) + payload


# What the frame is, and the code that the server closes with.
LYING_FRAMES = {
    "not masked": (b"\x82\x05hello", 1002),
    "2^63 - 1 bytes": (frame(0x82, b"x" * 1000, (1 << 63) - 1), 1009),
    "2^64 - 1 bytes": (b"\x82\xff" + b"\xff" * 8 + bytes(4), 1002),
    "one byte over the bound": (frame(0x82, b"", (64 << 10) + 1), 1009),
    "64 bits for a short one": (b"\x82\xff" + struct.pack("!Q", 5) + bytes(4) + b"hello", 1002),
    "16 bits for a short one": (b"\x82\xfe" + struct.pack("!H", 5) + bytes(4) + b"hello", 1002),
    "a ping that claims 126": (frame(0x89, b"x" * 126), 1002),
    "a ping in pieces": (frame(0x09, b"x"), 1002),
    "fragments without end": (frame(0x02, b"x" * 1000) + frame(0x00, b"x" * 1000) * 100, 1009),
    "a continuation of nothing": (frame(0x80, b"x"), 1002),
    "a message inside a message": (frame(0x01, b"x") + frame(0x81, b"y"), 1002),
    "reserved bits": (frame(0xF2, b""), 1002),
    "a reserved type": (frame(0x83, b""), 1002),
    "a text that is none": (frame(0x81, b"\xff"), 1007),
    "a close of one byte": (frame(0x88, b"x"), 1002),
}


def test_websocket_frames_that_lie_are_refused_with_the_reason(server, clip):
    live = server(FLV)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    with Bystander(live.ports["rtmp"], clip("basic")), WebSocketStream(live.ports[PORT], "/live/cam.flv") as good:
        watch = Watch(live)
        for name, (lie, code) in LYING_FRAMES.items():
            for stream in ("cam", "nobody"):
                with WebSocketStream(live.ports[PORT], f"/live/{stream}.flv") as bad:
                    bad.socket.sendall(lie)
                    try:
                        bad.read(10)
                    except ConnectionResetError:  # It was still sending; the reset may have overtaken the code.
                        assert len(lie) > 1 << 16, f"{name} on {stream}"
                        continue
                    assert bad.ended, f"{name} on {stream}"
                    assert bad.close_code == code, f"{name} on {stream}"
        watch.done(2 * len(LYING_FRAMES))
        good.read_until(lambda body: count_tags(body) > 50)
        assert_gapless(read_tags(good.body)[1])
    publisher.stop()


def test_pings_without_a_reader_of_pongs_cost_little(server, clip):
    """80 MB of pings, and not one pong is read: the connection ends before they cost memory."""
    live = server(FLV)
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    pings = frame(0x89, b"x" * 125) * 1000
    with Bystander(live.ports["rtmp"], clip("basic")):
        watch = Watch(live)
        for stream in ("cam", "nobody"):
            with WebSocketStream(live.ports[PORT], f"/live/{stream}.flv", receive_buffer=4096) as rude:
                with pytest.raises(OSError):
                    for _ in range(600):
                        rude.socket.sendall(pings)
                assert live.resident_kib() - watch.kib < 8 * 1024, stream
        watch.done(2)
    publisher.stop()
