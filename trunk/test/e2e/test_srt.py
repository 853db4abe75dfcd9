"""SRT: ffmpeg (libsrt) and srt-live-transmit publish and play, encrypted and not, over a good link and a bad one; and whom the server refuses, with
which reason."""

import concurrent.futures
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import time
import urllib.request

import play_check
import pytest
from clips import find_new_ffmpeg, libavformat_of
from hook_server import Answer, HookServer
from live_server import Stopwatch, free_port, wait_until
from players import FfmpegPublisher, wait_playable
from srt_stage import (PATIENT, ROOT, SECRET, Sender, beside, beside_player, client, has_srt, http, needs_tools, publish, pytestmark,  # noqa: F401
                       reject_code, srt_url, start, streams, wait_published)
from udp_link import UdpLink


def metrics(live) -> dict[str, float]:
    with socket.create_connection(("127.0.0.1", live.ports["metrics"]), timeout=5) as one:
        one.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        text = b"".join(iter(lambda: one.recv(65536), b"")).decode()
    return {name: float(value) for name, value in re.findall(r"^(millrace_srt_\S+) (\S+)$", text, re.MULTILINE)}


def kick(live, client_id: str) -> None:
    address = f"http://127.0.0.1:{live.ports['api']}/api/v1/clients/{client_id}"
    with urllib.request.urlopen(urllib.request.Request(address, method="DELETE"), timeout=5) as answer:
        assert json.load(answer)["code"] == 0


def test_an_ffmpeg_stream_plays_over_every_protocol(server, clip):
    live = start(server)
    with publish(live, clip("basic")):
        wait_published(live)
        wait_playable(http(live, "cam.m3u8"), 40)
        urls = [live.url("cam"), http(live, "cam.flv"), http(live, "cam.m3u8"), srt_url(live, "#!::r=live/cam,m=request", **PATIENT)]
        played = beside(*(lambda url=url: play_check.play(url, 5) for url in urls))
        sender = client(live, "srt-publish")
        figures = metrics(live)
    assert [one.problems() for one in played] == [[], [], [], []]
    assert sender["publish"] and sender["ip"] == "127.0.0.1" and sender["recv_bytes"] > 100_000
    assert sender["srt"]["peer_version"].startswith("1.") and sender["srt"]["latency_ms"] == 120 and not sender["srt"]["encrypted"]
    assert sender["srt"]["drop"] == 0 and 0 < sender["srt"]["rtt_ms"] < 2000
    assert figures['millrace_srt_connections{kind="publish"}'] == 1 and figures['millrace_srt_packets_total{direction="in"}'] > 100
    wait_until(lambda: not streams(live), 30, "the stream has ended 10 s after its publisher was killed")
    live.wait_log("Transport Stats # pktRecv=", 25)
    live.wait_log("cleanup when unpublish, url=/live/cam")


