"""Several workers: any stream on any connection, one API for all, and what happens when one of the processes dies or stops."""

import concurrent.futures
import json
import os
import re
import signal
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

import play_check
from hook_server import Answer, HookServer
from live_server import LiveServer, Stopwatch, conf, free_port, is_gone, wait_until, waited_s
from players import FfmpegPublisher, wait_playable
from rtc_offer import ask, offer, post
from rtmp_client import Player, Publisher, RtmpClient, assert_gapless
from worker_stage import ROOT, VHOST, WORKERS, clients, pids, players_on_all, playlist, segments, start, start_publisher, streams, videos


@pytest.fixture(name="live")
def fixture_live(server):
    live = start(server)
    live.wait_log(f"{WORKERS} workers serve", 20)
    return live


def publisher_or_none(live: LiveServer, clip, stream: str) -> Publisher | None:
    """None as long as another one has the name."""
    publisher = Publisher(live.ports["rtmp"], stream, clip("basic"))
    if publisher.status["code"] != "NetStream.Publish.Start":
        publisher.client.close()
        return None
    publisher.start()
    return publisher


def test_any_stream_on_any_connection(live, clip):
    publisher = start_publisher(live, clip)
    players = players_on_all(live)
    wait_until(lambda: all(videos(player) > 50 for player in players), 30, "all players have media")
    stream = streams(live)[0]
    # The pulls of workers are no clients.
    assert len(streams(live)) == 1 and stream["clients"] == len(players) + 1 and stream["publish"]["active"], stream
    assert len(clients(live)) == len(players) + 1
    assert len(stream["workers"]) == WORKERS
    for player in players:
        assert player.error is None
        assert_gapless(player.stop(), publisher.sent)
    for _ in range(6):
        assert play_check.play(f"http://127.0.0.1:{live.ports['http']}/live/cam.flv", 2).problems() == []
    publisher.stop()
    wait_until(lambda: not streams(live), 20, "the stream is gone everywhere")


def test_an_origin_cluster_finds_streams_of_any_worker(server, clip):
    """The other origin does not answer, and is not needed."""
    live = start(server, f"cluster {{ origin_cluster on; coworkers 127.0.0.1:{free_port()}; }}")
    publisher = start_publisher(live, clip)
    players = players_on_all(live)
    wait_until(lambda: all(videos(player) > 10 for player in players), 30, "all play")
    for _ in range(9):  # connections, which the kernel spreads
        origin = live.api("/api/v1/clusters?vhost=__defaultVhost__&app=live&stream=cam")["data"]["origin"]
        assert (origin["ip"], origin["port"]) == ("127.0.0.1", live.ports["rtmp"]), origin
    assert live.api("/api/v1/clusters?vhost=__defaultVhost__&app=live&stream=nobody")["data"]["origin"] is None
    for player in players:
        assert player.error is None
        player.stop()
    publisher.stop()


def test_pulls_of_an_edge_are_listed_for_all_workers(server, clip):
    """Each worker pulls for itself."""
    origin = server()
    publisher = start_publisher(origin, clip)
    url = f"rtmp://127.0.0.1:{origin.ports['rtmp']}"
    live = start(server, f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }}")
    live.wait_log(f"{WORKERS} workers serve", 20)
    players = players_on_all(live)
    wait_until(lambda: all(videos(player) > 10 for player in players), 30, "all play")
    for _ in range(9):  # connections, which the kernel spreads
        known = live.api("/api/v1/clusters")["data"]
        assert [(one["url"], one["state"]) for one in known["origins"]] == [(url, "up")], known
        pulls = sorted((one["worker"], one["stream"], one["origin"]["url"]) for one in known["pulls"])
        assert pulls == [(number, "/live/cam", url) for number in range(1, WORKERS + 1)], known
        assert known["totals"]["pulls"] == WORKERS, known
    one = live.api("/api/v1/clusters?worker=2")["data"]
    assert len(one["pulls"]) == 1 and one["totals"]["pulls"] == 1, one
    for player in players:
        player.stop()
    publisher.stop()


