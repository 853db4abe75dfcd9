"""Edges: their configuration, their pulls, and gaps in the media that their players receive."""

from rtmp_client import VIDEO, Publisher

REMUX = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
SRT_ROOT = "srt_server { enabled on; listen 127.0.0.1:$srt; }"


def edge_of(*origins, more: str = "") -> str:
    names = " ".join(origin if isinstance(origin, str) else f"127.0.0.1:{origin.ports['rtmp']}" for origin in origins)
    return f"cluster {{ mode remote; origin {names}; {more} }} {REMUX}"


def pulls_of(origin) -> int:
    return sum(client["type"] == "rtmp-play" for client in origin.api("/api/v1/clients/")["clients"])


def gaps_of(player, since: float = 0) -> list[float]:
    arrived = [message.arrived for message in player.messages if message.type == VIDEO and message.arrived > since]
    return [later - earlier for earlier, later in zip(arrived, arrived[1:])]


def publish_again(origin, clip) -> Publisher:
    publisher = Publisher(origin.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    return publisher