def test_an_rtmp_stream_plays_by_srt_from_a_key_frame_on(server, clip):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        ids = ["#!::r=live/cam,m=request", "live/cam", "read:live/cam", "srt%3A%2F%2F127.0.0.1%2Flive%2Fcam"]
        played = beside(*(lambda one=one: play_check.play(srt_url(live, one, **PATIENT), 4) for one in ids),
                        lambda: client(live, "srt-play"))
        assert [one.problems() for one in played[:-1]] == [[], [], [], []]
        assert played[-1]["srt"]["latency_ms"] >= 120 and not played[-1]["publish"]
        first = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-read_intervals", "%+#1", "-of",
                                "json", srt_url(live, "live/cam")], capture_output=True, text=True, timeout=40, check=True)
    assert json.loads(first.stdout)["packets"][0]["flags"].startswith("K")


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_streams_are_encrypted_with_keys_of_every_length(server, clip, bits):
    live = start(server, root=f'passphrase "{SECRET}";')
    keys = {"passphrase": SECRET, "pbkeylen": bits // 8}
    with publish(live, clip("basic"), **keys):
        wait_published(live)
        played = play_check.play(srt_url(live, "live/cam", **keys, **PATIENT), 4)
        sender = client(live, "srt-publish")
    assert played.problems() == []
    assert sender["srt"]["encrypted"] and sender["srt"]["key_bits"] == bits


def test_a_passphrase_is_of_a_virtual_host_and_the_wrong_one_is_refused(server, clip):
    live = start(server, vhost=f'passphrase "{SECRET}";')
    for keys in ({"passphrase": "another-passphrase"}, {}):
        said = publish(live, clip("basic"), **keys).ended()
        assert refused(said), said
        live.wait_log("srt client disconnect peer")
    assert reject_code(live, "#!::r=live/cam,m=publish") == 11  # UNSECURE
    log = live.log()
    assert "requires a passphrase" in log and not streams(live)
    assert metrics(live)['millrace_srt_handshakes_total{outcome="refused"}'] >= 2
    with publish(live, clip("basic"), passphrase=SECRET):
        wait_published(live)


def refused(said: str) -> bool:
    return "failed" in said or "Input/output error" in said or "rejected" in said


def test_a_refused_client_receives_the_reason(server, clip):
    with HookServer() as hooks:
        live = start(server, more=hooks.conf() + " security { enabled on; deny play 127.0.0.1; allow publish all; }")
        hooks.answers["on_publish"] = Answer('{"code":100,"msg":"not today"}')
        for stream_id, code in (("#!::r=live/cam,m=publish", 1403), ("#!::r=live/cam,m=request", 1403), ("#!::m=publish", 1400),
                                ("#!::r=live/cam,m=bidirectional", 1405), ("#!::r=live/a$b,m=publish", 1403)):
            assert reject_code(live, stream_id) == code, stream_id
        assert "not today" in live.log() and not streams(live)
        assert hooks.actions().count("on_publish") == 1, "asked once, although the client repeats its request"
        hooks.answers.clear()
        with publish(live, clip("basic")):
            wait_published(live)
            assert reject_code(live, "#!::r=live/cam,m=publish") == 1409
        wait_until(lambda: "on_unpublish" in hooks.actions() and hooks.actions().count("on_close") >= 3, 30, "the end is told, 10 s after the publisher was killed")


def test_kicks_and_callbacks_reach_srt_clients(server, clip):
    with HookServer() as hooks:
        live = start(server, more=hooks.conf())
        sender = Sender(srt_url(live, "#!::r=live/cam,m=publish,u=me,s=secret-of-me"), clip("basic"))
        wait_published(live)
        assert hooks.first("on_connect").body["tcUrl"].startswith("srt://")
        assert "u=me" in hooks.first("on_publish").body["param"] and "secret-of-me" not in live.log()
        one = client(live, "srt-publish")
        kick(live, one["id"])
        sender.ended(20)
        wait_until(lambda: not streams(live), 15, "it has gone")
        hooks.wait_for("on_unpublish")
        assert hooks.wait_for("on_close").body["recv_bytes"] > 0


def test_a_virtual_host_without_srt_refuses(server, clip):
    live = server("srt { enabled off; }", root=ROOT % "")
    assert refused(publish(live, clip("basic")).ended())
    live.wait_log("has no SRT")


def test_a_newer_libsrt_takes_every_control_packet(server, clip):
    """libsrt of May 2026, which FFmpeg 9 brings, refuses control packets without contents."""
    ffmpeg = find_new_ffmpeg()
    if not ffmpeg or libavformat_of(ffmpeg) < 63 or not has_srt(ffmpeg):
        pytest.skip("no ffmpeg 9 with libsrt")
    live = start(server)
    with publish(live, clip("basic")):
        wait_published(live)
        command = [ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "warning", "-i", srt_url(live, "live/cam"), "-c", "copy", "-f", "null", "-"]
        player = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            one = client(live, "srt-play")
            wait_until(lambda: client(live, "srt-play")["srt"]["rtt_ms"] not in (0, 100), 20, "the player has measured the round trip")
            watch = Stopwatch(live, player.pid)
            kick(live, one["id"])
            said = player.communicate(timeout=60)[1]
            took_s = watch.seconds()
        finally:
            player.kill()
            player.wait()
    complaints = [line for line in said.splitlines() if "SRT" in line or "srt" in line]
    assert not [line for line in complaints if "E:" in line or "size" in line], complaints[:5]
    assert took_s < 4, f"the goodbye came, it need not wait {took_s:.1f} s for silence"


class MuteLink(UdpLink):
    """The client's acknowledgements and reports of losses come to the server as signs of life, which say nothing about what has come."""

    def _pass(self, out, address, datagram):
        is_answer = address == self.server and len(datagram) >= 16 and datagram[:2] in (b"\x80\x02", b"\x80\x03")
        super()._pass(out, address, b"\x80\x01" + bytes(6) + datagram[8:16] + bytes(4) if is_answer else datagram)


def test_players_that_read_nothing_or_have_no_publisher_are_closed(server, clip):
    live = start(server, vhost="", more=" play { stall_timeout 2; unpublished_timeout 3; }")
    with publish(live, clip("basic")), MuteLink(free_port(), live.ports["srt"]) as link, contextlib.ExitStack() as stack:
        wait_published(live)
        good = beside_player(stack, srt_url(live, "#!::r=live/cam,m=request"))
        mute = beside_player(stack, srt_url(live, "#!::r=live/cam,m=request", link.front.getsockname()[1]))
        waiting = beside_player(stack, srt_url(live, "#!::r=live/nobody,m=request"))
        live.wait_log("the player took nothing for 2 s (stall_timeout)", 20)
        live.wait_log("the stream was not published for 3 s (unpublished_timeout)", 20)
        mute.wait(20)
        waiting.wait(20)
        assert good.poll() is None and live.log().count("(stall_timeout)") == 1


def test_datagrams_of_strangers_hurt_nothing(server, clip):
    live = start(server)
    # They fill the server's buffer when it is kept waiting: what is lost then has time to come again.
    with publish(live, clip("basic"), **PATIENT), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        wait_published(live)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            watched = pool.submit(play_check.play, http(live, "cam.flv"), 4)
            while not watched.done():
                for size in (0, 1, 15, 16, 64, 1316, 1472, 2000):
                    stranger.sendto(os.urandom(size), ("127.0.0.1", live.ports["srt"]))
                stranger.sendto(bytes(12) + bytes(4) + os.urandom(48), ("127.0.0.1", live.ports["srt"]))
                time.sleep(0.01)
        assert watched.result().problems() == []
        assert metrics(live)["millrace_srt_strangers_total"] > 100


def handshake(version: int, kind: int, cookie: int, socket_id: int, extensions: bytes = b"") -> bytes:
    fields = struct.pack(">IHHIIIIII16s", version, 0, 2 if version == 4 else 5, 1, 1500, 8192, kind, socket_id, cookie, bytes(16))
    return b"\x80\x00" + bytes(6) + bytes(8) + fields + extensions


def test_a_flood_of_handshakes_costs_no_memory(server, clip):
    """First questions, and second ones with cookies that were guessed: each answer is as long as its question at most, and nothing is kept."""
    live, count, conclusion = start(server), 40_000, 0xFFFFFFFF
    stream_id = struct.pack(">HH", 5, 64) + b"x" * 256
    with publish(live, clip("basic"), **PATIENT), contextlib.ExitStack() as stack:
        wait_published(live)
        sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(20)]
        for one in sockets:
            one.connect(("127.0.0.1", live.ports["srt"]))
            one.setblocking(False)
        before, answers, longest = memory_kb(live), 0, 0
        for number in range(count):
            one = sockets[number % len(sockets)]
            one.send(handshake(4, 1, 0, number + 1) if number % 2 else handshake(5, conclusion, number * 2654435761 % 2**32, number + 1, stream_id))
            if number % 50 == 49:  # what its buffer holds
                time.sleep(0.001)
            with contextlib.suppress(BlockingIOError):
                longest, answers = max(longest, len(one.recv(2000))), answers + 1
        assert answers > 1000 and longest == 64, (answers, longest)
        assert memory_kb(live) - before < 2000
        assert len(live.api("/api/v1/clients/")["clients"]) == 1 and list(streams(live)) == ["cam"]
        assert play_check.play(http(live, "cam.flv"), 2).problems() == []


