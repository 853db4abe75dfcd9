"""Edges with srt:// origins: pulled and pushed by calls of the server itself."""

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import play_check
from edge_stage import status_of
from edges import SRT_ROOT, edge_of, publish_again
from live_server import BINARY, LiveServer, Stopwatch, conf, wait_until
from load_tools import Load
from players import wait_playable
from rtmp_client import VIDEO, Player
from srt_stage import SECRET, client, wait_published

SRT = "srt { enabled on; %s }"
# Beside the calls, an edge needs no SRT of its own.
OUTPUTS = "hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; } rtc { enabled on; rtmp_to_rtc on; }"
RTC_ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; }"


@pytest.fixture(name="mortal")
def fixture_mortal(tmp_path):
    """SRT origins that a test may kill."""
    started = []

    def start():
        started.append(LiveServer(tmp_path / f"mortal{len(started)}", conf(SRT % "", SRT_ROOT)).start())
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.assert_no_report()


def origin_of(live, query: str = "latency=200") -> str:
    return f'"srt://127.0.0.1:{live.ports["srt"]}?{query}"'


def calls_of(origin, kind: str = "srt-play") -> int:
    return sum(one["type"] == kind for one in origin.api("/api/v1/clients/")["clients"])


def cluster_of(edge) -> dict:
    return edge.api("/api/v1/clusters")["data"]


def errors_of(edge, url: str) -> list[str]:
    return [one["origin"]["last_error"] for one in cluster_of(edge)["pulls"] if one["stream"] == url and one["origin"]["last_error"]]


def refused(edge, stream: str = "cam") -> str:
    """The API's data about the pull while a player waits for a missing stream."""
    with ThreadPoolExecutor(1) as other:
        status = other.submit(status_of, f"http://127.0.0.1:{edge.ports['http']}/live/{stream}.flv")
        errors = wait_until(lambda: errors_of(edge, f"/live/{stream}"), 10, "the pull's error")
        assert status.result() == 404
    return errors[0]


def test_an_edge_plays_a_stream_of_an_srt_origin_by_everything(server, clip, tmp_path):
    origin = server(SRT % f'passphrase "{SECRET}";', SRT_ROOT)
    edge = server(f"{edge_of(origin_of(origin, f'latency=200&pbkeylen=32&passphrase={SECRET}'))} {OUTPUTS}", RTC_ROOT)
    publisher = publish_again(origin, clip)
    assert calls_of(origin) == 0
    whep = f"http://127.0.0.1:{edge.ports['api']}/rtc/v1/whep/?app=live&stream=cam"
    seen = Load(tmp_path, "sb_rtc_load", "-c", 1, "-s", 0, "-r", whep, "--seconds", 8)
    for url in (edge.url("cam"), f"http://127.0.0.1:{edge.ports['http']}/live/cam.flv"):
        assert play_check.play(url, 3).problems() == [], url
    wait_playable(f"http://127.0.0.1:{edge.ports['http']}/live/cam.m3u8", 30)
    assert calls_of(origin) == 1, "once, for all of them"
    one = client(origin, "srt-play")
    assert one["srt"]["key_bits"] == 256 and one["srt"]["latency_ms"] == 200 and one["relay"]
    pull, = cluster_of(edge)["pulls"]
    url = f"srt://127.0.0.1:{origin.ports['srt']}"
    assert pull["origin"]["url"] == url and pull["origin"]["state"] == "playing"
    assert [(one["url"], one["state"]) for one in cluster_of(edge)["origins"]] == [(url, "up")]
    stream, = edge.api("/api/v1/streams/")["streams"]
    assert stream["role"] == "edge" and stream["video"]["codec"] == "H264" and stream["audio"]["codec"] == "AAC"
    result = seen.result()
    assert result["failed"] == 0 and result["metrics"]["packets"]["min"] > 160 and result["metrics"]["first_frame_ms"]["count"] == 1, result
    publisher.stop()
    assert SECRET not in edge.log()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_another_origin_takes_over(server, mortal, clip, how):
    first, second = mortal(), mortal()
    edge = server(edge_of(origin_of(first), origin_of(second), more="linger 1;"))
    publishers = [publish_again(first, clip), publish_again(second, clip)]
    wait_until(lambda: first.api("/api/v1/streams/")["streams"] and second.api("/api/v1/streams/")["streams"], 10, "both origins have it")
    player = Player(edge.ports["rtmp"], "cam")
    player.start()
    wait_until(lambda: len(player.messages) > 50, 10, "the stream through the edge")
    used, other = (first, second) if calls_of(first) else (second, first)
    watch = Stopwatch(other, edge)
    os.kill(used.process.pid, how)
    gone = time.monotonic()
    wait_until(lambda: calls_of(other) == 1, 10, "a call at the other origin")
    assert watch.seconds() < 3, "at the goodbye, or after as much silence as is too much"
    called = time.monotonic()
    wait_until(lambda: any(message.arrived > called + 0.5 for message in player.messages if message.type == VIDEO), 20, "media again")
    assert player.error is None and player.messages[-1].arrived > gone
    player.stop()
    wait_until(lambda: calls_of(other) == 0, 10, "it lingers, and ends the call")
    for publisher in publishers:
        publisher.stop()


