"""Clusters: a node is emptied while players of every kind and publishers are there. With --long: 500 players of each kind and 50 publishers."""

import signal
import time

import pytest

from able_players import KINDS, AblePlayer, Order, url
from cluster_nodes import REDIRECT, drain_of, fixture_network, fixture_registry, fixture_site, owners, start_player, wait_nodes  # noqa: F401
from live_server import wait_until


@pytest.mark.parametrize("players, publishers, limit_s", [(20, 6, 16), pytest.param(500, 50, 60, marks=pytest.mark.long)])
def test_no_player_loses_a_frame_or_is_closed_early(registry, site, server, clip, load, monkeypatch, players, publishers, limit_s):
    """Half of the publishers are a forward, which obeys Reconnect; the others do not know it, and neither do the load programs."""
    monkeypatch.setenv("SRS_MAX_CONNECTIONS", "10000")
    first = site(registry, REDIRECT + f"drain_limit {limit_s};")
    second, third = site(registry, REDIRECT), site(registry, REDIRECT)
    wait_nodes(first, second, third)
    encoder = server(f"forward {{ enabled on; destination {first.host}:{first.ports['rtmp']}; }}")
    half = publishers // 2
    obeys = load("sb_rtmp_publish", "-c", half, "-s", 0, "-t", 1, "-r", encoder.url("able_{i}"), "-i", clip("basic"))
    stays = load("sb_rtmp_publish", "-c", half, "-s", 0, "-t", 1, "-r", first.url("plain_{i}"), "-i", clip("basic"))
    wait_until(lambda: len(owners(second)) == 2 * half, 30, "all are registered")
    order = Order(clip("basic"))
    able = [AblePlayer(first, f"able_{number % half}") for number in range(min(players, 10))]
    # Sent there by another node, as it were, so that they stay.
    elsewhere = [start_player(second, f"able_{number}?millrace_hop=n2") for number in range(min(half, 10))]
    for one in able:
        one.start()
    seconds = 5 + players / 100 + limit_s * 0.7
    light = {"sb_rtc_load": ["--skip-decryption"]} if players > 100 else {}
    loads = {kind: load(kind, "-c", players, "--ramp", 100, "-r", url(first, kind, "plain_0"), "--seconds", seconds, *light.get(kind, []))
             for kind in KINDS}
    time.sleep(5 + players / 100)
    for one in (*able, *elsewhere):
        assert one.error is None and len(one.messages) > 50
    began = time.monotonic()
    first.process.send_signal(signal.SIGQUIT)
    wait_until(lambda: all(node != "n0" for stream, node in owners(second).items() if "able" in stream), limit_s / 2, "whoever can has gone")
    gone = time.monotonic() - began
    facts = drain_of(first)
    results = {kind: one.result(seconds + 30) for kind, one in loads.items()}
    assert time.monotonic() - began < limit_s, "the drain has not ended: what the load programs say is of before"
    for kind, result in results.items():
        print(kind, {name: result[name] for name in ("clients", "alive", "failed")}, "gaps", result["metrics"].get("gaps", {}).get("max"))
        assert result["failed"] == 0, f"{kind}: nobody is cut before the limit"
        # HLS continues at a node that has segments only from its first complete one on; and its tasks are short.
        is_hls = kind == "sb_hls_load"
        assert is_hls or result["alive"] == players, kind
        # WebRTC leaves frames out where the machine cannot do it all, as with 500 players beside everything else.
        if kind != "sb_rtc_load" or players <= 100:
            assert result["metrics"]["gaps"]["max"] <= (2 if is_hls else 0), kind
    assert stays.process.poll() is None and obeys.process.poll() is None
    first.process.wait(limit_s + 30)
    assert limit_s <= time.monotonic() - began
    lost = {one.stream: order.holes(one.stop()) for one in able}
    lost |= {f"elsewhere {number}": order.holes(one.stop()) for number, one in enumerate(elsewhere)}
    print(f"{half} publishers and {len(able)} players moved within {gone:.1f} s, asked {facts['asked']}; holes: {sum(map(len, lost.values()))}")
    assert [(one.moves, one.error) for one in able] == [(1, None)] * len(able)
    assert [one.error for one in elsewhere] == [None] * len(elsewhere)
    assert not any(lost.values()), {who: where for who, where in lost.items() if where}
    obeys.stop()
    assert obeys.result()["failed"] == 0
    stays.kill()