def memory_kb(live) -> int:
    return sum(int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status", encoding="ascii").read())[1]) for pid in live.pids())


@pytest.mark.alone
@pytest.mark.parametrize("loss, delay_s", [pytest.param(0.05, 0.01, marks=pytest.mark.long), (0.10, 0.025)])
def test_a_bad_link_loses_nothing_for_good(server, clip, loss, delay_s):
    live = start(server, root="latency 3000;")
    with UdpLink(free_port(), live.ports["srt"], loss=loss, delay_s=delay_s, srt_losses_max=3) as link:
        port = link.front.getsockname()[1]
        with Sender(srt_url(live, "#!::r=live/cam,m=publish", port=port, latency=3_000_000), clip("basic")):
            wait_published(live)
            played = beside(lambda: play_check.play(http(live, "cam.flv"), 6),
                            lambda: play_check.play(srt_url(live, "live/cam", port=port, latency=3_000_000), 6, patience_s=25))
            sender = client(live, "srt-publish")
    assert sender["srt"]["loss"] > 0 and sender["srt"]["retrans"] > 0 and sender["srt"]["drop"] == 0, sender["srt"]
    assert [one.problems() for one in played] == [[], []], sender["srt"]
    assert sender["srt"]["rtt_ms"] >= delay_s * 1000


@needs_tools
def test_srt_live_transmit_carries_a_stream_on(server, clip, tmp_path):
    live = start(server)
    file = tmp_path / "played.ts"
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        with open(file, "wb") as out:
            subprocess.run(["srt-live-transmit", "-q", "-to:8", "-t:8", "-a:no", f"srt://127.0.0.1:{live.ports['srt']}?streamid=live/cam", "file://con"],
                           stdout=out, stderr=subprocess.DEVNULL, timeout=40, check=False)
    data = file.read_bytes()
    assert len(data) > 188 * 500 and len(data) % 188 == 0 and set(data[::188]) == {0x47}


def test_a_client_without_a_stream_id_plays_the_default_one(server, clip):
    live = start(server, root='default_streamid "#!::r=live/cam,m=request";')
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_published(live)
        assert play_check.play(f"srt://127.0.0.1:{live.ports['srt']}?latency={PATIENT['latency']}", 3).problems() == []
