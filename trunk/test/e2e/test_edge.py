"""Edges: a server that does not have a stream pulls it once from an origin and serves it in every format."""

import itertools
import os
import signal
import threading
import time
import urllib.error
import urllib.request

import pytest

import own_network
import play_check
from edge_stage import DVR, recorded_by, status_of
from edges import SRT_ROOT, edge_of, gaps_of, publish_again, pulls_of
from live_server import LiveServer, Stopwatch, conf, wait_until, wait_within
from players import FfmpegPublisher, wait_playable
from rtmp_client import VIDEO, Message, Player, Publisher, RtmpClient, read_flv


def test_an_edge_pulls_once_and_serves_every_format(server, clip):
    origin = server()
    edge = server(edge_of(origin, more="linger 1;") + " hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; }",
                  "exporter { enabled on; listen 127.0.0.1:$exporter; }\n")
    with FfmpegPublisher(origin.url("cam"), clip("basic")) as publisher:
        wait_playable(origin.url("cam"))
        watch = Stopwatch(origin, edge, publisher.process.pid)
        early = Player(edge.ports["rtmp"], "cam")
        early.start()
        wait_until(lambda: any(message.type == VIDEO for message in early.messages), 10, "the first frame through an edge", 0.005)
        assert watch.seconds() < 0.5, "a cold join"
        for url in (edge.url("cam"), f"http://127.0.0.1:{edge.ports['http']}/live/cam.flv"):
            assert play_check.play(url, 4).problems() == [], url
        wait_playable(f"http://127.0.0.1:{edge.ports['http']}/live/cam.m3u8", 30)
        assert pulls_of(origin) == 1, "once, for all of them"
        stream = edge.api("/api/v1/streams/")["streams"][0]
        assert stream["publish"]["active"] and stream["video"]["codec"] == "H264"
        assert stream["role"] == "edge" and stream["origin"]["state"] == "playing"
        assert set(stream["origin"]) == {"url", "state", "since_ms", "tries", "last_error", "rtt_ms"} and stream["origin"]["rtt_ms"] > 0
        # A second without media is a lost origin, and a busy machine may make it one.
        assert stream["origin"]["tries"] == 1 or watch.waited() > 0.7
        cluster = edge.api("/api/v1/clusters")["data"]
        url = f"rtmp://127.0.0.1:{origin.ports['rtmp']}"
        assert [(one["url"], one["state"]) for one in cluster["origins"]] == [(url, "up")]
        assert [(one["stream"], one["origin"]["url"]) for one in cluster["pulls"]] == [("/live/cam", url)]
        assert origin.api("/api/v1/streams/")["streams"][0]["role"] == "origin"
        with urllib.request.urlopen(f"http://127.0.0.1:{edge.ports['exporter']}/metrics") as answer:
            metrics = answer.read().decode()
        for line in ("millrace_relay_pulls_total 1", f'millrace_relay_origin_up{{origin="{url}"}} 1', "millrace_relay_join_seconds_count 1",
                     'millrace_relay_join_seconds_bucket{le="+Inf"} 1', "millrace_relay_failovers_total "):
            assert line in metrics, metrics
        early.stop()
        assert early.error is None
        # HLS counts as read for a while after the last request.
        wait_until(lambda: pulls_of(origin) == 0, 60, "the pull ends when nobody reads")
    complaints = [line for line in edge.complaints() if "SRS_BINARY" not in line]
    assert not complaints or watch.waited() > 0.7, complaints


class SlowKeys(threading.Thread):
    """Publishes video of which only the first frame is a key frame, until another one is asked for."""

    def __init__(self, origin, clip):
        super().__init__(daemon=True)
        tags = [tag for tag in read_flv(clip) if tag.type == VIDEO]
        self.setup = next(tag.payload for tag in tags if tag.is_setup())
        self.key = next(tag.payload for tag in tags if Message(VIDEO, 0, 0, tag.payload).is_key_frame())
        self.other = next(tag.payload for tag in tags if not tag.is_setup() and not Message(VIDEO, 0, 0, tag.payload).is_key_frame())
        self.client, self.wants_key, self.is_over = RtmpClient(origin.ports["rtmp"]), threading.Event(), threading.Event()
        self.client.publish("cam")

    def run(self) -> None:
        for number, first in enumerate(itertools.chain([self.setup, self.key], itertools.repeat(None))):
            payload = first or (self.key if self.wants_key.is_set() else self.other)
            self.wants_key.clear()
            self.client.send_message(VIDEO, payload, number * 40)
            if self.is_over.wait(0.04):
                return self.client.close()