def test_players_that_come_before_the_stream(live, clip):
    players = [Player(live.ports["rtmp"], "late") for _ in range(9)]
    for player in players:
        player.start()
    time.sleep(0.5)
    publisher = start_publisher(live, clip, "late")
    wait_until(lambda: all(videos(player) > 10 for player in players), 20, "they all get it")
    # And when another connection, to any worker, continues it.
    publisher.stop()
    seen = [videos(player) for player in players]
    publisher = wait_until(lambda: publisher_or_none(live, clip, "late"), 15, "the name is free")
    wait_until(lambda: all(videos(player) > before + 30 for player, before in zip(players, seen)), 30, "they all go on")
    assert all(player.error is None for player in players)
    for player in players:
        player.stop()
    publisher.stop()


def test_one_publisher_for_a_stream(live, clip):
    publisher = start_publisher(live, clip)
    for _ in range(12):
        client = RtmpClient(live.ports["rtmp"])
        assert client.publish("cam", "live")["code"] == "NetStream.Publish.BadName"
        client.close()
    assert publisher.error is None
    publisher.stop()
    wait_until(lambda: not streams(live), 20, "the stream is free again")
    start_publisher(live, clip).stop()


def test_hls_is_the_same_on_every_connection(live, clip):
    base = f"http://127.0.0.1:{live.ports['http']}/live/"
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_playable(base + "cam.m3u8", 40)
        wait_until(lambda: all(playlist(base).count(".ts") >= 2 for _ in range(12)), 40, "every worker lists segments")
        bodies = {}
        for _ in range(24):
            for name, body in segments(base).items():
                assert bodies.setdefault(name, body) == body, f"{name} differs"
        assert len(bodies) >= 2


LATE = {"keys": "hls {{ {common} hls_keys on; hls_fragments_per_key 2; hls_key_file_path $folder/html; }}",
        "low_latency": "hls {{ {common} hls_ll on; hls_part 200; }}",
        "fmp4": "hls {{ {common} hls_use_fmp4 on; }}"}


@pytest.mark.parametrize("form", LATE)
def test_a_late_player_gets_the_whole_list(server, clip, form):
    """Only the worker that publishes has had the stream until then."""
    common = "enabled on; hls_fragment 1; hls_window 60; hls_ctx off; hls_ts_ctx off; hls_path $folder/html;"
    live = start(server, LATE[form].format(common=common))
    base = f"http://127.0.0.1:{live.ports['http']}/live/"
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_until(lambda: streams(live) and streams(live)[0]["publish"]["active"], 30, "it is published")
        time.sleep(10)
        seen = {}
        for _ in range(12):
            text = playlist(base)
            numbers = [int(number) for number in re.findall(r"^cam-(\d+)\.(?:ts|m4s)", text, re.M)]
            assert numbers and numbers[0] <= 1 and len(numbers) >= 3, text
            for name in re.findall(r'^(?!#)(\S+)$|URI="([^"]+)"', text, re.M):
                name = name[0] or name[1]
                body = fetched(urllib.parse.urljoin(base, name), text)
                assert seen.setdefault(name, body) == body, f"{name} differs"


