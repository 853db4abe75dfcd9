"""Certificates of a running server: renewed files and new paths take effect, a bad pair does not, and no client is disconnected."""

import signal
import socket
import ssl
from pathlib import Path

import pytest

from certificates import der, install, make_pair, replace
from live_server import wait_until

SERVICES = ("rtmps", "api_tls", "http_tls")
LIMIT_S = 20  # Two looks of two seconds, on a loaded machine.


def connect(port: int) -> ssl.SSLSocket:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), 5))


def served_by(port: int) -> bytes:
    with connect(port) as client:
        return client.getpeercert(binary_form=True)


def still_answers(client: ssl.SSLSocket) -> bool:
    client.sendall(b"GET /api/v1/versions HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.fixture(name="pairs", scope="module")
def fixture_pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    return [make_pair(folder, name) for name in ("one", "two", "three")]


def start(server, folder: Path):
    files = f"key {folder}/now.key; cert {folder}/now.crt;"
    return server(conf=f"""
listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid;
rtmps {{ enabled on; listen 127.0.0.1:$rtmps; {files} }}
http_api {{ enabled on; listen 127.0.0.1:$api; https {{ enabled on; listen 127.0.0.1:$api_tls; {files} }} }}
http_server {{ enabled on; listen 127.0.0.1:$http; dir $folder/html; https {{ enabled on; listen 127.0.0.1:$http_tls; {files} }} }}
vhost __defaultVhost__ {{ }}
""")


def wait_served(live, cert: Path) -> None:
    wait_until(lambda: all(served_by(live.ports[name]) == der(cert) for name in SERVICES), LIMIT_S, f"all services show {cert.name}")


def test_changed_files_are_taken_over_and_connections_stay(server, pairs, tmp_path):
    install(pairs[0], tmp_path)
    live = start(server, tmp_path)
    wait_served(live, pairs[0][1])
    with connect(live.ports["api_tls"]) as old:
        assert still_answers(old)
        install(pairs[1], tmp_path)
        wait_served(live, pairs[1][1])
        assert still_answers(old) and old.getpeercert(binary_form=True) == der(pairs[0][1])


def test_a_bad_pair_keeps_the_old_one_and_is_logged_once(server, pairs, tmp_path):
    install(pairs[0], tmp_path)
    live = start(server, tmp_path)
    replace(pairs[1][0], tmp_path / "now.key")  # the key of another
    wait_until(lambda: live.log().count("keeps its current certificate") == 3, LIMIT_S, "each service says that it keeps the old")
    assert all(served_by(live.ports[name]) == der(pairs[0][1]) for name in SERVICES)
    replace(pairs[1][1], tmp_path / "now.crt")
    wait_served(live, pairs[1][1])
    assert live.log().count("keeps its current certificate") == 3


def test_a_reload_takes_changed_paths_and_keeps_the_old_when_they_are_bad(server, pairs, tmp_path):
    install(pairs[0], tmp_path)
    live = start(server, tmp_path)
    conf = live.conf_path.read_text()

    def reload_with(key: Path | str, cert: Path | str, times: int) -> None:
        live.conf_path.write_text(conf.replace(f"{tmp_path}/now.key", str(key)).replace(f"{tmp_path}/now.crt", str(cert)))
        live.process.send_signal(signal.SIGHUP)
        wait_until(lambda: live.log().count("reload finished, code=0") == times, 10, "the reload")

    reload_with(*pairs[1], 1)
    assert all(served_by(live.ports[name]) == der(pairs[1][1]) for name in SERVICES)
    reload_with("absent.key", "absent.crt", 2)
    assert live.log().count("keeps its current certificate: the file absent.crt cannot be read") == 3
    assert all(served_by(live.ports[name]) == der(pairs[1][1]) for name in SERVICES)