def test_an_edge_waits_for_the_key_frame_of_an_origin_that_sends(server, clip):
    origins = [server("play { gop_cache off; }") for _ in range(2)]
    publishers = [SlowKeys(origin, clip("video")) for origin in origins]
    for publisher in publishers:
        publisher.start()
    wait_until(lambda: all(origin.api("/api/v1/streams/")["streams"] for origin in origins), 10, "both origins have it")
    edge = server(edge_of(*origins))
    player = Player.__new__(Player)
    asking = threading.Thread(target=Player.__init__, args=(player, edge.ports["rtmp"], "cam"), daemon=True)
    asking.start()
    wait_until(lambda: sum(pulls_of(origin) for origin in origins) == 1, 10, "it pulls")
    time.sleep(2.5)  # An origin that sends nothing is left after a second.
    assert edge.api("/api/v1/clusters")["data"]["totals"]["connections"] == 1
    for publisher in publishers:
        publisher.wants_key.set()
    asking.join(10)
    player.start()
    wait_until(lambda: any(message.is_key_frame() for message in player.messages), 10, "the key frame")
    assert edge.api("/api/v1/clusters")["data"]["totals"]["connections"] == 1
    player.stop()
    for publisher in publishers:
        publisher.is_over.set()


def test_an_edge_does_not_take_a_slow_stream_for_a_silent_origin(server, clip):
    """A frame in 1.6 s. The first silence may cost a connection or two, the next ones none."""
    origin = server()
    edge = server(edge_of(origin))
    setup, key = [tag.payload for tag in read_flv(clip("video")) if tag.type == VIDEO][:2]
    with RtmpClient(origin.ports["rtmp"]) as publisher:
        publisher.publish("cam")
        publisher.send_message(VIDEO, setup)
        publisher.send_message(VIDEO, key)
        player = Player(edge.ports["rtmp"], "cam")
        player.start()
        for number in range(6):
            time.sleep(1.6)  # the stream's own pace
            publisher.send_message(VIDEO, key, 1600 * (number + 1))
        assert edge.api("/api/v1/clusters")["data"]["totals"]["connections"] <= 3
        player.stop()


@pytest.mark.parametrize("kind", ["rtmp", "srt"])
def test_a_forward_does_not_keep_a_pull(server, clip, kind):
    origin, sink = server(), server("srt { enabled on; }", SRT_ROOT)
    edge = server(edge_of(origin, more="linger 5;") + f' forward {{ enabled on; destination "{kind}://127.0.0.1:{sink.ports[kind]}"; }}')
    with FfmpegPublisher(origin.url("cam"), clip("basic")):
        wait_playable(origin.url("cam"))
        player = Player(edge.ports["rtmp"], "cam")
        player.start()
        wait_playable(sink.url("cam"))
        left = time.monotonic()
        player.stop()
        assert player.error is None and pulls_of(origin) == 1
        wait_until(lambda: pulls_of(origin) == 0, 20, "the pull ends some time after its last viewer")
        assert time.monotonic() - left > 4, "it lingers"


def test_an_edge_reports_a_missing_stream(server):
    origin = server()
    edge = server(edge_of(origin, more="first_frame_timeout 1;"))
    began, watch = time.monotonic(), Stopwatch(origin, edge)
    assert status_of(f"http://127.0.0.1:{edge.ports['http']}/live/nothing.flv") == 404
    assert time.monotonic() - began > 0.9 and watch.seconds() < 3
    player = Player(edge.ports["rtmp"], "nothing")
    assert player.status["code"] == "NetStream.Play.StreamNotFound", player.status
    player.client.close()
    wait_until(lambda: pulls_of(origin) == 0, 10, "nobody waits any more")


def test_an_origin_that_refuses_is_not_asked_without_a_pause(server):
    origin = server("security { enabled on; deny play all; }")
    edge = server(edge_of(origin, more="first_frame_timeout 2;"))
    assert status_of(f"http://127.0.0.1:{edge.ports['http']}/live/cam.flv") == 404
    cluster = edge.api("/api/v1/clusters")["data"]
    assert 1 <= cluster["totals"]["connections"] <= 6
    assert cluster["origins"][0]["state"] == "up"


