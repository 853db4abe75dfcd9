"""The process does not run for some seconds, as when it is stopped or its machine is moved: what its clients sent meanwhile waits in the sockets, and
no client is closed for silence."""

import contextlib
import os
import signal
import time

import pytest
from live_server import wait_until
from load_tools import Load
from players import FfmpegPublisher
from srt_stage import beside_player, publish, srt_url, streams, wait_published

# Every patience is shorter than the pause, and longer than what a busy machine takes between two checks of a client, which are 2.5 s apart. libsrt
# leaves a server that is silent for 5 s.
PAUSE_S = 4.0
ROOT = "srt_server { enabled on; listen 127.0.0.1:$srt; peer_idle_timeout 3000; } rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; }"
VHOST = """srt { enabled on; } rtc { enabled on; rtmp_to_rtc on; stun_timeout 3.8; } http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
    publish { normal_timeout 3000; } play { stall_timeout 3; unpublished_timeout 3; }"""


def pause(live, seconds: float = PAUSE_S) -> None:
    """Only of the server that the test has started."""
    os.kill(live.process.pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        os.kill(live.process.pid, signal.SIGCONT)


def ids(live) -> dict[str, str]:
    return {one["id"]: one["type"] for one in live.api("/api/v1/clients/")["clients"]}


def received(live) -> dict[str, int]:
    return {name: one["recv_bytes"] for name, one in streams(live).items()}


def wait_more(live, before: dict[str, int]) -> None:
    wait_until(lambda: all(received(live).get(name, 0) > count + 20_000 for name, count in before.items()), 20, "every stream goes on")


@pytest.mark.alone
def test_a_pause_of_the_process_closes_no_client(server, clip, tmp_path):
    live = server(VHOST, root=ROOT)
    with contextlib.ExitStack() as stack:
        stack.enter_context(FfmpegPublisher(live.url("cam"), clip("basic")))
        stack.enter_context(publish(live, clip("basic"), "sent"))
        for url in (live.url("cam"), f"http://127.0.0.1:{live.ports['http']}/live/cam.flv", srt_url(live, "live/cam")):
            beside_player(stack, url)
        viewer = Load(tmp_path, "sb_rtc_load", "-c", 1, "-s", 0, "-r", f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=cam",
                      "--seconds", 60)
        stack.callback(viewer.kill)
        wait_published(live)
        wait_published(live, "sent")
        before = wait_until(lambda: ids(live) if len(ids(live)) == 6 else None, 30, lambda: f"two publishers and four players: {ids(live)}")
        assert len(set(before.values())) == 6, before
        wait_more(live, received(live))
        pause(live)
        wait_more(live, received(live))
        after = ids(live)
    assert after == before, [line for line in live.log().splitlines() if "reason" in line or "timeout" in line]
    live.wait_log("the process did not run for")


@pytest.mark.alone
def test_a_pause_of_an_edge_ends_neither_its_pulls_nor_its_pushes(server, clip):
    origin = server("")
    edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }}")
    with contextlib.ExitStack() as stack:
        stack.enter_context(FfmpegPublisher(origin.url("pulled"), clip("basic")))
        stack.enter_context(FfmpegPublisher(edge.url("pushed"), clip("basic")))
        beside_player(stack, edge.url("pulled"))
        for stream in ("pulled", "pushed"):
            wait_published(origin, stream)
        before = wait_until(lambda: ids(origin) if len(ids(origin)) == 3 else None, 30, lambda: f"publisher, pull and push: {ids(origin)}")
        wait_more(origin, received(origin))
        pause(edge, 4.5)
        wait_more(origin, received(origin))
        assert ids(origin) == before, origin.log()[-2000:]
    edge.wait_log("the process did not run for")
