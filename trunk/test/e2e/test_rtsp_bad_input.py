"""RTSP: clients that try to get at the sessions of others or to use up the server: requests hidden in frames and bodies, session ids, SSRCs and
ports of others, and thousands of sessions that are never finished. A bystander plays on."""

import contextlib
import resource
import socket
import struct
import time
import urllib.request

import pytest
from live_server import installed, wait_until
from players import FfmpegPublisher
from rtsp_stage import Client, clients, rtsp_url, start, streams, wait_published

pytestmark = [pytest.mark.workers, pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")]

ALAW = "v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns=x\r\nm=audio 0 RTP/AVP 8\r\na=rtpmap:8 PCMA/8000\r\na=control:trackID=0\r\n"
HALF_SET_UP = 5_000


def metric(live, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['metrics']}/metrics", timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)


def is_closed(client: Client) -> bool:
    client.socket.settimeout(15)
    try:
        while client.socket.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def test_requests_inside_of_frames_and_bodies_are_not_requests(server, clip):
    live = start(server)
    url = rtsp_url(live)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        with Client(live) as client:
            client.play(url)
            session = f"TEARDOWN {url} RTSP/1.0\r\nCSeq: 99\r\n\r\n".encode()
            for channel in (0, 1, 7, 255):
                client.socket.sendall(b"$" + bytes([channel]) + struct.pack(">H", len(session)) + session)
            client.socket.sendall(b"$\x00\x00\x00")
            assert client.request("GET_PARAMETER", url)[0] == 200
            assert client.request("SET_PARAMETER", url, body=session.decode(), Content_Type="text/parameters")[0] == 200
            frames = client.frames
            while client.frames < frames + 20:
                client.skip_frame()
            assert client.request("TEARDOWN", url)[0] == 200
        for lengths in ("Content-Length: 5\r\nContent-Length: 50", "Content-Length: -1", "Content-Length: 5 5", "Content-Length: 99999999"):
            with Client(live) as client:
                client.socket.sendall(f"SET_PARAMETER {url} RTSP/1.0\r\nCSeq: 1\r\n{lengths}\r\n\r\n".encode() + session)
                assert client.response()[0] in (400, 413), lengths
                assert is_closed(client), lengths
    live.assert_alive()


def test_a_session_belongs_to_its_connection(server, clip):
    live = start(server)
    url = rtsp_url(live)
    with FfmpegPublisher(live.url("cam"), clip("basic")), Client(live) as owner, Client(live) as thief:
        wait_published(live)
        status, headers, _ = owner.request("DESCRIBE", url)
        assert status == 200
        status, headers, _ = owner.request("SETUP", headers["content-base"] + "trackID=0", Transport="RTP/AVP/TCP;unicast;interleaved=0-1")
        session = headers["session"].split(";")[0]
        assert len(session) >= 16
        for method in ("PLAY", "PAUSE", "TEARDOWN", "GET_PARAMETER", "RECORD", "SETUP"):
            assert thief.request(method, url, Session=session)[0] == 454, method
        assert owner.request("PLAY", url, Session=session)[0] == 200
        owner.skip_frame()


class AlawPublisher:
    """Publishes G.711 over UDP by hand, from one socket."""

    def __init__(self, live, stream: str = "law"):
        self.client, self.sequence = Client(live), 0
        url = rtsp_url(live, stream)
        assert self.client.request("ANNOUNCE", url, body=ALAW, Content_Type="application/sdp")[0] == 200
        self.rtp, self.rtcp = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for one in (self.rtp, self.rtcp):
            one.bind(("127.0.0.1", 0))
        ports = f"{self.rtp.getsockname()[1]}-{self.rtcp.getsockname()[1]}"
        status, headers, _ = self.client.request("SETUP", f"{url}/trackID=0", Transport=f"RTP/AVP;unicast;client_port={ports};mode=record")
        assert status == 200
        server_port = headers["transport"].split("server_port=")[1].split(";")[0].split("-")[0]
        self.to = ("127.0.0.1", int(server_port))
        assert self.client.request("RECORD", url, Session=headers["session"].split(";")[0])[0] == 200

    def packet(self, ssrc: int = 7) -> bytes:
        self.sequence += 1
        return struct.pack(">BBHII", 0x80, 0x88, self.sequence, self.sequence * 160, ssrc) + b"\xd5" * 160

    def send(self, count: int) -> None:
        for _ in range(count):
            self.rtp.sendto(self.packet(), self.to)

    def close(self) -> None:
        for one in (self.client.socket, self.rtp, self.rtcp):
            one.close()


@pytest.mark.one_worker("each worker has UDP ports of its own, and knows the clients of those")
def test_packets_from_other_addresses_and_ports_are_not_of_the_session(server):
    live = start(server)
    publisher = AlawPublisher(live)
    with contextlib.closing(publisher), contextlib.ExitStack() as stack:
        publisher.send(10)
        received = "millrace_rtsp_received_packets_total"
        wait_until(lambda: metric(live, received) == 10, 20, "its packets are counted")
        for address in ("127.0.0.1", "127.0.0.2"):
            thief = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            thief.bind((address, 0 if address == "127.0.0.1" else publisher.rtp.getsockname()[1]))
            for _ in range(50):
                thief.sendto(publisher.packet(), publisher.to)
        publisher.send(5)
        wait_until(lambda: metric(live, received) == 15, 20, "and only these")
        assert "law" in streams(live)


def half_set_up(live) -> socket.socket:
    """DESCRIBE and SETUP, and nothing more."""
    one = socket.create_connection(("127.0.0.1", live.ports["rtsp"]), timeout=30)
    url = rtsp_url(live)
    one.sendall((f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 1\r\n\r\nSETUP {url}/trackID=0 RTSP/1.0\r\nCSeq: 2\r\n"
                 "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n").encode())
    return one


@pytest.mark.long
def test_thousands_of_sessions_that_are_never_finished_expire(server, clip):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < HALF_SET_UP + 500:
        pytest.skip(f"this shell may open {most} files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    live = start(server, environment={"SRS_MAX_CONNECTIONS": "8000"})
    with FfmpegPublisher(live.url("cam"), clip("basic")), Client(live) as bystander:
        wait_published(live)
        bystander.play(rtsp_url(live))
        before, began = live.resident_kib(), time.monotonic()
        halves = [half_set_up(live) for _ in range(HALF_SET_UP)]
        wait_until(lambda: metric(live, "millrace_rtsp_connections_total") >= HALF_SET_UP, 60, "all are there")
        grown = live.resident_kib() - before
        # The limit is 30 s from one request to the next.
        wait_until(lambda: len(clients(live, "rtsp-play")) <= 1, 60 + (time.monotonic() - began), "they have expired")
        frames = bystander.frames
        while bystander.frames < frames + 200:
            bystander.skip_frame()
        for one in halves:
            one.close()
    assert grown <= HALF_SET_UP * 32, f"{grown / HALF_SET_UP:.1f} KiB each"
    live.assert_alive()
