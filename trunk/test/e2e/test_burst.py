"""A publisher that does not pace itself (ffmpeg without -re; an encoder that comes back from a hole in its network) while players
wait: a player that reads loses nothing within queue_length, and losses beyond it are reported."""

import json
import socket
import threading
from pathlib import Path

import pytest

from http_streams import AUDIO, VIDEO, HttpStream, read_tags
from live_server import wait_until
from rtmp_client import DATA, Message, Player, RtmpClient, encode_message, read_flv

REMUX = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } publish { normal_timeout 60000; }"
BURST_S = 25
KERNEL_BYTES = 4 << 20  # that a socket may hold to be sent, as Linux has it


def burst_of(clip: Path, seconds: int) -> tuple[bytes, list[tuple]]:
    """So much of the clip, over and over, as chunks; and the mark of each frame in it."""
    chunks, marks, start = [], [], 0
    end_of_sequence = b"\x17\x02"  # what ffmpeg writes at the end of a file; no picture
    tags = read_flv(clip)
    while True:
        for tag in tags:
            at = start + tag.timestamp
            if at >= seconds * 1000:
                return b"".join(chunks), marks
            if (tag.is_setup() and start > 0) or tag.payload[:2] == end_of_sequence:
                continue
            chunks.append(encode_message(tag.type, at, tag.payload))
            if tag.type != DATA and not tag.is_setup():
                marks.append(Message(tag.type, at, 1, tag.payload).mark())
        start += tags[-1].timestamp + 40


class HttpPlayer(threading.Thread):
    """Plays until the stream ends, from start() on."""

    def __init__(self, live, path: str, receive_buffer: int = 0):
        super().__init__(daemon=True)
        self.stream = HttpStream(live.ports["http"], path, receive_buffer=receive_buffer)

    def run(self) -> None:
        while not self.stream.ended:
            self.stream.read(0.2)

    def frames(self) -> list[tuple]:
        self.join(20)
        assert not self.is_alive(), "the stream did not end"
        return self.frames_so_far()

    def frames_so_far(self) -> list[tuple]:
        _, tags = read_tags(self.stream.body)
        return [Message(t.type, t.timestamp, 1, t.body).mark() for t in tags if t.type in (AUDIO, VIDEO) and not t.is_sequence_header()]

    def pictures_of_ts(self) -> int:
        """PES packets of the PID that the first one with an H.264 access unit has."""
        self.join(20)
        counts: dict[int, int] = {}
        video = None
        body = self.stream.body
        for at in range(0, len(body) - 187, 188):
            assert body[at] == 0x47
            pid = int.from_bytes(body[at + 1:at + 3], "big") & 0x1FFF
            if body[at + 1] & 0x40:
                counts[pid] = counts.get(pid, 0) + 1
                payload = at + 4 + (1 + body[at + 4] if body[at + 3] & 0x20 else 0)
                if body[payload:payload + 3] == b"\0\0\1" and body[payload + 3] == 0xE0:
                    video = pid
        return counts[video]


def publish_at_once(live, data: bytes) -> RtmpClient:
    client = RtmpClient(live.ports["rtmp"])
    assert client.publish("cam")["code"] == "NetStream.Publish.Start"
    client.socket.settimeout(30)
    client.send(data)
    return client


@pytest.mark.parametrize("vhost", ["", "min_latency on;", "play { gop_cache off; mw_latency 1000; }"])
def test_a_burst_reaches_every_waiting_player(server, clip, vhost):
    live = server(REMUX + vhost)
    ts = server(REMUX.replace(".flv", ".ts") + vhost) if not vhost else None
    data, marks = burst_of(clip("basic"), BURST_S)
    pictures = sum(kind == VIDEO for kind, _ in marks)
    for each in filter(None, (live, ts)):
        http = [HttpPlayer(each, "/live/cam." + ("flv" if each is live else "ts")) for _ in range(3)]
        rtmp = [Player(each.ports["rtmp"], "cam") for _ in range(3)]
        for player in http + rtmp:
            player.start()
        publisher = publish_at_once(each, data)
        for player in rtmp:
            wait_until(lambda player=player: sum(not m.is_sequence_header() for m in list(player.messages)) >= len(marks), 20,
                       "the RTMP player has every frame")
            got = [m.mark() for m in player.stop() if not m.is_sequence_header()]
            assert got == marks, f"{len(got)} of {len(marks)} frames, {sum(k == VIDEO for k, _ in got)} of {pictures} pictures"
        publisher.call("FCUnpublish", 6, None, "cam")
        publisher.call("deleteStream", 7, None, 1)
        for player in http:
            if each is live:
                got = player.frames()
                assert got == marks, f"{len(got)} of {len(marks)} frames"
            else:
                assert player.pictures_of_ts() == pictures
        publisher.close()
        assert "dropped" not in each.log(), "nothing was lost, and nothing was said to be"


def test_losses_of_a_burst_over_the_queue_length_are_reported_in_every_protocol(server, clip):
    live = server(REMUX + "play { queue_length 5; }")
    # More than the kernel buffers for a player that does not read.
    data, marks = burst_of(clip("basic"), 12 * BURST_S)
    assert len(data) > 3 * KERNEL_BYTES
    flv = HttpPlayer(live, "/live/cam.flv", receive_buffer=1 << 16)
    rtmp = Player(live.ports["rtmp"], "cam")
    rtmp.client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)

    def of_player(kind: str, member: str) -> int:
        return next((c[member] for c in live.api("/api/v1/clients/")["clients"] if c["type"] == kind), 0)

    # An HTTP player joins with the first media: if all came at once, it might join later in it, and that is no loss.
    publisher = publish_at_once(live, data[:65536])
    wait_until(lambda: all(of_player(kind, "send_bytes") > 20_000 for kind in ("flv-play", "rtmp-play")), 10, "both have joined")
    publisher.send(data[65536:])
    wait_until(lambda: live.api("/api/v1/streams/")["streams"][0]["frames"] >= sum(kind == VIDEO for kind, _ in marks), 20, "all of it has come")
    flv.start()
    rtmp.start()

    # The clip repeats, so the last frame alone proves nothing.
    wait_until(lambda: sum(not m.is_sequence_header() for m in list(rtmp.messages)) + of_player("rtmp-play", "dropped_packets") >= len(marks), 20,
               "RTMP has all that is not lost")
    wait_until(lambda: flv.stream.body and len(flv.frames_so_far()) + of_player("flv-play", "dropped_packets") >= len(marks), 20, "HTTP-FLV, too")
    told = [c["dropped_packets"] for c in live.api("/api/v1/clients/")["clients"] if not c["publish"]]
    assert len(told) == 2 and all(count > 0 for count in told), told
    got = {"rtmp": len([m for m in rtmp.stop() if not m.is_sequence_header()])}
    rtmp.client.close()
    publisher.call("deleteStream", 7, None, 1)
    got["http-flv"] = len(flv.frames())
    assert all(count < len(marks) for count in got.values()), got
    log = live.folder / "objs" / "access.log"
    wait_until(lambda: log.exists() and len(log.read_text().splitlines()) >= 3, 15, "both players are in the access log")
    players = {line["protocol"]: line for line in map(json.loads, log.read_text().splitlines()) if line["role"] == "play"}
    for protocol, count in got.items():
        lost = players[protocol]["dropped_packets"]
        # A stream's metadata and sequence headers count as packets too.
        assert 0 <= lost - (len(marks) - count) <= 3, (protocol, lost, len(marks), count)
        live.wait_log(f"shrinking dropped {lost} packets in total")
    publisher.close()
