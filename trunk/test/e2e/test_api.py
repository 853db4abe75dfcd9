"""The first piece of the HTTP API: versions and summaries, enough for a script to wait for readiness."""

import json
import socket
import time
import urllib.request

import pytest

pytestmark = pytest.mark.workers


def get(live, path: str, headers: dict | None = None):
    request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}{path}", headers=headers or {})
    return urllib.request.urlopen(request, timeout=10)


def test_versions(server):
    live = server()
    with get(live, "/api/v1/versions") as answer:
        assert answer.status == 200 and answer.headers["Content-Type"].startswith("application/json")
        body = json.load(answer)
    assert body["code"] == 0 and int(body["pid"]) in live.pids()
    assert body["server"].startswith("vid-") and len(body["service"]) == 8
    data = body["data"]
    assert data["version"] == f"{data['major']}.{data['minor']}.{data['revision']}" and data["major"] == 7


def test_versions_with_a_query_string(server):
    live = server()
    assert live.api("/api/v1/versions?x=y")["code"] == 0


@pytest.mark.workers(always=True)
def test_summaries(server):
    live = server()
    data = live.api("/api/v1/summaries")["data"]
    assert data["self"]["pid"] in live.pids()
    for name in ("version", "ppid", "argv", "cwd", "mem_kbyte", "mem_percent", "cpu_percent", "srs_uptime"):
        assert name in data["self"], name
    for name in ("cpu_percent", "mem_ram_kbyte", "mem_ram_percent", "cpus", "uptime", "load_1m", "conn_srs", "srs_send_bytes", "srs_recv_bytes"):
        assert name in data["system"], name
    assert data["self"]["mem_kbyte"] > 1000


def test_the_server_id_survives_a_restart_and_the_service_does_not(server):
    live = server()
    first = live.api("/api/v1/versions")
    live.stop()
    live.start()
    second = live.api("/api/v1/versions")
    assert first["server"] == second["server"] and first["service"] != second["service"]


def test_a_browser_of_another_origin_may_ask(server):
    live = server()
    with get(live, "/api/v1/versions", {"Origin": "http://example.com"}) as answer:
        assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("words", [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
                                   b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000,
                                   b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"],
                         ids=["blank", "half", "version", "zeros", "long path", "dots", "many headers", "huge body"])
def test_bad_requests_affect_no_other_client(server, words):
    live = server()
    with socket.create_connection(("127.0.0.1", live.ports["api"]), 5) as rude:
        rude.settimeout(20)
        try:
            rude.sendall(words)
            rude.shutdown(socket.SHUT_WR)
            answer = b""
            while block := rude.recv(4096):
                answer += block
                if len(answer) > 1_000_000:
                    break
            assert b"root:" not in answer
        except (ConnectionResetError, BrokenPipeError, OSError):
            pass
    time.sleep(0.1)
    live.assert_alive()