def test_a_long_latency_is_no_silence(server, clip):
    """With another origin to go to, one that sends nothing for a second is left; the latency comes on top."""
    origins = [server(SRT % "", SRT_ROOT) for _ in range(2)]
    publishers = [publish_again(origin, clip) for origin in origins]
    edge = server(edge_of(*(origin_of(origin, "latency=2500") for origin in origins)))
    assert play_check.play(edge.url("cam"), 2).problems() == []
    for publisher in publishers:
        publisher.stop()


def test_the_api_reports_the_refusal_of_an_origin(server, clip):
    origin = server((SRT % f'passphrase "{SECRET}";'), SRT_ROOT)
    publisher = publish_again(origin, clip)
    edge = server(edge_of(origin_of(origin, "passphrase=another-passphrase"), more="first_frame_timeout 2;"))
    assert "(1010)" in refused(edge)
    assert [one["state"] for one in cluster_of(edge)["origins"]] == ["down"]
    assert "another-passphrase" not in edge.log() + json.dumps(cluster_of(edge))
    publisher.stop()
    # An origin that refuses a stream is well, also for other streams.
    closed = server(f"{SRT % ''} security {{ enabled on; deny play all; }}", SRT_ROOT)
    edge = server(edge_of(origin_of(closed), more="first_frame_timeout 2;"))
    assert "(1403)" in refused(edge)
    assert [one["state"] for one in cluster_of(edge)["origins"]] == ["up"]
    # Nor is it down for what cannot be asked.
    assert "comma" in refused(edge, "cam,m=publish")
    assert [one["state"] for one in cluster_of(edge)["origins"]] == ["up"]


def test_publishers_are_pushed_to_an_srt_origin(server, clip):
    origin = server(SRT % "", SRT_ROOT)
    edge = server(f"{edge_of(origin_of(origin))} {SRT % ''}", SRT_ROOT)
    publisher = publish_again(edge, clip)
    wait_published(origin)
    assert cluster_of(edge)["pushes"] == 1 and client(origin, "srt-publish")["relay"]
    for url in (origin.url("cam"), edge.url("cam")):
        assert play_check.play(url, 3).problems() == [], url
    assert calls_of(origin) == 0, "the edge has the stream itself"
    publisher.stop()
    wait_until(lambda: not origin.api("/api/v1/streams/")["streams"], 8, "a goodbye ends it at once")


def test_edges_in_a_row(server, clip):
    origin = server(SRT % "", SRT_ROOT)
    near = server(f"{edge_of(origin_of(origin))} {SRT % ''}", SRT_ROOT)
    far = server(edge_of(origin_of(near)))
    publisher = publish_again(origin, clip)
    assert play_check.play(far.url("cam"), 2).problems() == []
    assert [calls_of(one) for one in (origin, near)] == [1, 1]
    publisher.stop()


def test_edges_in_a_circle_are_refused(server):
    left = server(SRT % "", SRT_ROOT)
    right = server(f"{SRT % ''} {edge_of(origin_of(left), more='first_frame_timeout 1;')}", SRT_ROOT)
    left.stop()
    circle = f"vhost __defaultVhost__ {{ {edge_of(origin_of(right), more='first_frame_timeout 1;')}\n"
    left.write_conf(left.conf_path.read_text().replace("vhost __defaultVhost__ {\n", circle))
    left.start()
    assert status_of(f"http://127.0.0.1:{left.ports['http']}/live/cam.flv") == 404
    for one in (left, right):
        wait_until(lambda one=one: not cluster_of(one)["pulls"], 20, "no pull keeps another one")
    assert "in a circle" in left.log() + right.log()


def test_test_mode_reports_an_invalid_origin(server):
    live = server(edge_of('"srt://127.0.0.1:9?passphrase=tooshort"', "srt://127.0.0.1:9", more="token_traverse on;"))
    done = subprocess.run([str(BINARY), "-t", "-c", str(live.conf_path)], capture_output=True, text=True, timeout=30, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and "passphrase has 10 to 79 characters" in said and "tooshort" not in said
    assert "token_traverse refuses all clients" in said
