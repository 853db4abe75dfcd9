"""Certificates by ACME, from pebble: by both proofs, renewed, taken over while the server runs, and refused with a reason."""

import re
import socket
import ssl
import subprocess
import urllib.request

import pytest
from acme_authority import Authority
from live_server import ROOT_CONF, LiveServer, Ports, free_port, wait_until

NAMES = ("live.example.com", "www.example.com")


def served_text(port: int) -> str:
    """The certificate of an HTTPS port, as openssl shows it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port), 5), server_hostname=NAMES[0]) as client:
        given = client.getpeercert(binary_form=True)
    return subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-text"], input=given, capture_output=True, check=True, timeout=20).stdout.decode()


def metrics_of(live: LiveServer) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=10) as answer:
        return answer.read().decode()


def serial(text: str) -> str:
    return re.search(r"Serial Number:\s*([0-9a-f:x ()]+)", text)[1].strip()


@pytest.fixture(name="start")
def _start(request, tmp_path):
    """start(challenge, life_s, root="", http=None) is an authority and a server that has ordered from it."""
    running = []

    def start(challenge: str, life_s: int, root: str = "", http: int | None = None) -> tuple[Authority, LiveServer]:
        ports = Ports(acme=free_port(), https=free_port())
        authority = Authority(request.config, tmp_path, http or ports["acme"], ports["https"], life_s)
        running.append(authority.close)
        conf = ROOT_CONF.replace("http_server { enabled on;", "http_server { enabled on; https { enabled on; listen 127.0.0.1:$https; }") + f"""{root}
acme {{ enabled on; accept_terms on; domain {' '.join(NAMES)}; email ops@example.com; directory {authority.directory}; challenge {challenge};
    listen 127.0.0.1:$acme; }}
tls_client {{ ca_file {authority.ca}; }}
vhost __defaultVhost__ {{ }}
"""
        live = LiveServer(tmp_path / "server", conf, ports)
        (tmp_path / "server" / "html").mkdir()
        live.start()
        running.append(live.kill)
        return authority, live

    yield start
    for close in reversed(running):
        close()


def wait_issued(authority: Authority, live: LiveServer, before: str = "") -> str:
    """The certificate that the server shows, once it is a new one of the authority."""

    def issued() -> str | None:
        text = served_text(live.ports["https"])
        return text if "Pebble" in text and serial(text) != before else None

    return wait_until(issued, 90, lambda: live.log()[-2_000:] + authority.log()[-3_000:], 0.5)


def test_a_certificate_is_ordered_taken_over_and_renewed(start):
    authority, live = start("http-01", 60, "exporter { enabled on; listen 127.0.0.1:$exporter; }\n")
    first = served_text(live.ports["https"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(("127.0.0.1", live.ports["https"]), 5)) as old:
        text = wait_issued(authority, live, serial(first))
        assert all(f"DNS:{name}" in text for name in NAMES)
        old.sendall(b"GET /none HTTP/1.1\r\nHost: a\r\n\r\n")
        assert old.recv(4096).startswith(b"HTTP/1.1 404"), "connections keep the certificate that they began with"
    for name in ("srs.acme.pem", "srs.acme.account.pem"):
        assert (live.folder / name).stat().st_mode & 0o777 == 0o600, name
    account = (live.folder / "srs.acme.account.pem").read_text()
    assert not list(live.folder.glob("srs.acme.challenge")), "the challenge is over"
    # At two thirds of its life.
    wait_issued(authority, live, serial(text))
    assert (live.folder / "srs.acme.account.pem").read_text() == account
    wait_until(lambda: f'millrace_acme_orders_total{{name="{NAMES[1]}",result="issued"}} 2\n' in metrics_of(live), 10, "the second order is counted")
    assert "BEGIN" not in live.log()


def test_a_stored_certificate_is_used_after_a_restart(start):
    authority, live = start("http-01", 86_400)
    text = wait_issued(authority, live)
    live.stop()
    live.start()
    assert serial(served_text(live.ports["https"])) == serial(text), "at once, without another order"
    assert live.log().count("acme: ordering") == 1


def test_tls_alpn_proves_the_names_on_each_worker(start):
    authority, live = start("tls-alpn-01", 86_400, "workers 2;\n")
    text = wait_issued(authority, live)
    wait_until(lambda: {serial(served_text(live.ports["https"])) for _ in range(12)} == {serial(text)}, 20, "both workers show it")
    # Only the authority's kind of client gets the other certificate, and only during an order.
    assert not list(live.folder.glob("*.acme.alpn.pem"))


def test_a_port_that_cannot_be_reached_has_a_sentence(start):
    closed = free_port()
    _, live = start("http-01", 86_400, http=closed)
    live.wait_log("cannot reach port 80 of", 60)
    assert re.search(r"no certificate for live\.example\.com, www\.example\.com: .*; the next attempt is in 60 s", live.log())
    assert "Pebble" not in served_text(live.ports["https"]), "the self-signed one serves meanwhile"
