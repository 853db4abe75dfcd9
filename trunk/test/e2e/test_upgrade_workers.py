"""Upgrades of several workers: a new master with workers of its own starts beside the old one, on the same ports. test_upgrade.py has what is
the same with one process, and runs with several workers too (--workers)."""

import contextlib
import os
import re
import shutil
import signal
import time

import pytest
from able_players import AblePlayer
from live_server import LiveServer, Ports, free_udp_ports, is_gone, wait_until, wait_within
from players import wait_playable
from rtc_offer import ask
from rtmp_client import RtmpClient, assert_gapless
from upgrade_stage import VHOST, assert_all_received, facts, replace, start_player, start_publisher, upgrade, videos
from worker_stage import clients, pids, streams

WORKERS = 2
ROOT = f"workers {WORKERS};\nrtc_server {{ enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; }}\n"


def start(server, root: str = "") -> LiveServer:
    live = server(vhost=VHOST + "rtc { enabled on; rtmp_to_rtc on; }", root=ROOT + root, ports=Ports(udp=free_udp_ports(WORKERS)))
    live.wait_log(f"{WORKERS} workers serve", 20)
    return live


def slow_down(program) -> None:
    """The next one waits before it begins: time enough to stop workers that have given their sockets, however busy the machine is."""
    fast = program.with_name("fast")
    program.rename(fast)
    replace(program, f'#!/bin/sh\nsleep 2\nexec {fast} "$@"\n')


def players_on_both(live: LiveServer, stream: str, workers: set[int]) -> list:
    """Some more until each of these workers has one."""
    players = []
    while not workers <= {one["worker"] for one in clients(live) if one["type"] == "rtmp-play" and one["name"] == stream}:
        assert len(players) < 60, "connections do not spread"
        players.append(start_player(live, stream))
        wait_until(lambda: videos(players[-1]) > 0, 20, "it plays")
    return players


def test_clients_are_not_affected(server, load, clip):
    """An encoder that announces Reconnect comes over, another one stays; players of each kind see no gap, whichever worker they are on."""
    live = start(server)
    encoder = server(f"forward {{ enabled on; destination 127.0.0.1:{live.ports['rtmp']}; }}")
    stays, moves = start_publisher(live, clip), start_publisher(encoder, clip, "moves")
    wait_until(lambda: {one["name"] for one in streams(live)} == {"cam", "moves"}, 20, "both are published")
    base = f"http://127.0.0.1:{live.ports['http']}/live/"
    wait_playable(base + "cam.m3u8", 40)
    before = {stream: players_on_both(live, stream, {1, 2}) for stream in ("cam", "moves")}
    whep = f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=cam"
    running = [load(f"sb_{kind}_load", "-c", 4, "-r", url, "--ramp", 50, "--seconds", 7)
               for kind, url in (("flv", base + "cam.flv"), ("hls", base + "cam.m3u8"), ("rtc", whep))]
    wait_until(lambda: sum(one["type"] in ("flv-play", "rtc-play") for one in clients(live)) == 8, 20, "they play")
    old = live.process.pid
    new = upgrade(live)
    assert new != old and (live.folder / "srs.pid").read_text() == str(new)
    after = {stream: players_on_both(live, stream, {3, 4}) for stream in ("cam", "moves")}
    newcomers = load("sb_rtc_load", "-c", 4, "-r", whep, "--ramp", 50, "--seconds", 3)
    wait_until(lambda: "FWR continues at" in encoder.log(), 20, "it has come over")
    state = wait_until(lambda: facts(live) if facts(live)["publishers"] == 1 else None, 20, "the new workers have it")
    assert state["pid"] == new and state["state"] == "serving" and len(state["others"]) == 1, state
    assert state["others"][0]["pid"] == old and state["others"][0]["state"] == "draining" and state["others"][0]["publishers"] == 1, state
    assert {one["name"]: one["publish"]["active"] for one in streams(live)} == {"cam": True, "moves": True}
    for stream in ("cam", "moves"):
        client = RtmpClient(live.ports["rtmp"])
        assert client.publish(stream, "live")["code"] == "NetStream.Publish.BadName", "a stream is published once"
        client.close()
    seen = {player: videos(player) for players in [*before.values(), *after.values()] for player in players}
    wait_until(lambda: all(videos(player) > seen[player] + 25 for player in seen), 20, "all go on")
    results = [one.result(60) for one in [*running, newcomers]]
    assert [one["failed"] for one in results] == [0] * 4, results
    # Those of HLS have a request at a time.
    assert [results[i]["alive"] for i in (0, 2, 3)] == [4] * 3, results
    assert stays.error is None and moves.error is None
    for player in before["cam"] + after["cam"]:
        assert player.error is None
        assert_gapless(player.stop(), stays.sent)
    for player in before["moves"] + after["moves"]:
        assert player.error is None
        assert_all_received(player.stop(), moves.sent)
    stays.stop()
    live.wait_log("the old workers have ended; this process stays", 20)
    wait_until(lambda: facts(live)["others"] == [], 20, "nobody is at the old workers")
    moves.stop()
    assert not re.search(r"worker \d+ has ended: ", live.log()), "an old worker that ends is not taken for one that has died"