def wait_back(player, origin, edge, limit_s: float) -> None:
    """From the first media at the origin to the first that comes through the edge."""
    wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 10, "the stream is back")
    back = time.monotonic()
    wait_within(lambda: any(message.arrived > back for message in player.messages if message.type == VIDEO), limit_s, (origin, edge), "media through the edge")


def splices_of(player, clip) -> list:
    """The video behind each place where the next frame of the clip is missing."""
    tags = [tag for tag in read_flv(clip) if tag.type == VIDEO and not tag.is_setup()]
    places = {Message(VIDEO, 0, 0, tag.payload).mark(): number for number, tag in enumerate(tags)}
    frames = [message for message in player.messages if message.type == VIDEO and not message.is_sequence_header()]
    return [later for earlier, later in zip(frames, frames[1:]) if places[later.mark()] != (places[earlier.mark()] + 1) % len(tags)]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_players_stay_when_the_origin_goes(server, mortal, clip, how):
    first, second = mortal(), mortal()
    edge = server(edge_of(first, second))
    publishers = [publish_again(first, clip), publish_again(second, clip)]
    wait_until(lambda: first.api("/api/v1/streams/")["streams"] and second.api("/api/v1/streams/")["streams"], 10, "both origins have it")
    player = Player(edge.ports["rtmp"], "cam")
    player.start()
    wait_until(lambda: len(player.messages) > 50, 10, "the stream through the edge")
    used, other = (first, second) if pulls_of(first) else (second, first)
    watch = Stopwatch(other, edge)
    os.kill(used.process.pid, how)
    gone = time.monotonic()
    wait_until(lambda: any(message.arrived > gone + 0.5 for message in player.messages if message.type == VIDEO), 20, "media again")
    time.sleep(1)
    assert player.error is None
    # Silence is twice what the edge has seen before.
    limit_s = 1.0 if how == signal.SIGKILL else 2.0 + 2 * max(publisher.longest_pause for publisher in publishers)
    assert max(gaps_of(player, gone - 1)) < limit_s + watch.waited()
    player.stop()
    splices = splices_of(player, clip("basic"))
    assert splices and all(one.is_key_frame() for one in splices), "the other origin's frames begin with a key frame"
    assert edge.api("/api/v1/clusters")["data"]["totals"]["failovers"] >= 1
    for publisher in publishers:
        publisher.stop()
    edge.wait_log("edge-pull origin disconnected, retry")


def test_players_stay_until_the_publisher_is_back_elsewhere(server, mortal, clip):
    first, second = mortal(), server()
    edge = server(edge_of(first, second))
    publisher = publish_again(first, clip)
    player = Player(edge.ports["rtmp"], "cam")
    player.start()
    wait_until(lambda: len(player.messages) > 50, 10, "the stream through the edge")
    first.process.kill()
    first.process.wait()
    publisher.stop()
    time.sleep(1.5)
    again = publish_again(second, clip)
    wait_back(player, second, edge, 1.0)
    assert player.error is None
    player.stop()
    again.stop()


def test_edges_in_a_row_and_in_a_circle(server, clip):
    origin = server()
    row = [origin]
    for _ in range(3):
        row.append(server(edge_of(row[-1])))
    publisher = publish_again(origin, clip)
    assert play_check.play(row[-1].url("cam"), 3).problems() == []
    publisher.stop()
    left = server()
    right = server(edge_of(left, more="first_frame_timeout 2;"))
    left.stop()
    left.write_conf(left.conf_path.read_text().replace("vhost __defaultVhost__ {\n", f"vhost __defaultVhost__ {{ {edge_of(right, more='first_frame_timeout 2;')}\n"))
    left.start()
    assert status_of(f"http://127.0.0.1:{left.ports['http']}/live/cam.flv") == 404
    wait_until(lambda: "in a circle" in left.log() + right.log(), 10, "the log says so")


def test_names_of_origins_are_resolved(server, clip):
    origin = server()
    edge = server(edge_of(f"dns:localhost:{origin.ports['rtmp']}"))
    publisher = publish_again(origin, clip)
    assert play_check.play(edge.url("cam"), 2).problems() == []
    publisher.stop()