def fetched(url: str, text: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{error} for {url} of\n{text}") from error


def test_dash_is_the_same_on_every_connection(server, clip):
    live = start(server, "dash { enabled on; dash_fragment 1; dash_window_size 60; dash_update_period 1; dash_path $folder/html; }")
    base = f"http://127.0.0.1:{live.ports['http']}/live/"
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_until(lambda: (live.folder / "html/live/cam.mpd").exists(), 30, "an MPD")
        time.sleep(9)
        seen, starts = {}, set()
        for _ in range(12):
            with urllib.request.urlopen(base + "cam.mpd", timeout=10) as answer:
                mpd = answer.read().decode()
            first = int(re.search(r'startNumber="(\d+)"', mpd)[1])
            starts.add(re.search(r'availabilityStartTime="([^"]+)"', mpd)[1])
            assert first <= 1 and mpd.count("<S ") >= 4, mpd
            for name in (f"cam/video-{first}.m4s", f"cam/video-{first + 2}.m4s", "cam/video-init.mp4"):
                with urllib.request.urlopen(base + name, timeout=10) as answer:
                    body = answer.read()
                assert seen.setdefault(name, body) == body, f"{name} differs"
        assert len(starts) == 1


def test_webrtc_sessions_are_reached_from_everywhere(live, load, clip):
    ports, named = set(), {live.ports["udp"] + i for i in range(WORKERS)}
    for i in range(90):  # the kernel chooses the worker of a connection
        if i >= 12 and ports == named:
            break
        opened = post(live.ports["api"], f"/rtc/v1/whip/?app=live&stream=w{i}", offer())
        assert opened.status == 201, opened.body
        ports.add(int(re.search(r"127\.0\.0\.1 (\d+) typ host", opened.body).group(1)))
        where, tag = opened.headers["Location"], opened.headers["ETag"]
        fragment = {"Content_Type": "application/trickle-ice-sdpfrag"}
        for port in ("api", "http"):
            assert ask(live.ports[port], "PATCH", where, "a=end-of-candidates\r\n", **fragment, If_Match=tag).status == 204
        other = re.sub(r"token=\w+", "token=" + "x" * 32, where)
        assert ask(live.ports["api"], "DELETE", other).status == 401
        assert ask(live.ports["api"], "DELETE", where).status == 200
        assert ask(live.ports["api"], "PATCH", where, "", **fragment).status == 404
    assert ports == named, "each worker names its own port"
    publisher = start_publisher(live, clip)
    player = load("sb_rtc_load", "-c", 12, "--ramp", 50, "--seconds", 4, "-r", f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=cam")
    result = player.result()
    assert result["failed"] == 0 and result["alive"] == 12, result
    publisher.stop()


def test_a_webrtc_stream_plays_on_all_workers(server, load, clip):
    live = start(server, "rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; }")
    live.wait_log(f"{WORKERS} workers serve", 20)
    base = f"http://127.0.0.1:{live.ports['api']}/rtc/v1"
    publisher = load("sb_rtc_load", "-c", 1, "-s", 0, "-r", f"{base}/whip/?app=live&stream=cam", "-i", clip("basic"), "--silence")
    wait_until(lambda: [one for one in streams(live) if one["publish"]["active"]], 30, "it is published")
    players = []
    while {one["worker"] for one in clients(live) if one["type"] == "rtc-play"} != set(range(1, WORKERS + 1)):
        assert len(players) < 10, "connections do not spread"
        players.append(load("sb_rtc_load", "-c", 6, "--ramp", 50, "-s", 0, "-r", f"{base}/whep/?app=live&stream=cam"))
        wait_until(lambda: sum(one["type"] == "rtc-play" for one in clients(live)) == 6 * len(players), 20, "they are there")
    assert len({one["worker"] for one in clients(live) if one["publish"]}) == 1
    time.sleep(3)
    for player in players:
        player.stop()
        result = player.result()
        assert result["failed"] == 0 and result["alive"] == 6 and result["metrics"]["first_frame_ms"]["count"] == 6, result
    publisher.stop()
    assert publisher.result()["failed"] == 0


def test_an_unconverted_webrtc_stream_plays_on_all_workers(server, load, clip):
    """Workers relay frames: the one that has the RTP answers the offers that come to the others."""
    with HookServer() as hooks:
        live = start(server, "rtc { enabled on; }" + hooks.conf())
        live.wait_log(f"{WORKERS} workers serve", 20)
        base = f"http://127.0.0.1:{live.ports['api']}/rtc/v1"
        publisher = load("sb_rtc_load", "-c", 1, "-s", 0, "-r", f"{base}/whip/?app=live&stream=cam", "-i", clip("basic"), "--silence")
        wait_until(lambda: [one for one in streams(live) if one["publish"]["active"]], 30, "it is published")
        players = load("sb_rtc_load", "-c", 18, "--ramp", 50, "-s", 0, "-r", f"{base}/whep/?app=live&stream=cam")
        wait_until(lambda: sum(one["type"] == "rtc-play" for one in clients(live)) == 18, 20, "they are there")
        assert len({one["worker"] for one in clients(live)}) == 1, "where the stream is"
        time.sleep(3)
        assert hooks.actions().count("on_play") == 18 and hooks.actions().count("on_publish") == 1, hooks.actions()
        players.stop()
        result = players.result()
        assert result["failed"] == 0 and result["alive"] == 18 and result["metrics"]["first_frame_ms"]["count"] == 18, result
        for _ in range(9):  # any worker
            opened = post(live.ports["api"], "/rtc/v1/whep/?app=live&stream=cam", offer("recvonly"))
            assert opened.status == 201, opened.body
            assert ask(live.ports["http"], "DELETE", opened.headers["Location"]).status == 200
        wait_until(lambda: hooks.actions().count("on_stop") == 27, 20, "each is told once")
        assert hooks.actions().count("on_play") == 27
        hooks.answers["on_play"] = Answer("1")
        for _ in range(6):
            assert post(live.ports["api"], "/rtc/v1/whep/?app=live&stream=cam", offer("recvonly")).status == 403
        publisher.stop()
        assert publisher.result()["failed"] == 0


def test_one_api_for_all(live, clip):
    publisher = start_publisher(live, clip)
    players = players_on_all(live)
    wait_until(lambda: all(videos(player) > 10 for player in players), 30, "all play")
    for one in clients(live):
        for _ in range(4):  # on other connections
            found = live.api(f"/api/v1/clients/{one['id']}")["client"]
            assert found["id"] == one["id"] and found["stream"] == streams(live)[0]["id"]
    stream = streams(live)[0]
    vhosts = [live.api("/api/v1/vhosts/")["vhosts"] for _ in range(8)]
    assert all(len(one) == 1 and one[0]["clients"] == len(players) + 1 and one[0]["streams"] == 1 for one in vhosts), vhosts
    assert {one[0]["id"] for one in vhosts} == {stream["vhost"]}
    for _ in range(8):
        assert live.api(f"/api/v1/streams/{stream['id']}")["stream"]["clients"] == len(players) + 1
    summary = live.api("/api/v1/summaries")["data"]
    assert {one["worker"]: one["pid"] for one in summary["workers"]} == pids(live)
    for number, pid in pids(live).items():
        assert live.api(f"/api/v1/versions?worker={number}")["pid"] == str(pid)
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics") as answer:
        metrics = answer.read().decode()
    assert f"\nsrs_clients {len(players) + 1}\n" in metrics and '\nsrs_clients{worker="3"} ' in metrics, metrics
    # A kick reaches the client's worker.
    for one in clients(live):
        if one["type"] == "rtmp-play":
            assert ask(live.ports["api"], "DELETE", f"/api/v1/clients/{one['id']}").status == 200
    wait_until(lambda: all(player.error for player in players), 15, "all players are gone")
    assert ask(live.ports["api"], "DELETE", "/api/v1/clients/nobody").status == 404
    publisher.stop()


def test_pages_and_recordings_are_listed_for_all(server, clip):
    live = start(server, "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } dvr { enabled on; dvr_path $folder/rec/[stream].flv; }"
                         " hls { enabled on; hls_fragment 1; hls_path $folder/html; }")
    publishers = {}
    while len({one["worker"] for one in clients(live)}) < WORKERS:
        assert len(publishers) < 60, "connections do not spread"
        publishers[f"s{len(publishers)}"] = start_publisher(live, clip, f"s{len(publishers)}")
    wait_until(lambda: all(one["publish"]["active"] for one in streams(live)) and len(streams(live)) == len(publishers), 20, "all are published")

    def listed(query: str) -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}/streams.json{query}", timeout=10) as answer:
            return json.load(answer)

    def formats(one: dict) -> set[str]:
        return {form["format"] for form in one["formats"]}

    wait_until(lambda: all("hls" in formats(one) for one in listed("")["streams"]), 20, "all have a playlist")
    for _ in range(9):  # connections, which the kernel spreads
        page = listed("")
        assert sorted(one["name"] for one in page["streams"]) == sorted(publishers) and page["next"] is None, page
        assert all({"rtmp", "flv", "hls"} <= formats(one) and not {"by_rtc", "hls"} & set(one) for one in page["streams"])
    names, page = [], listed("?count=1")
    while page["streams"]:
        names += [one["name"] for one in page["streams"]]
        page = listed(f"?count=1&from={page['next']}") if page["next"] is not None else {"streams": []}
    assert sorted(names) == sorted(publishers), "one page after another, on whichever connection"
    wait_until(lambda: len(live.api("/api/v1/dvrs?count=100")["dvrs"]) == len(publishers), 20, "all are recorded")
    for _ in range(9):
        recordings = live.api("/api/v1/dvrs?count=100")["dvrs"]
        assert sorted(one["stream_url"] for one in recordings) == sorted(f"/live/{name}" for name in publishers), recordings
        assert {one["worker"] for one in recordings} == set(range(1, WORKERS + 1))
    for publisher in publishers.values():
        publisher.stop()


def test_each_worker_reports_its_own_state_and_number(live):
    """With worker=N the selected worker, as long as it takes; without, the responding worker returns its number."""
    def own(path: str, **limit) -> tuple[int, bytes]:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['api']}{path}", **limit) as answer:
            return int(answer.headers["X-Worker"]), answer.read()

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:  # beside each other, for longer than a list waits for a worker
        profiles = {number: pool.submit(own, f"/api/v1/profile?seconds=2&format=folded&worker={number}", timeout=30) for number in pids(live)}
        for number, pid in pids(live).items():
            who, body = own(f"/api/v1/fibers?count=1&worker={number}", timeout=30)
            assert who == number and json.loads(body)["pid"] == str(pid)
        assert {number: profile.result()[0] for number, profile in profiles.items()} == {number: number for number in profiles}
    who, body = own("/api/v1/fibers?count=1", timeout=30)
    assert json.loads(body)["pid"] == str(pids(live)[who])
    who, body = own("/api/v1/doctor/rtc", timeout=30)
    assert [one["port"] for one in json.loads(body)["data"]["candidates"]] == [live.ports["udp"] + who - 1]
    who, body = own("/api/v1/rusages", timeout=30)
    assert json.loads(body)["pid"] == str(pids(live)[who])
    live.api("/api/v1/memory?mark=1")
    grown = live.api("/api/v1/memory?since=mark")["data"]["workers"]
    assert {one["worker"] for one in grown} == set(pids(live)) and all(set(one["growth"]) == {"objects", "bytes"} for one in grown), grown
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['api']}/metrics", timeout=10) as answer:
        lags = re.findall(r'^millrace_loop_lag_seconds_count\{worker="(\d+)"\} \d+$', answer.read().decode(), re.M)
    assert lags == ["1", "2", "3"]