def test_a_program_that_does_not_start_and_then_two_that_do(server, load, clip, own_program):
    live = start(server)
    old, good = live.process.pid, live.conf_path.read_text()
    publishers = {"one": start_publisher(live, clip, "one")}
    watched = start_player(live, "one")

    def fails(why: str) -> None:
        answer = ask(live.ports["api"], "POST", "/api/v1/upgrade")
        assert answer.status == 500 and why in answer.json()["message"], answer.body
        assert f"upgrade: this process continues to serve: {answer.json()['message']}" in live.log()
        # Whichever worker is asked.
        for _ in range(4):
            state = facts(live)
            assert state["state"] == "serving" and state["pid"] == old and why in state["error"], state
        assert (live.folder / "srs.pid").read_text() == str(old)

    live.conf_path.write_text(good + "\nno_such_directive on;\n")
    fails("no_such_directive")
    live.conf_path.write_text(good.replace(f"workers {WORKERS};", f"workers {WORKERS + 1};"))
    fails("workers was 2 and is 3 now, which needs a restart")
    live.conf_path.write_text(good.replace(f"127.0.0.1:{live.ports['rtmp']};", f"127.0.0.1:{live.ports['rtmp']} 192.0.2.1:{live.ports['rtmp']};"))
    fails("192.0.2.1")
    live.conf_path.write_text(good)
    replace(own_program, "#!/bin/sh\nexit 7\n")
    fails("exited with 7")
    own_program.unlink()
    fails("No such file")
    shutil.copy(f"/proc/{old}/exe", own_program)
    assert set(pids(live)) == {1, 2} and not any(is_gone(pid) for pid in pids(live).values())

    first = upgrade(live)
    publishers["two"] = start_publisher(live, clip, "two")
    second = upgrade(live)
    assert len({old, first, second}) == 3
    publishers["three"] = start_publisher(live, clip, "three")
    assert {one["pid"] for one in facts(live)["others"]} == {old, first}
    late = {stream: start_player(live, stream) for stream in publishers}
    wait_until(lambda: all(videos(player) > 30 for player in [*late.values(), watched]), 30, "all play")
    assert {one["name"] for one in streams(live)} == set(publishers)
    assert_gapless(watched.stop(), publishers["one"].sent, "from the beginning")
    for stream, player in late.items():
        assert publishers[stream].error is None
        assert_gapless(player.stop(), publishers[stream].sent, stream)
    # One of the new workers dies, and is there again.
    newest = {number: pid for number, pid in pids(live).items() if number in (5, 6)}
    os.kill(newest[5], signal.SIGKILL)
    wait_until(lambda: pids(live)[5] != newest[5], 20, "it is started again")
    # Its UDP port was open in the old workers all the time; they do not read it.
    whep = f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=one"
    played = load("sb_rtc_load", "-c", 6, "-r", whep, "--ramp", 50, "--seconds", 2).result(60)
    assert played["failed"] == 0 and played["alive"] == 6, played
    publishers["one"].stop()
    publishers["two"].stop()
    wait_until(lambda: is_gone(first), 20, "the second program has ended")
    publishers["three"].stop()
    # The numbers of the first are free again.
    third = upgrade(live)
    assert third not in (old, first, second) and {1, 2} <= set(pids(live))
    assert re.findall(r"worker (\d) has ended: ", live.log()) == ["5"], live.complaints()
    again = start_publisher(live, clip, "again")
    assert {one["worker"] for one in clients(live)} <= {1, 2}, clients(live)
    again.stop()


