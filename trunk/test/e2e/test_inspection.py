"""Looking into a running server, without a special build: what lives in it, its coroutines, the loop's lag, a CPU profile."""

import concurrent.futures
import contextlib
import re
import resource
import shutil
import socket
import ssl
import struct
import subprocess
import urllib.error
import urllib.request

import pytest

import live_server
from live_server import wait_until
from rtmp_client import Player, Publisher

pytestmark = pytest.mark.workers

EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; }"
FIBER = {"id": int, "name": str, "scope": str, "age_seconds": float, "state": str, "waits_for": str, "cancelled": bool,
         "stack_high_water_bytes": int}


def ask(server, path: str, limit_s: float = 10, port: str = "api") -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.ports[port]}{path}", timeout=limit_s) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def kinds(server, query: str = "") -> dict:
    return server.api("/api/v1/memory" + query)["data"]["kinds"]


@pytest.mark.one_worker("a stream takes memory on each worker that plays it")
def test_memory_grows_with_streams_and_comes_back(server, clip):
    live = server(root=EXPORTER)
    assert ask(live, "/api/v1/memory?since=mark")[0] == 400, "there is no mark yet"
    before = kinds(live, "?mark=1")
    assert before["sources"]["objects"] == 0 and before["packets"] == {"objects": 0, "bytes": 0}
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    players = [Player(live.ports["rtmp"], "cam") for _ in range(3)]
    for player in players:
        player.start()
    wait_until(lambda: kinds(live)["sessions_rtmp-play"]["objects"] == 3 and kinds(live)["packets"]["objects"] > 50, 20, "three play")
    now = kinds(live, "?since=mark")
    assert now["sources"]["growth"]["objects"] == 1 and now["sessions_fmle-publish"]["growth"]["objects"] == 1
    assert now["packets"]["growth"]["bytes"] > 20_000 and now["wire_slabs"]["objects"] > 0
    assert all(now[kind]["growth"]["bytes"] >= 4 * 100 for kind in ("connections", "fibers")) and now["sessions_rtmp-play"]["bytes"] >= 3 * 100
    assert now["fibers"]["growth"]["objects"] >= 4 and now["stacks"]["growth"]["objects"] >= 4
    for player in players:
        player.stop()
    publisher.stop()
    # The source is removed some seconds after its last client; the wheel of the merge window and its fiber remain.
    stays = {"sources": 0, "packets": 0, "wire_slabs": 0, "sessions_rtmp-play": 0, "sessions_fmle-publish": 0, "fibers": 1, "stacks": 1}
    wait_until(lambda: {kind: count["growth"]["objects"] for kind, count in kinds(live, "?since=mark").items() if kind in stays} == stays,
               30, "all else is as it was at the mark")
    text = ask(live, "/metrics", port="exporter")[1].decode()
    assert float(re.search(r"^millrace_loop_lag_seconds_count (\S+)$", text, re.M).group(1)) > 100
    assert re.search(r"^millrace_players_stalled_total 0$", text, re.M)
    assert re.search(r"^millrace_players_unpublished_total 0$", text, re.M)
    assert re.search(r"^millrace_log_lines_left_out_total 0$", text, re.M)
    assert re.search(r"^millrace_loop_long_holds_total \d+$", text, re.M)


def test_tls_sessions_are_counted_with_openssl_memory(server, certificate):
    key, cert = certificate
    live = server(root=f"rtmps {{ enabled on; listen 127.0.0.1:$rtmps; key {key}; cert {cert}; }}\n")
    anybody = ssl._create_unverified_context()  # pylint: disable=protected-access

    def bytes_of_ten_sessions() -> int:
        with contextlib.ExitStack() as stack:
            for _ in range(10):
                plain = stack.enter_context(socket.create_connection(("127.0.0.1", live.ports["rtmps"]), 5))
                stack.enter_context(anybody.wrap_socket(plain, server_hostname="localhost"))
            wait_until(lambda: kinds(live)["tls_sessions"]["objects"] == 10, 10, "ten sessions")
            return kinds(live)["tls_sessions"]["bytes"]

    def bytes_of_none() -> int:
        wait_until(lambda: kinds(live)["tls_sessions"]["objects"] == 0, 10, "they have gone")
        return kinds(live)["tls_sessions"]["bytes"]

    assert bytes_of_none() > 10_000
    bytes_of_ten_sessions()  # the library remembers what it has looked up for the first ones
    before = bytes_of_none()
    # A session of TLS 1.3 without its buffers takes some ten KiB.
    assert 10 * 3_000 < bytes_of_ten_sessions() - before < 10 * 100_000
    assert bytes_of_none() - before < 10 * 500