def test_the_host_of_a_client_is_not_part_of_requests_between_workers(live):
    """Workers trust each other where a client may be refused: they forward the Host field, and only that."""
    for host in ("elsewhere", "elsewhere/api/v1/versions?", "elsewhere/api/v1/versions#", "/api/v1/versions?", "two words"):
        request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/fibers?count=1&worker=2", headers={"Host": host})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert json.loads(answer.read())["pid"] == str(pids(live)[2]), host


def test_a_worker_that_dies_comes_back(live, clip):
    publisher = start_publisher(live, clip)
    players = players_on_all(live)
    wait_until(lambda: all(videos(player) > 10 for player in players), 30, "all play")
    owner = next(one["worker"] for one in clients(live) if one["publish"])
    victim = next(number for number in pids(live) if number != owner)
    old = pids(live)[victim]
    lost = {one["id"] for one in clients(live) if one["worker"] == victim}
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: pids(live)[victim] != old, 15, "it is started again")
    wait_until(lambda: {one["worker"] for one in live.api("/api/v1/summaries")["data"]["workers"]} == {1, 2, 3}, 20, "it answers")
    wait_until(lambda: sum(player.error is not None for player in players) >= len(lost), 10, "those of the dead worker notice")
    alive = [player for player in players if player.error is None]
    assert len(alive) == len(players) - len(lost), "the others do not notice"
    for player in players_on_all(live):
        wait_until(lambda one=player: videos(one) > 10, 20, "its new clients play")
        player.stop()
    for player in alive:
        assert player.error is None
        assert_gapless(player.stop(), publisher.sent)
    # What it published is free again.
    old = pids(live)[owner]
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: pids(live)[owner] != old, 15, "it is started again")
    wait_until(lambda: not streams(live), 15, "its stream is gone")
    again = start_publisher(live, clip)
    assert again.error is None
    again.stop()