def test_a_worker_that_dies_during_a_hand_over_delays_no_client(server, clip, own_program):
    """A restarted worker without requests must not delay new clients, which once waited ten seconds."""
    live = server(vhost=VHOST, root=f"workers {WORKERS};\n")  # a UDP port that is taken would keep it from being there again
    live.wait_log(f"{WORKERS} workers serve", 20)
    dies, waits = pids(live).values()
    slow_down(own_program)
    live.process.send_signal(signal.SIGUSR2)
    live.wait_log("upgrade: the new program is started", 20)
    for pid in (dies, waits):  # they have given their sockets, and cannot let go of them
        os.kill(pid, signal.SIGSTOP)
    live.wait_log("upgrade: the new program serves", 40)
    with contextlib.suppress(ProcessLookupError):  # where all this takes long they are killed for standing still
        os.kill(dies, signal.SIGKILL)
        time.sleep(1.5)  # for another one in its place
        os.kill(waits, signal.SIGCONT)
    wait_within(lambda: "upgrade: the workers accept clients" in live.log(), 4, (live,), "the new workers begin")
    publisher = start_publisher(live, clip)
    player = start_player(live)
    wait_until(lambda: videos(player) > 30, 20, "it plays")
    assert_gapless(player.stop(), publisher.sent)
    publisher.stop()
    assert facts(live)["pid"] != live.process.pid


def test_clients_reconnect_only_after_all_old_workers_have_released_the_ports(server, clip, own_program):
    """A connection that came to one that had not would have to move again."""
    live = server(vhost=VHOST, root=f"workers {WORKERS};\n")
    live.wait_log(f"{WORKERS} workers serve", 20)
    publisher = start_publisher(live, clip)
    able = []
    while {1, 2} - {one["worker"] for one in clients(live) if one["type"] == "rtmp-play"}:
        assert len(able) < 60, "connections do not spread"
        able.append(AblePlayer(live, "cam"))
        able[-1].start()
        wait_until(lambda: videos(able[-1]) > 0, 20, "it plays")
    late, prompt = pids(live).values()
    slow_down(own_program)
    live.process.send_signal(signal.SIGUSR2)
    live.wait_log("upgrade: the new program is started", 20)
    os.kill(late, signal.SIGSTOP)  # it has given its sockets, and cannot let go of them
    live.wait_log("upgrade: the new program serves", 40)
    wait_until(lambda: re.search(rf"\[{prompt}\].*accepts new clients", live.log()), 20, "the other one has")
    time.sleep(0.75)  # some steps of its drain
    assert "is asked to reconnect" not in live.log() and [one.moves for one in able] == [0] * len(able)
    with contextlib.suppress(ProcessLookupError):  # where all this takes long it is killed for standing still
        os.kill(late, signal.SIGCONT)
    wait_until(lambda: all(one.moves for one in able if one.error is None), 20, "they come over")
    time.sleep(1)
    moved = [one for one in able if one.error is None]
    assert moved and [one.moves for one in moved] == [1] * len(moved)
    assert len(moved) == len(able) or is_gone(late), [one.error for one in able]
    assert live.log().count("is asked to reconnect, to=the new process") == len(moved)
    for one in able:
        one.stop()
    publisher.stop()


@pytest.mark.workers(always=True)
def test_the_log_is_rotated_after_an_upgrade(server, clip):
    """The new program writes to the same file. SIGUSR1 to the process of the pid file makes it and its workers open the file anew."""
    live = server(vhost=VHOST)
    console, live.log_path = live.log_path, live.folder / "objs/srs.log"
    live.conf_path.write_text(live.conf_path.read_text().replace("srs_log_tank        console;", f"srs_log_tank file;\nsrs_log_file {live.log_path};"))
    new = upgrade(live)
    live.wait_log(f"[{new}]")
    moved = live.log_path.with_suffix(".old")
    live.log_path.rename(moved)
    os.kill(int((live.folder / "srs.pid").read_text()), signal.SIGUSR1)
    wait_until(live.log_path.exists, 10, "there is a new file")
    live.wait_log("reopened")
    time.sleep(0.5)
    size = moved.stat().st_size
    publisher = start_publisher(live, clip, "after")
    wait_until(lambda: "/live/after" in live.log(), 10, "the publisher is in the new file")
    publisher.stop()
    assert moved.stat().st_size == size, moved.read_text()[size:]
    # The next program begins there, too.
    newest = upgrade(live)
    live.wait_log(f"[{newest}]")
    live.log_path = console
