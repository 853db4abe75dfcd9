"""A server of several workers, and players on all of them."""

import re
import urllib.error
import urllib.parse
import urllib.request

from live_server import LiveServer, Ports, free_udp_ports
from rtmp_client import VIDEO, Player, Publisher

WORKERS = 3
VHOST = """
rtc { enabled on; rtmp_to_rtc on; }
http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; }
"""
ROOT = f"workers {WORKERS};\nrtc_server {{ enabled on; listen 127.0.0.1:$udp; }}\nexporter {{ enabled on; listen 127.0.0.1:$exporter; }}\n"


def start(server, vhost: str = VHOST, root: str = ROOT) -> LiveServer:
    # Each worker has a UDP port of its own.
    return server(vhost=vhost, root=root, ports=Ports(udp=free_udp_ports(WORKERS)))


def pids(live: LiveServer) -> dict[int, int]:
    """The newest process of each worker."""
    return {int(number): int(pid) for number, pid in re.findall(r"worker (\d+) serves, pid=(\d+)", live.log())}


def streams(live: LiveServer) -> list[dict]:
    return live.api("/api/v1/streams/?count=1000")["streams"]


def clients(live: LiveServer) -> list[dict]:
    return live.api("/api/v1/clients/?count=1000")["clients"]


def players_on_all(live: LiveServer, stream: str = "cam", kind: type[Player] = Player) -> list[Player]:
    """Some more until each worker has one."""
    players = []
    while {one["worker"] for one in clients(live) if one["type"] == "rtmp-play"} != set(range(1, WORKERS + 1)):
        assert len(players) < 60, "connections do not spread"
        players.append(kind(live.ports["rtmp"], stream))
        players[-1].start()
    return players


def videos(player: Player) -> int:
    return sum(message.type == VIDEO for message in player.messages)


def start_publisher(live: LiveServer, clip, stream: str = "cam") -> Publisher:
    publisher = Publisher(live.ports["rtmp"], stream, clip("basic"))
    assert publisher.status["code"] == "NetStream.Publish.Start"
    publisher.start()
    return publisher


def playlist(base: str) -> str:
    """Without a session, which a playlist for players begins with."""
    with urllib.request.urlopen(base + "cam.m3u8", timeout=15) as answer:
        text = answer.read().decode()
    inner = re.search(r"^[^#\s].*m3u8.*$", text, re.M)
    if inner is None:
        return text
    with urllib.request.urlopen(urllib.parse.urljoin(base, inner.group()), timeout=15) as answer:
        return answer.read().decode()


def segments(base: str) -> dict[str, bytes]:
    found = {}
    for line in playlist(base).splitlines():
        if line and not line.startswith("#"):
            name = line.split("?")[0]
            try:
                with urllib.request.urlopen(urllib.parse.urljoin(base, line), timeout=10) as answer:
                    found[name] = answer.read()
            except urllib.error.HTTPError as error:
                assert error.code == 404, error  # it left the list meanwhile
    return found