def play_when_the_name_moves(folder, clip) -> None:
    hosts = folder / "hosts"
    hosts.write_text("192.0.2.1 origins.test\n")  # nowhere, from this network
    own_network.bring_hosts(hosts)
    origin = LiveServer(folder / "origin", conf("")).start()
    edge = LiveServer(folder / "edge", conf(edge_of(f"dns:origins.test:{origin.ports['rtmp']}", more="first_frame_timeout 1;"))).start()
    try:
        publisher = publish_again(origin, clip)
        assert status_of(f"http://127.0.0.1:{edge.ports['http']}/live/cam.flv") == 404
        assert "192.0.2.1" in edge.log()
        hosts.write_text("127.0.0.1 origins.test\n")
        wait_playable(edge.url("cam"), 20)
        publisher.stop()
        for live in (edge, origin):
            live.stop()
    finally:
        for live in (edge, origin):
            live.kill()


def test_names_of_origins_are_resolved_again(tmp_path, clip):
    own_network.run(play_when_the_name_moves, tmp_path, clip)


def test_an_edge_forwards_publishers_to_an_origin(server, mortal, clip):
    first, second = mortal(DVR), mortal(DVR)
    edge = server(edge_of(first, second, more="publish_retry 3;"))
    publisher = Publisher(edge.ports["rtmp"], "cam", clip("basic"))
    publisher.start()

    def has_it(origin) -> bool:
        return origin.process.poll() is None and bool(origin.api("/api/v1/streams/")["streams"])

    wait_until(lambda: has_it(first) or has_it(second), 10, "an origin has it")
    used, other = (first, second) if has_it(first) else (second, first)
    assert not has_it(other)
    assert play_check.play(used.url("cam"), 2).problems() == []
    assert play_check.play(edge.url("cam"), 2).problems() == []
    # In the middle of a GOP.
    wait_until(lambda: 10 < publisher.frames_since_key() < 20, 10, "some frames behind a key frame", 0.005)
    newest = max(publisher.key_marks & set(publisher.sent_at), key=publisher.sent_at.get)
    used.kill()
    wait_until(lambda: has_it(other), 10, "the other origin takes over")
    assert play_check.play(other.url("cam"), 2).problems() == []
    assert publisher.error is None, "the encoder was kept"
    other.stop()
    wait_until(lambda: publisher.error is not None, 20, "without any origin the encoder hears of it")
    publisher.stop()
    first_frame = next(message for message in recorded_by(other) if message.type == VIDEO and not message.is_sequence_header())
    assert first_frame.mark() == newest, "with the newest GOP"


def test_an_origin_that_refuses_a_publisher_is_obeyed(server, clip):
    origin = server()
    edge = server(edge_of(origin))
    local = publish_again(origin, clip)
    wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 10, "the stream at the origin")
    second = publish_again(edge, clip)
    wait_until(lambda: second.error is not None, 10, "the stream is published already")
    assert local.error is None
    local.stop()
    second.stop()


@pytest.mark.parametrize("more", ["", "hls_ll on; hls_part 200;"], ids=["hls", "ll-hls"])
def test_hls_players_may_be_the_first_to_come(server, clip, more):
    origin = server()
    edge = server(edge_of(origin) + f" hls {{ enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; {more} }}")
    publisher = publish_again(origin, clip)
    url = f"http://127.0.0.1:{edge.ports['http']}/live/cam.m3u8"
    with urllib.request.urlopen(url, timeout=10) as answer:
        master = answer.read().decode()
    media = f"http://127.0.0.1:{edge.ports['http']}" + next(line for line in master.splitlines() if line and line[0] != "#")
    assert "#EXTINF" in urllib.request.urlopen(media, timeout=10).read().decode() or "hls_ll" in more
    assert play_check.play(url, 4).problems() == []
    assert status_of(f"http://127.0.0.1:{edge.ports['http']}/live/nothing.m3u8") == 404
    publisher.stop()


def snapshot_of(live, name: str = "live/cam.jpg") -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['api']}/api/v1/snapshot/{name}", timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_a_snapshot_is_reason_enough_to_pull(server, clip):
    origin = server()
    edge = server(edge_of(origin, more="linger 1; first_frame_timeout 2;"))
    with FfmpegPublisher(origin.url("cam"), clip("basic")):
        wait_playable(origin.url("cam"))
        status, picture = snapshot_of(edge)
        assert (status, picture[:3]) == (200, b"\xff\xd8\xff"), picture[:300]
        assert snapshot_of(edge, "live/none.jpg")[0] == 404
        wait_until(lambda: not edge.api("/api/v1/clusters")["data"]["pulls"], 20, "the pull ends when nobody reads")
