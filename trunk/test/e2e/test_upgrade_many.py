"""Upgrades under publishers and players of every kind: to a program that does not start, then two in a row; also of the first process of a
container. With --long: 500 players of each kind and 50 publishers."""

import time

import pytest

import live_server
from able_players import KINDS, AblePlayer, Order, url
from live_server import LiveServer, Ports, free_udp_ports, wait_until
from players import wait_playable
from rtc_offer import ask
from upgrade_stage import VHOST, FirstProcess, facts, start_player, upgrade, videos

UPGRADES = 2
# HLS players have a request at a time.
SHORT = "sb_hls_load"
PLACES = {"here": LiveServer, "container": FirstProcess}


@pytest.fixture(name="live")
def fixture_live(request, tmp_path, workers, monkeypatch):
    monkeypatch.setenv("SRS_MAX_CONNECTIONS", "10000")
    text = live_server.conf(VHOST + "rtc { enabled on; rtmp_to_rtc on; }", "rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; }\n")
    live = PLACES[request.param](tmp_path / "live", text, Ports(udp=free_udp_ports(workers)))
    try:
        yield live.start()
        live.stop()
    finally:
        live.kill()


def upgrade_in_vain(live: LiveServer) -> None:
    good = live.conf_path.read_text()
    live.conf_path.write_text(good + "\nno_such_directive on;\n")
    answer = ask(live.ports["api"], "POST", "/api/v1/upgrade")
    assert answer.status == 500 and "no_such_directive" in answer.json()["message"], answer.body
    state = facts(live)
    assert state["state"] == "serving" and "no_such_directive" in state["error"], state
    live.conf_path.write_text(good)


@pytest.mark.workers
@pytest.mark.parametrize("live, publishers, players", [("here", 10, 40), pytest.param("here", 50, 500, marks=pytest.mark.long),
                                                       pytest.param("container", 50, 500, marks=pytest.mark.long)], indirect=["live"])
def test_clients_are_not_affected(live, server, load, clip, workers, publishers, players):
    """Clients that obey Reconnect move to the new process and lose no frame; none of the others fails, or has to reconnect. Half of the publishers are a forward,
    which obeys; the others do not know Reconnect, and neither do the load programs."""
    encoder = server(f"forward {{ enabled on; destination 127.0.0.1:{live.ports['rtmp']}; }}")
    half = publishers // 2
    obeys = load("sb_rtmp_publish", "-c", half, "-s", 0, "-t", 1, "-r", encoder.url("able_{i}"), "-i", clip("basic"))
    stays = load("sb_rtmp_publish", "-c", half, "-s", 0, "-t", 1, "-r", live.url("plain_{i}"), "-i", clip("basic"))
    wait_until(lambda: len(live.api("/api/v1/streams/?count=1000")["streams"]) == 2 * half, 30, "all are published")
    wait_playable(f"http://127.0.0.1:{live.ports['http']}/live/plain_0.m3u8", 40)
    order = Order(clip("basic"))
    able = [AblePlayer(live, f"able_{number % half}") for number in range(10)]
    unable = [start_player(live, f"able_{number % half}") for number in range(10)]
    for one in able:
        one.start()
    wait_until(lambda: all(videos(one) > 50 for one in (*able, *unable)), 30, "all play")
    ramp_s = players / 100
    seconds = 2 * ramp_s + 25
    light = {"sb_rtc_load": ["--skip-decryption"]} if players > 100 else {}
    running = {kind: load(kind, "-c", players, "-r", url(live, kind, "plain_0"), "--ramp", 100, "--seconds", seconds, *light.get(kind, []))
               for kind in KINDS}
    time.sleep(ramp_s + 3)
    upgrade_in_vain(live)
    began = time.monotonic()
    for number in range(1, UPGRADES + 1):
        upgrade(live)
        wait_until(lambda: facts(live)["publishers"] == half, 40, "whoever can has come over")
        wait_until(lambda moves=number: all(one.moves >= moves for one in able), 20, lambda: f"players, too: {[(one.moves, one.error) for one in able]}")
    took_s = time.monotonic() - began
    state = facts(live)
    assert sum(one["publishers"] for one in state["others"]) == half, state
    results = {kind: one.result(seconds + 60) for kind, one in running.items()}
    for kind, result in results.items():
        print(kind, {name: result[name] for name in ("clients", "alive", "failed")}, "gaps", result["metrics"].get("gaps", {}).get("max"))
        assert result["failed"] == 0, kind
        assert kind == SHORT or result["alive"] == players, kind
        # WebRTC leaves frames out where the machine cannot do it all.
        if kind != "sb_rtc_load":
            assert result["metrics"]["gaps"]["max"] == 0, kind
    lost = {f"{kind} {number}": order.holes(one.stop()) for kind, ones in (("able", able), ("unable", unable)) for number, one in enumerate(ones)}
    print(f"{UPGRADES} upgrades with {half} publishers that came over took {took_s:.1f} s; holes: {sum(map(len, lost.values()))}")
    assert [one.error for one in able] == [None] * len(able)
    assert [one.moves for one in able] == [UPGRADES] * len(able), "each connection is told once"
    assert [one.error for one in unable] == [None] * len(unable)
    assert not any(lost.values()), {who: where for who, where in lost.items() if where}
    for one in (stays, obeys):
        one.stop()
        assert one.result(60)["failed"] == 0
    live.wait_log("this process has no clients", 30)
