"""RTMP over TLS: publish and play with ffmpeg, and the rude clients that a TLS port meets."""

import os
import socket
import time

import pytest

import play_check
from players import FfmpegPublisher, wait_playable

pytestmark = pytest.mark.workers


def start(server, certificate):
    key, cert = certificate
    return server(root=f"rtmps {{ enabled on; listen 127.0.0.1:$rtmps; key {key}; cert {cert}; }}\n")


def test_publish_and_play_by_tls(server, clip, certificate):
    live = start(server, certificate)
    secure = live.url("cam", port="rtmps", schema="rtmps")
    with FfmpegPublisher(secure, clip("basic")):
        wait_playable(live.url("cam"))
        assert play_check.play(secure, 6).problems() == []
        assert play_check.play(live.url("cam"), 4).problems() == []


def test_clients_that_speak_no_tls_are_closed(server, certificate):
    live = start(server, certificate)
    for words in (b"\x03" + bytes(1536), os.urandom(500), b"\x16\x03\x01\x40\x00" + os.urandom(100)):
        with socket.create_connection(("127.0.0.1", live.ports["rtmps"]), 5) as rude:
            rude.settimeout(10)
            try:
                rude.sendall(words)
                rude.shutdown(socket.SHUT_WR)
                while rude.recv(4096):
                    pass
            except TimeoutError:
                raise AssertionError("not closed within 10 s") from None
            except OSError:
                pass  # Reset already.
    time.sleep(0.2)
    live.assert_alive()


def test_a_missing_certificate_is_reported_at_start(tmp_path):
    from live_server import LiveServer, conf
    live = LiveServer(tmp_path, conf(root="rtmps { enabled on; listen 127.0.0.1:$rtmps; key absent.key; cert absent.crt; }\n"))
    live.start(ready=False)
    assert live.process.wait(20) != 0
    assert "absent." in live.log()