def test_a_worker_that_stands_still_is_restarted(live):
    old = pids(live)[2]
    watch = Stopwatch(live)
    os.kill(old, signal.SIGSTOP)
    wait_until(lambda: pids(live)[2] != old, 20, "it is started again")
    took = watch.seconds() - waited_s([pids(live)[2]])
    assert took < 5, f"it serves again after {took:.1f} s"
    assert is_gone(old) and "killed because its loop stood still" in live.log()
    wait_until(lambda: {one["worker"]: one["pid"] for one in live.api("/api/v1/summaries")["data"]["workers"]} == pids(live), 15, "it answers")
    assert live.api("/api/v1/versions?worker=2")["pid"] == str(pids(live)[2])


def test_without_its_master_no_worker_stays(live):
    workers = pids(live)
    live.process.kill()
    live.process.wait()
    live.process = None
    wait_until(lambda: all(is_gone(pid) for pid in workers.values()), 15, "all workers end")
    assert live.log().count("srs terminated") == WORKERS, "in order"


def test_a_clean_stop(live, clip):
    publisher = start_publisher(live, clip)
    workers = pids(live)
    assert live.stop() < 5
    assert all(is_gone(pid) for pid in workers.values())
    publisher.break_off()


def test_a_graceful_stop(server, clip):
    live = start(server, root=ROOT + "grace_start_wait 200; grace_final_wait 3000;")
    live.wait_log(f"{WORKERS} workers serve", 20)
    publisher = start_publisher(live, clip)
    assert live.stop(signal.SIGQUIT, 12) < 8
    publisher.break_off()


