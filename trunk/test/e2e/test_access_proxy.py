"""The PROXY protocol on each TCP listener: the client that a trusted proxy names is the client of the log and of the rules."""

import contextlib
import socket
import ssl
import struct

import pytest
from certificates import make_pair
from live_server import LiveServer, conf, wait_until

PROXY, STRANGER = "127.0.0.9", "127.0.0.8"
ROOT = """limits { trusted 127.0.0.9; proxy_protocol on; }
rtmps { enabled on; listen 127.0.0.1:$rtmps; key $folder/a.key; cert $folder/a.crt; }
rtsp_server { enabled on; listen 127.0.0.1:$rtsp; rtp_port_min 0; }
rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; protocol all; tcp { enabled on; listen 127.0.0.1:$rtc; } }
stream_caster { enabled on; caster gb28181; listen 127.0.0.1:$gb28181; }
playback { enabled on; listen 127.0.0.1:$playback; }
exporter { enabled on; listen 127.0.0.1:$exporter; }
"""
GUARDED = "http_api { enabled on; auth { enabled on; token secret; }"
HTTPS = "http_server { enabled on; https { enabled on; listen 127.0.0.1:$https; key $folder/a.key; cert $folder/a.crt; }"
CALL = b"GET /api/v1/versions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\nConnection: close\r\n\r\n"
REFUSED = "HTTP: wrong password or token, ip={}, path=/api/v1/versions"

# By listener: what its client sends, and the line of the log with its address.
LISTENERS = {
    "rtmp": (b"\x03" + bytes(1536), "RTMP client ip={}"),
    "rtmps": (b"no TLS at all", "RTMPS client ip={}"),
    "rtsp": (b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n", "RTSP: client ip={}"),
    "http": (CALL, REFUSED),
    "https": (CALL, REFUSED),
    "api": (CALL, REFUSED),
    "exporter": (CALL, REFUSED),
    "playback": (b"GET /list?path=live/cam HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", None),
    "gb28181": (b"\x00\x01\x00", "GB28181 client finished. ip={}"),
    "rtc": (b"\x00\x04none", "WebRTC over TCP: {}"),
}


def text_header(client: str) -> bytes:
    return f"PROXY TCP4 {client} 192.0.2.1 51544 80\r\n".encode()


def binary_header(client: str) -> bytes:
    return b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + struct.pack(">H", 12) + socket.inet_aton(client) + bytes([192, 0, 2, 1]) + struct.pack(">HH", 51544, 80)


def talk(live: LiveServer, listener: str, header: bytes, source: str = PROXY) -> bytes:
    """The answer to a client of this listener, behind a header, until the server closes or has said enough."""
    sent, _ = LISTENERS[listener]
    with socket.create_connection(("127.0.0.1", live.ports[listener]), timeout=10, source_address=(source, 0)) as plain:
        with contextlib.suppress(OSError):
            plain.sendall(header)
            with contextlib.ExitStack() as stack:
                connection = plain
                if listener == "https":
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                    connection = stack.enter_context(context.wrap_socket(plain))
                connection.sendall(sent)
                if listener == "gb28181":
                    connection.shutdown(socket.SHUT_WR)
                if listener in ("rtmps", "rtc"):
                    return b""
                return connection.recv(4096)
    return b""


@pytest.fixture(name="site")
def _site(tmp_path):
    text = conf("security { enabled on; deny play 203.0.113.0/24; allow play all; } rtsp { enabled on; } rtc { enabled on; }", ROOT)
    live = LiveServer(tmp_path, text.replace("http_api { enabled on;", GUARDED).replace("http_server { enabled on;", HTTPS))
    make_pair(tmp_path, "a")
    live.start(ready=False)
    wait_until(lambda: "rtmp listen at" in live.log().lower(), 20, live.log)
    yield live
    live.kill()


def test_each_tcp_listener_takes_the_client_of_a_trusted_proxy(site):
    live = site
    number = 0
    for listener, (_, line) in LISTENERS.items():
        for header in (text_header, binary_header):
            number += 1
            client = f"203.0.113.{number}"
            answer = talk(live, listener, header(client))
            if line is None:
                assert answer.startswith(b"HTTP/1.1 403"), (listener, answer)
            else:
                live.wait_log(line.format(client))
    assert talk(live, "playback", text_header("198.51.100.1")).startswith(b"HTTP/1.1 404"), "the rule is for others"


def test_no_listener_serves_a_proxy_without_a_header_nor_believes_a_stranger(site):
    live = site
    for count, listener in enumerate(LISTENERS, 1):
        assert talk(live, listener, b"") == b"", f"{listener}: the trusted proxy must name its client"
        wait_until(lambda count=count: live.log().count(f"refused the proxy {PROXY}") == count, 20, live.log)
        talk(live, listener, text_header("203.0.113.77"), STRANGER)
    assert "203.0.113.77" not in live.log()
