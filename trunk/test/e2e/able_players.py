"""Players and load programs for tests in which clients are asked to go to another server, and checks for lost frames."""

import threading
import zlib

from live_server import LiveServer
from rtmp_client import AUDIO, COMMAND, VIDEO, Closed, Message, RtmpClient, read_flv

GOP_FRAMES = 50
RECONNECT = "NetConnection.Connect.ReconnectRequest"


def is_frame(kind: int, payload: bytes) -> bool:
    """Neither a sequence header nor the end of a sequence, which a clip has at its end."""
    return kind == VIDEO and len(payload) > 1 and payload[1] == 1


class Order:
    """The frames of a clip published in a loop, and a check that received frames are a contiguous part of them."""

    def __init__(self, clip):
        self.marks = [(tag.type, zlib.crc32(tag.payload)) for tag in read_flv(clip) if is_frame(tag.type, tag.payload)]
        self.at = {mark: number for number, mark in enumerate(self.marks)}
        assert len(self.at) == len(self.marks), "two frames of the clip are the same"

    def holes(self, messages: list[Message]) -> list[str]:
        """One sentence for each place where frames are missing."""
        frames = [(message.timestamp, self.at[message.mark()]) for message in messages if is_frame(message.type, message.payload)]
        assert frames, "nothing was received"
        found = []
        for (old_ms, earlier), (new_ms, later) in zip(frames, frames[1:]):
            step = (later - earlier - 1) % len(self.marks)
            # A publisher begins at its new place with its newest GOP, or the one before where a new one has just begun: players see these frames twice.
            if 0 < step < len(self.marks) - 2 * GOP_FRAMES:
                found.append(f"{step} between {earlier} ({old_ms} ms) and {later} ({new_ms} ms) of {len(self.marks)}")
        return found


class AblePlayer(threading.Thread):
    """A player that obeys E-RTMP's Reconnect: it opens the new connection while the old one still plays, and continues where the
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
                elif message is not None and (place := self._place_in(message)):
                    self._move(place)
        except (Closed, OSError) as error:
            self.error = error

    @staticmethod
    def _read(client: RtmpClient) -> Message | None:
        try:
            return client.read_message()
        except TimeoutError:
            return None

    @staticmethod
    def _place_in(message: Message) -> str | None:
        is_status = message.type == COMMAND and message.command()[0] == "onStatus"
        return message.command()[3]["tcUrl"] if is_status and message.command()[3]["code"] == RECONNECT else None

    def _move(self, tc_url: str) -> None:
        host, port = tc_url.split("/")[2].rsplit(":", 1)
        fresh = self._open(host, int(port), tc_url)
        # What the new connection begins with is older than what the old one has got to: until it has caught up, both are read.
        known = {message.mark() for message in self.messages[-400:]}
        has_met, next_place = False, None
        while not self._stopping.is_set():
            message = self._read(fresh)
            if message is None or message.type not in (AUDIO, VIDEO) or message.is_sequence_header():
                next_place = next_place or message and self._place_in(message)
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
        self.moves += 1
        if next_place:
            self._move(next_place)

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
