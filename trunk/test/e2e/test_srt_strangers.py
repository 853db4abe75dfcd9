"""Unknown SRT clients have bounded costs: wrong passphrases do not hold the loop, and retransmissions are a share of a player's stream."""

import socket
import threading
import time
import urllib.request

import play_check
import pytest
from players import FfmpegPublisher
from srt_stage import SECRET, start, wait_published
from srt_strangers import GreedyPlayer, conclusion, cookies

ADMIN_LIMIT_S = 1.0


def udp_to(live) -> socket.socket:
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.connect(("127.0.0.1", live.ports["srt"]))
    return one


def loop_lag(live, over_s: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['metrics']}/metrics", timeout=10) as answer:
        values = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line and line[0] != "#")
    return float(values["millrace_loop_lag_seconds_count"]) - float(values[f'millrace_loop_lag_seconds_bucket{{le="{over_s}"}}'])


@pytest.mark.alone
def test_wrong_passphrases_do_not_hold_the_loop(server, clip):
    live = start(server, root=f'passphrase "{SECRET}";')
    with FfmpegPublisher(live.url("cam"), clip("basic")), udp_to(live) as stranger:
        wait_published(live)
        before = loop_lag(live, "0.5")
        played: list = []
        player = threading.Thread(target=lambda: played.append(play_check.play(f"http://127.0.0.1:{live.ports['http']}/live/cam.flv", 5)))
        player.start()
        cookie = cookies(stranger, [1])
        for socket_id in range(1, 991):
            stranger.send(conclusion(cookie, socket_id, "#!::r=live/cam,m=publish", is_encrypted=True))
            if socket_id % 50 == 0:
                time.sleep(0.005)  # what the server's buffer holds
        longest_s = 0.0
        for _ in range(20):
            began = time.monotonic()
            live.api("/api/v1/summaries", limit_s=20)
            longest_s = max(longest_s, time.monotonic() - began)
        player.join()
        assert loop_lag(live, "0.5") == before, "turns of the loop of more than half a second"
    assert longest_s < ADMIN_LIMIT_S, f"the API answered after {longest_s:.2f} s"
    assert played[0].problems() == []


def test_a_player_is_sent_again_a_share_of_its_stream(server, clip):
    live = start(server)
    with FfmpegPublisher(live.url("cam"), clip("basic")), udp_to(live) as stranger:
        wait_published(live)
        player = GreedyPlayer(stranger, "live/cam", 7)
        end = time.monotonic() + 6
        while time.monotonic() < end:
            player.ask()
            time.sleep(0.02)
        sent = next(one for one in live.api("/api/v1/clients/")["clients"] if one["type"] == "srt-play")
    retransmitted = sent["srt"]["retrans"]
    assert retransmitted > 0, "it asks, and is given"
    # What is saved at first, and 64 kB a second, and a quarter of the stream.
    assert player.bytes < 3_000_000 + 2 * 6 * 100_000, f"{player.bytes} bytes, {retransmitted} packets again"