def test_fibers_are_listed_with_their_wait_state(server):
    live = server()
    data = live.api("/api/v1/fibers?count=100")["data"]
    fibers = {fiber["name"]: fiber for fiber in data["fibers"]}
    assert data["total"] == len(data["fibers"]) and data["stack_bytes"] >= 65536
    for fiber in data["fibers"]:
        assert {name: type(fiber[name]) for name in FIBER} == FIBER, fiber
        assert 0 <= fiber["stack_high_water_bytes"] <= data["stack_bytes"] and fiber["age_seconds"] >= 0
    assert fibers["rtmp-listener"]["state"] == "waiting" and re.fullmatch(r"descriptor \d+ to read", fibers["rtmp-listener"]["waits_for"])
    assert fibers["housekeeping"]["waits_for"] == "time" and fibers["housekeeping"]["due_in_seconds"] <= 1.1
    assert sum(fiber["state"] == "running" for fiber in data["fibers"]) == 1, "the one that answers"
    assert 0 < fibers["rtmp-listener"]["stack_high_water_bytes"] < data["stack_bytes"]

    def oldest_is_last() -> bool:
        """Of two answers between which no connection has ended."""
        whole = live.api("/api/v1/fibers?count=100")["data"]
        return [one["id"] for one in live.api(f"/api/v1/fibers?start={whole['total'] - 1}&count=10")["data"]["fibers"]] == [whole["fibers"][-1]["id"]]

    wait_until(oldest_is_last, 5, "the newest come first, after the process's own")


@pytest.mark.one_worker("workers have other fibers that wait for a signal")
def test_a_player_that_waits_keeps_one_page_of_stack(server, clip):
    live = server("http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } play { mw_latency 100; }")
    if "--sanitizer=off" not in live.api("/api/v1/features")["data"]["options2"]:
        pytest.skip("sanitizers need the whole stack")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    player = Player(live.ports["rtmp"], "cam")
    player.start()
    with socket.create_connection(("127.0.0.1", live.ports["http"]), timeout=5) as viewer:
        viewer.sendall(b"GET /live/cam.flv HTTP/1.1\r\nHost: a\r\n\r\n")
        for _ in range(50):
            viewer.recv(65536)

        def parked() -> list[tuple]:
            fibers = live.api("/api/v1/fibers?count=100")["data"]["fibers"]
            return [(fiber["name"], fiber["stack_high_water_bytes"]) for fiber in fibers if fiber["waits_for"].endswith("to read, a signal")]

        page = resource.getpagesize()
        wait_until(lambda: {name for name, _ in parked()} >= {"rtmp", "http"} and all(bytes_ <= page for _, bytes_ in parked()), 15,
                   f"players on one page of stack each: {parked()}")
    publisher.stop()
    player.stop()


def words_of(profile: bytes) -> list[int]:
    return list(struct.unpack(f"={len(profile) // 8}Q", profile[:len(profile) // 8 * 8]))


@pytest.mark.one_worker("each worker takes a profile at a time")
def test_a_profile_names_running_functions(server, tmp_path):
    live = server()
    assert ask(live, "/api/v1/profile?seconds=61")[0] == 400
    with concurrent.futures.ThreadPoolExecutor() as pool:
        profiles = [pool.submit(ask, live, "/api/v1/profile?seconds=2") for _ in range(2)]
        while not all(profile.done() for profile in profiles):
            live.api("/api/v1/fibers?count=1000")  # something to do
        folded = pool.submit(ask, live, "/api/v1/profile?seconds=2&format=folded")
        while not folded.done():
            live.api("/api/v1/fibers?count=1000")
    (status, text), (refused, _) = sorted(profile.result() for profile in profiles)
    assert refused == 409, "one at a time"
    assert status == 200 and words_of(text)[:5] == [0, 3, 0, 10_000, 0] and b"/srs" in text
    status, stacks = folded.result()
    assert status == 200 and re.search(rb"^live_fiber_entry;.*live::io::FiberMain::run.*live::session::http::Connection::run.* \d+$", stacks, re.M)
    path = tmp_path / "profile"
    path.write_bytes(text)
    pprof = shutil.which("google-pprof")
    if pprof is None:
        pytest.skip("google-pprof is not installed: only the form of the profile was checked")
    shown = subprocess.run([pprof, "--text", "--cum", str(live_server.BINARY), str(path)], capture_output=True, text=True, timeout=60, check=True)
    assert re.search(r"[1-9]\d* +[\d.]+% +(live::session::http::)?Connection::run|live::session::http::Connection::run", shown.stdout), shown.stdout[:2000]
