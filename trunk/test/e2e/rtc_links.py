"""WebRTC players behind links of their own, of a server whose stream comes in several qualities."""

import contextlib

from live_server import free_port, wait_until
from players import FfmpegPublisher
from udp_link import UdpLink

VHOST = "rtc { enabled on; }"
ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; } exporter { enabled on; listen 127.0.0.1:$exporter; }"
LADDER = """rtc { enabled on; rtmp_to_rtc on; }
ladder { enabled on; vpreset ultrafast; vthreads 1; rendition 240p { vbitrate 120; } rendition 120p { vbitrate 50; } }"""
RATES = (150, 500, 1500)  # kbit/s, of the layers l1, l2, l3
DELAY_S = 0.02
# A player has half a second of media in hand: a longer pause stops it.
BUFFER_S = 0.5


class Stage:
    """A server, a publisher, and players behind links."""

    def __init__(self, server, load, vhost: str = VHOST):
        self.adopt(server(vhost=vhost, root=ROOT), load)

    def adopt(self, live, load) -> None:
        self.live, self.load = live, load
        self.links, self.players, self.ids = [], [], []
        self.stack = contextlib.ExitStack()

    def publish_layers(self) -> None:
        self.load("sb_rtc_load", "-r", self.url("whip"), "--layers", ",".join(str(rate) for rate in RATES))
        wait_until(lambda: any(one["publish"]["active"] for one in self.live.api("/api/v1/streams/")["streams"]), 20, "it publishes")

    def publish_ladder(self, clip) -> None:
        self.stack.enter_context(FfmpegPublisher(self.live.url("cam"), clip("ladder")))
        wait_until(lambda: [one["name"] for one in self.streams()[0]["track_list"] if one["rendition"]] == ["120p", "240p"], 30, "it has renditions")

    def streams(self) -> list[dict]:
        return self.live.api("/api/v1/streams/")["streams"] or [{"track_list": []}]

    def url(self, what: str, more: str = "") -> str:
        return f"http://127.0.0.1:{self.live.ports['api']}/rtc/v1/{what}/?app=live&stream=cam{more}"

    def clients(self) -> dict:
        return {one["id"]: one for one in self.live.api("/api/v1/clients/?count=100")["clients"] if one["type"] == "rtc-play"}

    def play(self, kbps: float, more: str = "", *options: str) -> None:
        """Adds a player behind a link of that rate; returns when the server has it. `options` of the load program."""
        port = free_port()
        self.links.append(self.stack.enter_context(UdpLink(port, self.live.ports["udp"], delay_s=DELAY_S, bits_per_second=kbps * 1000)))
        before = set(self.clients())
        self.players.append(self.load("sb_rtc_load", "-c", 1, "-s", 0, "--buffer", BUFFER_S, *options, "-r", self.url("whep", f"&eip=127.0.0.1:{port}{more}")))
        wait_until(lambda: len(set(self.clients()) - before) == 1, 20, "the player is there")
        self.ids += set(self.clients()) - before

    def layers(self) -> list[str]:
        clients = self.clients()
        return [clients[one]["rtc"]["layer"] for one in self.ids]

    def wait_for(self, *expected: str) -> None:
        wait_until(lambda: self.layers() == list(expected), 60, lambda: f"the layers are {expected}; they are {self.layers()}")

    def results(self) -> list[dict]:
        for player in self.players:
            player.stop()
        return [player.result() for player in self.players]

    def close(self) -> None:
        self.stack.close()
