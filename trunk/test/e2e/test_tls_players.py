"""HTTPS-FLV players that read slowly, send tiny records or many key updates, close one direction or resume a session, and a certificate
that is swapped while they play. Each gets the bytes that a plain player gets."""

import contextlib
import json
import ssl
import subprocess

import pytest

from certificates import der, install, make_pair
from http_streams import HttpStream, read_tags
from live_server import wait_until
from load_tools import Load
from players import FfmpegPublisher, wait_playable
from tls_players import TlsStream, anyone
from upgrade_stage import upgrade

pytestmark = pytest.mark.workers

PATH = "/live/cam.flv"
# With the twenty whose bytes are read, 200 players.
OTHERS = 180
FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"


@pytest.fixture(name="live")
def fixture_live(server, certificate, clip):
    key, cert = certificate
    live = server(conf=conf(key, cert))
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=4):
        wait_playable(live.url("cam"))
        yield live


def conf(key, cert) -> str:
    return f"""
listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid; access_log $folder/sessions.log;
http_api {{ enabled on; listen 127.0.0.1:$api; }}
http_server {{ enabled on; listen 127.0.0.1:$http; dir $folder/html; https {{ enabled on; listen 127.0.0.1:$https; key {key}; cert {cert}; }} }}
vhost __defaultVhost__ {{ {FLV} play {{ mw_latency 100; }} }}
"""


def has_grown(player, by: int = 100_000) -> bool:
    before = len(player.body)
    return len(player.read_until(lambda body: len(body) >= before + by)) >= before + by


def frames(player) -> list[tuple[int, int, bytes]]:
    """What a player got, complete tags only."""
    return [(tag.type, tag.timestamp, tag.body) for tag in read_tags(player.body)[1]]


def assert_same_media(one, other) -> None:
    """The frames that both got, from the first to the last in common, are the same and in the same order."""
    # Not the metadata, which are the same wherever a player begins.
    left, right = ([body for kind, _, body in frames(player) if kind in (8, 9) and len(body) > 200] for player in (one, other))
    first = next(body for body in left if body in right)
    left, right = left[left.index(first):], right[right.index(first):]
    count = min(len(left), len(right))
    assert count > 20 and left[:count] == right[:count]


def test_a_tls_player_gets_the_bytes_of_a_plain_one(live):
    with HttpStream(live.ports["http"], PATH) as plain, TlsStream(live.ports["https"], PATH) as secured:
        assert has_grown(plain, 200_000) and has_grown(secured, 200_000)
        plain.read(0.5)
        assert_same_media(plain, secured)


def test_a_slow_tls_reader_misses_nothing_and_delays_nobody(live):
    with TlsStream(live.ports["https"], PATH, receive_buffer=4096) as slow, TlsStream(live.ports["https"], PATH) as other:
        assert has_grown(other, 600_000)
        assert has_grown(slow, 600_000), "what waited is sent when it reads again"
        other.read(0.5)
        assert_same_media(slow, other)
        assert has_grown(other)


def test_tiny_records_and_input_while_playing(live):
    with TlsStream(live.ports["https"], PATH, tiny=True) as tiny:
        assert has_grown(tiny)
        tiny.socket.sendall(b"ignored" * 30)
        assert has_grown(tiny)
        assert len(frames(tiny)) > 20


def test_a_player_that_ends_its_direction_ends(live):
    with TlsStream(live.ports["https"], PATH) as staying, TlsStream(live.ports["https"], PATH) as leaving:
        assert has_grown(staying) and has_grown(leaving)
        wait_until(lambda: count_players(live) == 2, 10, "both play")
        leaving.socket.settimeout(10)
        try:
            leaving.socket.unwrap()
        except (ssl.SSLError, OSError):
            pass  # Media that came before the end.
        wait_until(lambda: count_players(live) == 1, 10, "one has left")
        assert has_grown(staying)


def count_players(live) -> int:
    return sum(not client["publish"] for client in live.api("/api/v1/clients")["clients"])


