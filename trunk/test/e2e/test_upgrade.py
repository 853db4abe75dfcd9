"""Upgrades: the new program starts beside the old one on the same ports and takes new clients, and those of the old one do not notice."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import live_server
import play_check
import pytest
import aiortc_client
import srt_stage
from live_server import TRUNK, LiveServer, installed, is_gone, wait_until
from players import FfmpegPublisher, wait_playable
from rtc_offer import ask
from rtmp_client import RtmpClient, assert_gapless
from upgrade_stage import VHOST, FirstProcess, assert_all_received, facts, replace, served_by, start_player, start_publisher, upgrade, videos
from worker_stage import playlist, segments


@pytest.fixture(name="live")
def fixture_live(server):
    return server(vhost=VHOST)


@pytest.mark.workers
def test_clients_are_not_affected(live, clip):
    """The encoder does not support reconnect requests, so it stays at the old process; later players get its stream from there."""
    publisher, before = start_publisher(live, clip), start_player(live)
    flv = f"http://127.0.0.1:{live.ports['http']}/live/cam.flv"
    base = f"http://127.0.0.1:{live.ports['http']}/live/"
    seen: list = []
    watching = threading.Thread(target=lambda: seen.append(play_check.play(flv, 10)))
    watching.start()
    wait_until(lambda: playlist_or_none(base) and len(segments(base)) >= 2, 40, "HLS is there")
    old_segments = segments(base)
    assert facts(live)["state"] == "serving" and facts(live)["others"] == []
    old = live.process.pid
    new = upgrade(live)
    assert new != old and (live.folder / "srs.pid").read_text() == str(new)
    after = start_player(live)
    wait_until(lambda: videos(after) > 50 and videos(before) > 100, 20, "both play")
    state = facts(live)
    assert state["pid"] == new and state["state"] == "serving" and len(state["others"]) == 1, state
    assert state["others"][0]["pid"] == old and state["others"][0]["publishers"] == 1, state
    # One API for both: the stream, and the clients of each.
    streams = live.api("/api/v1/streams/")["streams"]
    assert len(streams) == 1 and streams[0]["publish"]["active"], streams
    kinds = sorted(one["type"] for one in live.api("/api/v1/clients/?count=1000")["clients"])
    assert "fmle-publish" in kinds and kinds.count("rtmp-play") == 2, " ".join(kinds)
    new_segments = segments(base)
    assert set(old_segments) & set(new_segments), (sorted(old_segments), sorted(new_segments))
    for name in set(old_segments) & set(new_segments):
        assert old_segments[name] == new_segments[name], f"{name} is another one at the new process"
    assert play_check.play(flv, 3).problems() == []
    watching.join()
    assert seen[0].problems() == []
    assert publisher.error is None and before.error is None and after.error is None
    assert_gapless(before.stop(), publisher.sent, "the player that was there")
    assert_gapless(after.stop(), publisher.sent, "the player that came later")
    publisher.stop()
    live.wait_log("this process has no clients", 20)
    wait_until(lambda: facts(live)["others"] == [], 20, "the old process serves nobody")
    # It stays as the parent, because the test waits for it.
    assert live.process.poll() is None
    again = start_publisher(live, clip)
    assert again.error is None
    again.stop()


def playlist_or_none(base: str) -> str:
    try:
        return playlist(base)
    except OSError:
        return ""


@pytest.mark.workers
def test_a_publisher_that_can_be_asked_comes_over(live, server, clip):
    """It is our own RTMP client, a forward, which announces Reconnect. No frame is lost."""
    encoder = server(f"forward {{ enabled on; destination 127.0.0.1:{live.ports['rtmp']}; }}")
    publisher = start_publisher(encoder, clip)
    wait_until(lambda: live.api("/api/v1/streams/")["streams"], 20, "it is forwarded")
    time.sleep(1.5)
    before = start_player(live)
    able = RtmpClient(live.ports["rtmp"])
    able.connect("live", capsEx=1)
    able.create_stream()
    able.call("play", 5, None, "cam", -2000, stream_id=1)
    wait_until(lambda: videos(before) > 10, 20, "it plays")
    seen_flv: list = []
    flv = threading.Thread(target=lambda: seen_flv.append(play_check.play(f"http://127.0.0.1:{live.ports['http']}/live/cam.flv", 9)))
    flv.start()
    time.sleep(3)
    new = upgrade(live)
    after = start_player(live)
    while (told := able.read_status())["code"] != "NetConnection.Connect.ReconnectRequest":
        pass
    assert told["tcUrl"] == f"rtmp://127.0.0.1:{live.ports['rtmp']}/live", told
    able.close()
    wait_until(lambda: "FWR continues at" in encoder.log(), 20, "it has come over")
    wait_until(lambda: facts(live)["others"][0]["publishers"] == 0, 15, "the old process has no publisher")
    seen = videos(before), videos(after)
    wait_until(lambda: videos(before) > seen[0] + 50 and videos(after) > seen[1] + 50, 20, "both go on")
    flv.join()
    # A player that would end with the stream. A splice begins with the newest key frame, which it has had; none is left out.
    steps = [(later - earlier) % play_check.CLIP_FRAMES for earlier, later in zip(seen_flv[0].frames, seen_flv[0].frames[1:])]
    assert seen_flv[0].video.span_ms() > 7500 and not [step for step in steps if 1 < step < play_check.CLIP_FRAMES // 2], seen_flv
    assert facts(live)["pid"] == new and before.error is None and after.error is None
    assert_all_received(before.stop(), publisher.sent)
    assert_all_received(after.stop(), publisher.sent)
    live.wait_log("this process has no clients", 20)
    publisher.stop()


@pytest.mark.workers
def test_an_edge_comes_over_and_its_players_miss_nothing(live, server, clip, workers):
    """Its pull announces Reconnect, too. The new process has the stream from the old one, where the encoder stays."""
    publisher = start_publisher(live, clip)
    edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{live.ports['rtmp']}; }}")
    player = start_player(edge)
    wait_until(lambda: videos(player) > 25, 20, "it plays")
    upgrade(live)

    def pulled_from() -> list[int]:
        return [one["worker"] for one in live.api("/api/v1/clients/?count=100")["clients"] if one["relay"]]

    wait_until(lambda: [number > workers for number in pulled_from()] == [True], 20, "the edge is at the new process")
    assert facts(live)["others"][0]["publishers"] == 1
    seen = videos(player)
    wait_until(lambda: videos(player) > seen + 50, 20, "it goes on")
    assert player.error is None
    assert_all_received(player.stop(), publisher.sent)
    publisher.stop()


@pytest.mark.workers
def test_no_connection_is_lost(live):
    """Connects continuously, and every connection is answered."""
    failures, done, stop = [], [], threading.Event()

    def connect_all_the_time() -> None:
        while not stop.is_set():
            try:
                live.api("/api/v1/versions", limit_s=15)
                client = RtmpClient(live.ports["rtmp"], timeout=15)
                client.connect("live")
                client.close()
                done.append(1)
            except Exception as error:  # pylint: disable=broad-except
                failures.append(repr(error))

    threads = [threading.Thread(target=connect_all_the_time) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        count = len(done)
        wait_until(lambda: len(done) > count + 20, 30, "clients come")  # pylint: disable=cell-var-from-loop
        upgrade(live)
    count = len(done)
    wait_until(lambda: len(done) > count + 20, 30, "clients come")
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.workers
def test_twice_in_a_row(live, clip):
    """Three programs at once, each with a stream that all have."""
    publishers = {"one": start_publisher(live, clip, "one")}
    watched = {"one": start_player(live, "one")}
    first = upgrade(live)
    publishers["two"] = start_publisher(live, clip, "two")
    watched["two"] = start_player(live, "two")
    second = upgrade(live)
    assert len({live.process.pid, first, second}) == 3
    publishers["three"] = start_publisher(live, clip, "three")
    watched["three"] = start_player(live, "three")
    assert {one["pid"] for one in facts(live)["others"]} == {live.process.pid, first}
    late = {stream: start_player(live, stream) for stream in publishers}
    wait_until(lambda: all(videos(player) > 50 for player in [*late.values(), *watched.values()]), 30, "all play")
    assert {one["name"] for one in live.api("/api/v1/streams/")["streams"]} == set(publishers)
    # A stream is published once, whichever process has it.
    for stream in publishers:
        client = RtmpClient(live.ports["rtmp"])
        assert client.publish(stream, "live")["code"] == "NetStream.Publish.BadName"
        client.close()
    for stream, publisher in publishers.items():
        assert publisher.error is None
        assert_gapless(late[stream].stop(), publisher.sent, f"late, {stream}")
        assert_gapless(watched[stream].stop(), publisher.sent, f"from the beginning, {stream}")
        publisher.stop()
    wait_until(lambda: is_gone(first), 20, "the second process has ended")
    assert not is_gone(second) and served_by(live) == second


@pytest.mark.parametrize("fault", ["settings", "port", "absent", "not executable", "no program", "exits at once"])
def test_a_program_that_does_not_start(server, own_program, clip, fault):
    live = server(vhost=VHOST)
    publisher, player = start_publisher(live, clip), start_player(live)
    good, why = live.conf_path.read_text(), ""
    if fault == "settings":
        live.conf_path.write_text(good + "\nno_such_directive on;\n")
        why = "no_such_directive"
    elif fault == "port":
        live.conf_path.write_text(good.replace(f"listen              127.0.0.1:{live.ports['rtmp']};",
                                               f"listen              127.0.0.1:{live.ports['rtmp']} 192.0.2.1:{live.ports['rtmp']};"))
        why = "192.0.2.1"
    elif fault == "absent":
        own_program.unlink()
        why = "No such file"
    elif fault == "not executable":
        replace(own_program, "x", 0o644)
        why = "Permission denied"
    elif fault == "no program":
        replace(own_program, "no program at all")
        why = "Exec format error"
    else:
        replace(own_program, "#!/bin/sh\nexit 7\n")
        why = "exited with 7"
    answer = ask(live.ports["api"], "POST", "/api/v1/upgrade")
    assert answer.status == 500 and why in answer.json()["message"], answer.body
    live.wait_log("upgrade: this process continues to serve")
    assert why in live.log()
    state = facts(live)
    assert state["state"] == "serving" and state["pid"] == live.process.pid and why in state["error"], state
    assert (live.folder / "srs.pid").read_text() == str(live.process.pid)
    seen = videos(player)
    late = start_player(live)
    wait_until(lambda: videos(player) > seen + 10 and videos(late) > 10, 15, "it goes on")
    assert_gapless(player.stop(), publisher.sent)
    late.stop()
    # And when it is put right, it works.
    live.conf_path.write_text(good)
    if fault not in ("settings", "port"):
        shutil.copy(Path(f"/proc/{live.process.pid}/exe"), own_program.with_suffix(".new"))
        os.replace(own_program.with_suffix(".new"), own_program)
    upgrade(live)
    assert publisher.error is None
    publisher.stop()


@pytest.mark.workers
def test_a_signal_does_the_same_and_another_one_is_of_the_new_program(live):
    live.process.send_signal(signal.SIGUSR2)
    wait_until(lambda: served_by(live) != live.process.pid, 20, "the new program answers")
    first = served_by(live)
    # The parent passes it on, as it does with a reload.
    wait_until(lambda: "this process stays without clients" in live.log(), 20, "the old one is a parent")
    live.process.send_signal(signal.SIGUSR2)
    wait_until(lambda: served_by(live) != first, 20, "the next one answers")
    wait_until(lambda: is_gone(first), 20, "the first one is gone")
    reloads = live.log().count("reload finished, code=0")
    live.process.send_signal(signal.SIGHUP)
    wait_until(lambda: live.log().count("reload finished, code=0") > reloads, 15, "it reloads")


@pytest.mark.workers
def test_the_parent_ends_as_the_new_program_does(live):
    new = upgrade(live)
    os.kill(new, signal.SIGKILL)
    assert live.process.wait(20) == 128 + signal.SIGKILL
    live.process = None


@pytest.mark.workers
def test_the_new_program_ends_with_its_parent(live):
    new = upgrade(live)
    live.process.kill()
    live.process.wait()
    wait_until(lambda: is_gone(new), 15, "it ends")
    live.process = None


@pytest.mark.workers
def test_clients_that_stay_are_closed_at_the_limit(server, clip):
    live = server(vhost=VHOST, root="upgrade_limit 8;\ngrace_final_wait 500;\n")
    publisher = start_publisher(live, clip)
    upgrade(live)
    time.sleep(1)
    assert publisher.error is None and publisher.is_alive()
    live.wait_log("closing 1 remaining connections after 8 s", 25)
    publisher.join(20)
    assert not publisher.is_alive()
    live.wait_log("this process stays without clients", 20)
    start_publisher(live, clip).stop()


@pytest.mark.workers(always=True)
def test_the_init_script_upgrades_a_daemon(tmp_path, clip, own_program, workers):
    """The old process ends when its clients have left, and the pid file names the new one all the time."""
    text = live_server.conf(VHOST).replace("daemon              off;", "daemon on;").replace("srs_log_tank        console;", "srs_log_tank file;")
    live = LiveServer(tmp_path / "root", text + "srs_log_file ./objs/srs.log;\n")
    (live.folder / "conf").mkdir()
    live.conf_path.rename(live.folder / "conf/srs.conf")
    own_program.rename(live.folder / "objs/srs")
    for name in ("etc", "etc/init.d"):
        (live.folder / name).mkdir()
    shutil.copy(TRUNK / "etc/init.d/srs", live.folder / "etc/init.d/srs")
    live.log_path = live.folder / "objs/srs.log"

    def script(word: str) -> str:
        done = subprocess.run([live.folder / "etc/init.d/srs", word], cwd=live.folder, env=live.environment, capture_output=True, text=True,
                              check=False, timeout=40)
        assert done.returncode == 0, (word, done.stdout, done.stderr, live.log()[-2000:])
        return done.stdout

    try:
        script("start")
        first = served_by(live)
        publisher = start_publisher(live, clip)
        assert "upgraded" in script("upgrade")
        second = served_by(live)
        assert second != first and f"pid {second}" in script("status")
        assert "upgraded" in script("upgrade")
        third = served_by(live)
        player = start_player(live)
        wait_until(lambda: videos(player) > 20, 20, "the stream of the first process")
        assert not is_gone(first) and len({first, second, third}) == 3
        wait_until(lambda: is_gone(second), 20, "the second has nothing to do any more")
        publisher.stop()
        assert_gapless(player.stop(), publisher.sent)
        wait_until(lambda: is_gone(first), 20, "the old process has ended")
        live.wait_log("this process has no other processes" if workers == 1 else "the old workers have ended")
        # It is as any other now.
        again = start_publisher(live, clip)
        assert "upgraded" in script("upgrade")
        script("stop")
        again.join(20)
        assert not again.is_alive()
        wait_until(lambda: is_gone(third), 20, "the process before has ended with it")
    finally:
        for pid in {int(one) for one in re.findall(r"\]\[(\d+)\]\[", live.log())}:
            if not is_gone(pid):
                os.kill(pid, signal.SIGKILL)


def test_only_this_machine_may_ask(live):
    assert ask(live.ports["api"], "PUT", "/api/v1/upgrade").status == 405
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['api']}/api/v1/upgrade", timeout=5) as answer:
        data = json.load(answer)["data"]
    assert data == {"state": "serving", "pid": live.process.pid, "successor": None, "error": "", "lasted_ms": 0, "limit_ms": 0,
                    "publishers": 0, "players": 0, "asked": 0, "others": []}


@pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")
def test_ffmpeg_publishes_and_plays_on(live, clip):
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_playable(live.url("cam"), 40)
        wait_until(lambda: playlist_or_none(f"http://127.0.0.1:{live.ports['http']}/live/"), 40, "HLS is there")
        seen: list = []
        players = [threading.Thread(target=lambda url=url: seen.append(play_check.play(url, 9, patience_s=30).problems()))
                   for url in (live.url("cam"), f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8")]
        for one in players:
            one.start()
        time.sleep(4)
        upgrade(live)
        for one in players:
            one.join()
        assert seen == [[], []]
        assert play_check.play(live.url("cam"), 3).problems() == []


@pytest.mark.skipif(not installed("ffmpeg") or not srt_stage.has_srt(), reason="this ffmpeg has no libsrt")
def test_srt_continues_at_the_old_process_and_starts_at_the_new_one(server, clip):
    """Both have the same UDP port."""
    live = srt_stage.start(server)
    play_url = srt_stage.srt_url(live, "#!::r=live/cam,m=request", **srt_stage.PATIENT)
    with srt_stage.publish(live, clip("basic"), **srt_stage.PATIENT):
        srt_stage.wait_published(live)
        wait_playable(live.url("cam"), 40)
        seen: list = []
        watching = threading.Thread(target=lambda: seen.append(play_check.play(play_url, 9).problems()))
        watching.start()
        time.sleep(3)
        upgrade(live)
        assert play_check.play(play_url, 3).problems() == [], "a player of the new process, over SRT"
        with srt_stage.publish(live, clip("basic"), "second", **srt_stage.PATIENT):
            srt_stage.wait_published(live, "second")
            assert play_check.play(live.url("second"), 2).problems() == []
            watching.join()
            assert seen == [[]], "the player of the old process"
            others = facts(live)["others"]
            assert [one["publishers"] for one in others] == [1] and facts(live)["publishers"] == 1, others
            assert play_check.play(live.url("cam"), 2).problems() == []


@pytest.mark.parametrize("bridge", ["on", pytest.param("off", marks=pytest.mark.long)])
def test_webrtc_continues_at_the_old_process_and_starts_at_the_new_one(server, aiortc, bridge):
    """Without a bridge the old process takes the new player, too."""
    live = server(vhost=aiortc_client.VHOST.replace("rtc_to_rtmp on", f"rtc_to_rtmp {bridge}"), root=aiortc_client.ROOT)
    address = f"http://127.0.0.1:{live.ports['api']}/rtc/v1/%s/?app=live&stream=cam"
    publisher = aiortc_client.Client(aiortc, "whip", address % "whip", "H264")
    players = []
    try:
        wait_until(lambda: any(one["publish"]["active"] for one in live.api("/api/v1/streams/")["streams"]), 30, "it publishes")
        if bridge == "on":
            wait_playable(live.url("cam"), 25)
        players.append(aiortc_client.Client(aiortc, "whep", address % "whep", "H264", 9))
        wait_until(lambda: sum(one["type"] == "rtc-play" for one in live.api("/api/v1/clients/")["clients"]), 30, "it plays")
        time.sleep(2)
        upgrade(live)
        players.append(aiortc_client.Client(aiortc, "whep", address % "whep", "H264", 3))
        got = [player.result() for player in players]
        # Its DELETE comes to the new process, whose session it is not.
        sent = publisher.result()
        live.wait_log("this process has no clients", 20)
    finally:
        for one in [publisher, *players]:
            one.kill()
    assert sent["video"] > 90, sent
    for one, seconds in zip(got, (9, 3)):
        assert one["video"]["frames"] > 20 * seconds and one["video"]["gap"] < 0.5 and one["video"]["pause"] < 3, one
        assert one["audio"]["frames"] > 30 * seconds, one


@pytest.mark.workers(always=True)
def test_the_first_process_of_a_container_stays(tmp_path, clip, workers):
    """Its end would be the container's. Signals to it are for the newest program."""
    live = FirstProcess(tmp_path / "container", live_server.conf(VHOST))
    try:
        live.start()
        assert served_by(live) == 1
        publisher = start_publisher(live, clip)
        first = upgrade(live)
        second = upgrade(live)
        assert len({1, first, second}) == 3
        player = start_player(live)
        wait_until(lambda: videos(player) > 20, 20, "the stream of the first process")
        publisher.stop()
        assert_gapless(player.stop(), publisher.sent)
        live.wait_log("this process stays without clients", 20)
        assert served_by(live) == second
        live.stop()
        programs = 3
        assert live.log().count("srs terminated") == programs * (1 if workers == 1 else 1 + workers), "all have ended in order"
    finally:
        live.kill()