def test_a_drain_requested_at_one_worker_applies_to_all(server, clip):
    """One that ended alone would be started again."""
    live = start(server, root=ROOT + "grace_start_wait 300;\n")
    live.wait_log(f"{WORKERS} workers serve", 20)
    publisher = start_publisher(live, clip)
    players = players_on_all(live)
    before = [live.api("/api/v1/drain")["data"] for _ in range(6)]
    assert all((one["state"], one["publishers"], one["players"]) == ("serving", 1, len(players)) for one in before), before
    assert ask(live.ports["api"], "POST", "/api/v1/drain").status == 200
    for player in players:
        player.stop()
    publisher.stop()
    assert live.process.wait(30) == 0
    assert live.log().count("drain begins") == WORKERS and live.log().count("srs terminated") == WORKERS + 1
    assert f"{WORKERS} workers serve" in live.log() and len(re.findall(r"worker \d serves", live.log())) == WORKERS, "none was started again"


def test_a_reload_applies_to_all_workers(live):
    before = live.conf_path.read_text()
    live.conf_path.write_text(before.replace("rtc { enabled on;", "publish { parse_sps off; } rtc { enabled off;"))
    live.process.send_signal(signal.SIGHUP)
    wait_until(lambda: live.log().count("reload finished, code=0") == WORKERS, 20, "all have reloaded")
    for i in range(9):
        assert post(live.ports["api"], f"/rtc/v1/whip/?app=live&stream=r{i}", offer()).status == 404


@pytest.mark.parametrize("connections", [300, pytest.param(2_000, marks=pytest.mark.long)])
def test_short_connections_spread(live, connections):
    def counts() -> dict[int, int]:
        text = {}
        for number in pids(live):
            with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics?worker={number}") as answer:
                text[number] = int(re.search(r"^srs_clients_total (\d+)", answer.read().decode(), re.M).group(1))
        return text

    for _ in range(connections):
        client = RtmpClient(live.ports["rtmp"])
        client.publish(f"s{_}", "live")
        client.close()
    seen = wait_until(lambda: counts() if sum(counts().values()) >= connections else None, 20, "all are counted")
    # Six standard deviations of 300.
    assert all(count > connections / WORKERS / 2 for count in seen.values()), seen


def test_memory_at_rest(live):
    for number, pid in pids(live).items():
        status = Path(f"/proc/{pid}/smaps_rollup").read_text()
        private = sum(int(kib) for kib in re.findall(r"Private_\w+:\s+(\d+)", status))
        resident = re.search(r"Rss:\s+(\d+)", status).group(1)
        print(f"worker {number}: {private} KiB of its own, {resident} KiB resident")
        assert private <= 16 << 10


def test_a_port_that_is_taken(tmp_path):
    live = LiveServer(tmp_path / "taken", conf(VHOST, ROOT))
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", live.ports["rtmp"]))
        other.listen()
        live.start(ready=False)
        assert live.process.wait(20) == 1003 % 256
    assert "listening" in live.log() and "workers serve" not in live.log()


def test_a_daemon_reports_a_failed_start(tmp_path):
    root = ROOT.replace("$udp", "$taken")
    text = conf(VHOST, root).replace("daemon              off;", "daemon on;").replace("srs_log_tank        console;",
                                                                                      "srs_log_tank file; srs_log_file $folder/srs.log;")
    live = LiveServer(tmp_path / "daemon", text)
    with socket.socket(type=socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", live.ports["taken"]))
        live.start(ready=False)
        assert live.process.wait(20) != 0
    assert "listening for WebRTC" in live.log()
    assert not is_listening(live.ports["rtmp"])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