def test_a_flood_of_key_updates_ends_its_connection_only(live):
    with TlsStream(live.ports["https"], PATH) as other:
        assert has_grown(other)
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{live.ports['https']}", "-tls1_3"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as flood:
            flood.stdin.write(f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            flood.stdin.flush()
            wait_until(lambda: count_players(live) == 2, 10, "both play")

            def has_ended() -> bool:
                try:
                    flood.stdin.write(b"K\n")
                    flood.stdin.flush()
                except OSError:
                    pass
                return flood.poll() is not None or "changes its keys too often" in live.log()

            wait_until(has_ended, 20, "the end of the flood")
            wait_until(lambda: count_players(live) == 1, 10, "its player has ended")
            flood.kill()
            try:
                flood.stdin.close()
            except OSError:
                pass
        assert "changes its keys too often" in live.log()
        assert has_grown(other)


def test_a_session_is_resumed_by_every_worker_and_after_an_upgrade(live):
    context = anyone()
    with TlsStream(live.ports["https"], PATH, context) as first:
        assert has_grown(first)
        assert first.socket.version() == "TLSv1.3" and not first.socket.session_reused
        session = first.socket.session

    def assert_resumed() -> None:
        # The kernel spreads connections over the workers.
        for _ in range(8):
            with TlsStream(live.ports["https"], PATH, context, session) as player:
                assert player.socket.session_reused
                assert has_grown(player, 1000)

    assert_resumed()
    upgrade(live)
    assert_resumed()


def test_a_certificate_is_swapped_under_players(server, clip, tmp_path):
    pairs = [make_pair(tmp_path, name) for name in ("one", "two")]
    install(pairs[0], tmp_path)
    live = server(conf=conf(tmp_path / "now.key", tmp_path / "now.crt"))
    with FfmpegPublisher(live.url("cam"), clip("basic")), contextlib.ExitStack() as stack:
        wait_playable(live.url("cam"))
        others = Load(tmp_path, "sb_flv_load", "-c", OTHERS, "-s", 0, "-r", f"https://127.0.0.1:{live.ports['https']}{PATH}", "--seconds", 200)
        stack.callback(others.kill)
        players = [TlsStream(live.ports["https"], PATH) for _ in range(20)]
        assert all(has_grown(player) for player in players)

        def clients() -> set[str]:
            return {one["id"] for one in live.api("/api/v1/clients/?count=1000")["clients"]}

        wait_until(lambda: len(clients()) == 1 + OTHERS + len(players), 60, lambda: f"a publisher and its players: {len(clients())}")
        before = clients()
        install(pairs[1], tmp_path)

        def new_certificate() -> bool:
            with TlsStream(live.ports["https"], PATH) as newcomer:
                return newcomer.socket.getpeercert(binary_form=True) == der(pairs[1][1])

        wait_until(new_certificate, 20, "the new certificate")
        assert all(has_grown(player) for player in players)
        assert all(player.socket.getpeercert(binary_form=True) == der(pairs[0][1]) for player in players)
        assert clients() >= before, "no player was disconnected"
        others.stop()
        result = others.result(status=None)
        assert result["alive"] == OTHERS and result["failed"] == 0 and result["metrics"]["gaps"]["max"] == 0, result
        for player in players:
            player.close()


def test_the_access_log_counts_the_media_of_tls_players(live):
    with TlsStream(live.ports["https"], PATH) as player:
        assert has_grown(player, 300_000)
    log = live.folder / "sessions.log"
    wait_until(lambda: log.exists() and '"https-flv"' in log.read_text(), 10, "its line")
    [line] = [one for one in map(json.loads, log.read_text().splitlines()) if one["protocol"] == "https-flv"]
    # The media that it had not read yet was in the kernels.
    assert len(player.body) <= line["sent_bytes"] < len(player.body) + 2_000_000
    assert line["dropped_packets"] == 0
