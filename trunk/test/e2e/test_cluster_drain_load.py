"""Clusters: a node is emptied while players of every kind and publishers are there. With --long: 500 players of each kind and 50 publishers."""

import signal
import threading
import time
import zlib

import pytest

from cluster_nodes import REDIRECT, drain_of, fixture_network, fixture_registry, fixture_site, owners, start_player, wait_nodes  # noqa: F401
from live_server import LiveServer, wait_until
from rtmp_client import AUDIO, COMMAND, VIDEO, Closed, Message, RtmpClient, read_flv

GOP_FRAMES = 50
RECONNECT = "NetConnection.Connect.ReconnectRequest"


def is_frame(kind: int, payload: bytes) -> bool:
    """Neither a sequence header nor the end of a sequence, which a clip has at its end."""
    return kind == VIDEO and len(payload) > 1 and payload[1] == 1


class Order:
    """The frames of a clip that is published again and again, and whether what somebody has received is a piece of that without a hole."""

    def __init__(self, clip):
        self.marks = [(tag.type, zlib.crc32(tag.payload)) for tag in read_flv(clip) if is_frame(tag.type, tag.payload)]
        self.at = {mark: number for number, mark in enumerate(self.marks)}
        assert len(self.at) == len(self.marks), "two frames of the clip are the same"

    def missing(self, messages: list[Message]) -> int:
        numbers = [self.at[message.mark()] for message in messages if is_frame(message.type, message.payload)]
        assert numbers, "nothing was received"
        steps = [(later - earlier - 1) % len(self.marks) for earlier, later in zip(numbers, numbers[1:])]
        # A publisher begins at its new place with its newest GOP, so that players there see the last frames twice.
        return sum(step for step in steps if step < len(self.marks) - GOP_FRAMES)


class AblePlayer(threading.Thread):
    """A player that obeys Reconnect as E-RTMP wants it: it opens the new connection while the old one still plays, and goes on where the
    old one was."""

    def __init__(self, node: LiveServer, stream: str):
        super().__init__(daemon=True)
        self.stream, self.messages, self.moves, self.error = stream, [], 0, None
        self._stopping = threading.Event()
        self.client = self._open(node.host, node.ports["rtmp"])

    def _open(self, host: str, port: int, tc_url: str | None = None) -> RtmpClient:
        client = RtmpClient(port, host=host)
        client.connect("live", capsEx=1, tcUrl=tc_url or f"rtmp://{host}:{port}/live")
        client.create_stream()
        client.call("play", 5, None, self.stream, -2000, stream_id=1)
        client.socket.settimeout(0.2)
        return client

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                message = self._read(self.client)
                if message is not None and message.type in (AUDIO, VIDEO):
                    self.messages.append(message)
                elif message is not None and message.type == COMMAND and message.command()[0] == "onStatus" and message.command()[3]["code"] == RECONNECT:
                    self._move(message.command()[3]["tcUrl"])
        except (Closed, OSError) as error:
            self.error = error

    @staticmethod
    def _read(client: RtmpClient) -> Message | None:
        try:
            return client.read_message()
        except TimeoutError:
            return None

    def _move(self, tc_url: str) -> None:
        self.moves += 1
        host, port = tc_url.split("/")[2].rsplit(":", 1)
        fresh = self._open(host, int(port), tc_url)
        # What the new connection begins with is older than what the old one has got to: until it has caught up, both are read.
        known = {message.mark() for message in self.messages[-400:]}
        has_met = False
        while not self._stopping.is_set():
            message = self._read(fresh)
            if message is None or message.type not in (AUDIO, VIDEO) or message.is_sequence_header():
                continue
            has_met = has_met or message.mark() in known
            if has_met and message.mark() not in known:
                self.messages.append(message)
                break
            if not has_met and (old := self._read(self.client)) is not None and old.type in (AUDIO, VIDEO):
                self.messages.append(old)
                known.add(old.mark())
        self.client.close()
        self.client = fresh

    def stop(self) -> list[Message]:
        self._stopping.set()
        self.join(5)
        self.client.close()
        return self.messages


def url(node: LiveServer, kind: str, stream: str) -> str:
    http = f"http://{node.host}:{node.ports['http']}/live/{stream}"
    whep = f"http://{node.host}:{node.ports['api']}/rtc/v1/whep/?app=live&stream={stream}"
    return {"sb_rtmp_load": node.url(stream), "sb_flv_load": http + ".flv", "sb_hls_load": http + ".m3u8", "sb_rtc_load": whep}[kind]


KINDS = ["sb_rtmp_load", "sb_flv_load", "sb_hls_load", "sb_rtc_load"]


@pytest.mark.parametrize("players, publishers, limit_s", [(20, 6, 16), pytest.param(500, 50, 60, marks=pytest.mark.long)])
def test_nobody_loses_a_frame_or_is_cut_early(registry, site, server, clip, load, monkeypatch, players, publishers, limit_s):
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
        # HLS goes on at a node that has only segments from its first whole one on; and its tasks are short.
        is_hls = kind == "sb_hls_load"
        assert is_hls or result["alive"] == players, kind
        # WebRTC leaves frames out where the machine cannot do it all, as with 500 players beside everything else.
        if kind != "sb_rtc_load" or players <= 100:
            assert result["metrics"]["gaps"]["max"] <= (2 if is_hls else 0), kind
    assert stays.process.poll() is None and obeys.process.poll() is None
    first.process.wait(limit_s + 30)
    assert limit_s <= time.monotonic() - began
    lost = {one.stream: order.missing(one.stop()) for one in able}
    lost |= {f"elsewhere {number}": order.missing(one.stop()) for number, one in enumerate(elsewhere)}
    print(f"{half} publishers and {len(able)} players moved within {gone:.1f} s, asked {facts['asked']}; frames lost: {sum(lost.values())}")
    assert [(one.moves, one.error) for one in able] == [(1, None)] * len(able)
    assert [one.error for one in elsewhere] == [None] * len(elsewhere)
    assert set(lost.values()) == {0}, lost
    obeys.stop()
    assert obeys.result()["failed"] == 0
    stays.kill()
