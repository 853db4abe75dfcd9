"""WHIP and WHEP with aiortc, which shares no code with a browser nor with us: its own ICE and RTP, OpenSSL's DTLS, ffmpeg's codecs."""


import pytest

import players
from aiortc_client import ROOT, VHOST, Client
from live_server import wait_until

pytestmark = pytest.mark.workers


@pytest.mark.parametrize("codec", ["H264", pytest.param("VP8", marks=pytest.mark.long)])
def test_another_client_publishes_and_plays(server, aiortc, codec):
    live = server(vhost=VHOST, root=ROOT)
    address = f"http://127.0.0.1:{live.ports['api']}/rtc/v1/%s/?app=live&stream=cam"
    publisher = Client(aiortc, "whip", address % "whip", codec)
    try:
        wait_until(lambda: any(one["publish"]["active"] for one in live.api("/api/v1/streams/")["streams"]), 30, "it publishes")
        if codec == "H264":
            players.wait_playable(live.url("cam"), 25)
        player = Client(aiortc, "whep", address % "whep", codec, 3)
        got = player.result()
        sent = publisher.result()
    finally:
        publisher.kill()
    assert sent["video"] > 90 and sent["audio"] > 150, sent
    video, audio = got["video"], got["audio"]
    assert video["frames"] > 50 and video["width"] == 320 and video["shades"] > 30 and video["gap"] < 0.5 and video["pause"] < 3, got
    assert audio["frames"] > 90 and audio["loudness"] > 4000, got
    wait_until(lambda: not live.api("/api/v1/clients/")["clients"], 15, "DELETE ends both")


def test_another_client_plays_an_rtmp_stream(server, aiortc, clip):
    live = server(vhost=VHOST, root=ROOT)
    with players.FfmpegPublisher(live.url("cam"), clip("basic")):
        players.wait_playable(live.url("cam"))
        got = Client(aiortc, "whep", f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=cam", "H264", 3).result()
    assert got["video"]["frames"] > 50 and got["video"]["width"] == 640, got
    assert got["audio"]["frames"] > 90 and got["audio"]["loudness"] > 1000, got
