"""Key frames of 2 MiB from publishers that a port calls with datagrams: no player misses one, and no client waits for all their
encodings."""

import http.client
import itertools
import re
import socket
import threading
import time
import urllib.request

import pytest

from live_server import LiveServer, wait_until
from transport_stream import SrtSender, TransportStream, UdpSender, libsrt, picture, pictures_in

# Three framings of it at once take three times as long as the limit.
FRAME_BYTES = 2 << 20
FRAMES = 6
# After so many the server is sure that there is no audio.
SURE_FRAMES = 12
HOLD_MS = 5
ROOT = f"""
stream_caster {{ enabled on; caster mpegts_over_udp; output rtmp://127.0.0.1/live/cam; listen 127.0.0.1:$caster; }}
srt_server {{ enabled on; listen 127.0.0.1:$srt; latency 300; }}
exporter {{ enabled on; listen 127.0.0.1:$exporter; }}
loop_hold_limit {HOLD_MS};
"""
WEBSOCKET = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
VHOST = "srt { enabled on; } http_remux { enabled on; mount [vhost]/[app]/[stream].ts; }"


class TsPlayer(threading.Thread):
    """Takes the stream to its end."""

    def __init__(self, live: LiveServer, version: str, *fields: str):
        super().__init__(daemon=True)
        self.socket = socket.create_connection(("127.0.0.1", live.ports["http"]), timeout=30)
        self.socket.sendall("\r\n".join([f"GET /live/cam.ts HTTP/{version}", "Host: any", *fields, "", ""]).encode())
        self.body = b""
        self.start()

    def run(self) -> None:
        with self.socket, http.client.HTTPResponse(self.socket) as response:
            response.begin()
            self.body = response.read()


def long_holds(live: LiveServer) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=30) as answer:
        return int(re.search(r"^millrace_loop_long_holds_total (\d+)$", answer.read().decode(), re.M).group(1))


def publisher(live: LiveServer, kind: str):
    return SrtSender(live.ports["srt"], "#!::r=live/cam,m=publish") if kind == "srt" else UdpSender(live.ports["caster"])


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["udp", "srt"])
def test_giant_frames_of_datagrams_are_encoded_in_turns_and_none_is_missed(server, kind):
    if kind == "srt" and libsrt() is None:
        pytest.skip("no libsrt")
    live, stream = server(VHOST, root=ROOT), TransportStream()
    with publisher(live, kind) as sender:
        count = itertools.count()

        def send_small() -> None:
            number = next(count)
            sender.send(stream.frame(number, 40 * number, 1000))

        def is_found() -> bool:
            # A port ends a stream that is silent for seconds, which a busy machine may take between two steps of this test.
            send_small()
            return any(one["publish"]["active"] for one in live.api("/api/v1/streams/")["streams"]) and "video sh" in live.log()

        for _ in range(SURE_FRAMES):
            send_small()
        wait_until(is_found, 20, "it is published")
        # Each framing is encoded by itself.
        players = [TsPlayer(live, "1.0"), TsPlayer(live, "1.1"), TsPlayer(live, "1.1", *WEBSOCKET)]

        def all_play() -> bool:
            send_small()
            return sum("start play" in line for line in live.log().splitlines()) == len(players)

        wait_until(all_play, 20, "they play")
        before, first = long_holds(live), next(count)
        for number in range(FRAMES):
            sender.send(stream.frame(first + number, 40 * first + 1000 * number, FRAME_BYTES))
            time.sleep(0.2)
        if kind == "srt":
            sender.wait_taken()
    # The last frame is whole when the stream ends.
    for player in players[:2]:
        player.join(60)
        got = [one for one in pictures_in(player.body) if len(one) > FRAME_BYTES / 2]
        assert got == [picture(first + number, FRAME_BYTES) for number in range(FRAMES)], [one[:8] for one in got]
    if kind == "udp":  # SRT reads at once what is due at once, which takes as long by itself
        # Without turns, each of them. A core whose caches other programs have emptied takes twice the time.
        held = [line for line in live.log().splitlines() if "the event loop was blocked" in line]
        assert long_holds(live) - before <= FRAMES // 2, f"fibers over {HOLD_MS} ms of CPU time: {held}"
    assert any(fiber["name"] == "encoder" for fiber in live.api("/api/v1/fibers?count=1000")["data"]["fibers"])
