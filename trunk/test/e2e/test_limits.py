"""Limits per address: a client at its limits does not exclude others. Loopback has no limits, so the client
comes over another of the machine's addresses."""

import contextlib
import http.client
import re
import signal
import socket
import time
import urllib.error
import urllib.request

import pytest

from live_server import LiveServer, wait_until
from rtc_offer import offer
from rtmp_client import RtmpClient
from transport_stream import SrtSender, libsrt

pytestmark = pytest.mark.workers

CONF = """\
listen 0.0.0.0:$rtmp;
max_connections 20;
daemon off; srs_log_tank console; pid $folder/srs.pid;
http_api { enabled on; listen 0.0.0.0:$api; }
http_server { enabled on; listen 0.0.0.0:$http; dir $folder/html; }
rtc_server { enabled on; listen 127.0.0.1:$udp; }
exporter { enabled on; listen 127.0.0.1:$exporter; }
limits { LIMITS }
vhost __defaultVhost__ { rtc { enabled on; } hls { enabled on; } }
"""


@pytest.fixture(name="address", scope="module")
def fixture_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.200", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but loopback's")
        return probe.getsockname()[0]


def start(server, limits: str = "") -> LiveServer:
    return server(conf=CONF.replace("LIMITS", limits))


def refused(live: LiveServer, limit: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=5) as answer:
        return int(re.search(rf'^millrace_refused_total{{limit="{limit}"}} (\d+)$', answer.read().decode(), re.M).group(1))


def objects(live: LiveServer, kind: str) -> int:
    return live.api("/api/v1/memory")["data"]["kinds"][kind]["objects"]


def is_open(connection: socket.socket) -> bool:
    """Whether a handshake is answered; a server that refuses closes at once. To be asked once."""
    connection.settimeout(10)
    try:
        connection.sendall(b"\x03" + bytes(1536))
        return connection.recv(1) != b""
    except ConnectionError:
        return False


def post_offers(address: str, port: int, count: int, name: str = "s") -> list[int]:
    """Their statuses, over as few connections as the server allows, or over a few, to any worker."""
    statuses = []
    connection = http.client.HTTPConnection(address, port, timeout=30)
    for i in range(count):
        if i % 8 == 7:
            connection.close()
        connection.request("POST", f"/rtc/v1/whip/?app=live&stream={name}{i}", offer(), {"Content-Type": "application/sdp"})
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
        if answer.will_close:
            connection.close()
    connection.close()
    return statuses


@pytest.mark.workers(always=True)
def test_unused_offers_do_not_exclude_other_clients(server, address):
    live = start(server, "rtc_half_open_per_ip 30; rtc_offers_per_ip 10;")
    statuses = post_offers(address, live.ports["http"], 60)
    assert statuses == [201] * 30 + [503] * 30, statuses
    assert refused(live, "rtc_half_open_per_ip") == 30
    assert objects(live, "rtc_half_open") == 30 and objects(live, "connections") < 5
    assert objects(live, "addresses") <= len(live.pids())
    assert post_offers("127.0.0.1", live.ports["http"], 3, "others") == [201] * 3
    with RtmpClient(live.ports["rtmp"]) as client:
        assert client.connect()["code"] == "NetConnection.Connect.Success"
    lines = [line for line in live.log().splitlines() if "refused" in line]
    assert 1 <= len(lines) <= len(live.pids()), "one of each worker"
    assert all("limits.rtc_half_open_per_ip" in line and address in line for line in lines), lines


@pytest.mark.workers(always=True)
def test_no_address_takes_all_places_and_the_api_answers_when_none_is_left(server, address):
    live = start(server)
    with contextlib.ExitStack() as stack:
        # The clients of earlier requests have left.
        wait_until(lambda: objects(live, "connections") <= 1, 15, "nobody else is there")
        greedy = [stack.enter_context(socket.create_connection((address, live.ports["rtmp"]))) for _ in range(30)]
        assert sum(is_open(each) for each in greedy) == 10
        assert refused(live, "connections_per_ip") == 20
        others = [stack.enter_context(socket.create_connection(("127.0.0.1", live.ports["rtmp"]))) for _ in range(15)]
        assert sum(is_open(each) for each in others) == 10
        with pytest.raises(urllib.error.HTTPError) as full:
            urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}/", timeout=5)
        assert full.value.code == 503
        for _ in range(3):
            assert live.api("/api/v1/versions")["code"] == 0
        assert refused(live, "max_connections") == 6
    wait_until(lambda: objects(live, "connections") <= 2, 15, "all places are given back")


@pytest.mark.skipif(libsrt() is None, reason="no libsrt")
@pytest.mark.one_worker("the places are the same ones")
def test_srt_connections_have_places_too(server, address):
    text = CONF.replace("LIMITS", "").replace("rtc { enabled on; }", "srt { enabled on; }")
    live = server(conf=text + "srt_server { enabled on; listen 0.0.0.0:$srt; }")
    port, accepted = live.ports["srt"], 0
    with contextlib.ExitStack() as stack:
        for number in range(12):
            with contextlib.suppress(OSError):
                stack.enter_context(SrtSender(port, f"#!::r=live/s{number},m=publish", host=address))
                accepted += 1
        assert accepted == 10
        assert refused(live, "connections_per_ip") == 2
        assert "limits.connections_per_ip" in live.log()
        stack.enter_context(SrtSender(port, "#!::r=live/other,m=publish"))
    wait_until(lambda: objects(live, "connections") <= 2, 15, "all places are given back")


@pytest.mark.workers(always=True)
def test_an_address_that_connects_too_fast_waits_and_a_trusted_one_does_not(server, address):
    live = start(server, "new_connections_per_ip 1;")

    def connect(count: int) -> int:
        opened = 0
        for _ in range(count):
            with socket.create_connection((address, live.ports["rtmp"])) as each:
                opened += is_open(each)
        return opened

    began = time.monotonic()
    opened = connect(15)
    assert 10 <= opened <= 10 + time.monotonic() - began + 1
    assert refused(live, "new_connections_per_ip") == 15 - opened
    live.write_conf(live.conf_path.read_text().replace("new_connections_per_ip 1;", f"new_connections_per_ip 1; trusted {address};"))
    live.process.send_signal(signal.SIGHUP)
    wait_until(lambda: live.log().count("reload finished, code=0") == len(live.pids()), 15, "all have reloaded")
    assert connect(5) == 5
