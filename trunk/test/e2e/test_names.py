"""Names of streams in UTF-8, with spaces, '&' and quotes, by every way in which a stream leaves, and names that are refused."""

import json
import re
import subprocess
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import pytest

from edges import edge_of
from live_server import wait_until
from rtc_offer import offer, post
from rtmp_client import AUDIO, VIDEO, Player, Publisher, RtmpClient
from worker_stage import WORKERS, players_on_all, start, start_publisher, videos

NAMES = {"utf8": "камера-été-日本🎥", "marks": 'le "grand" café & bar\'s'}
OUTPUTS = """hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; } dash { enabled on; dash_fragment 1; dash_path $folder/html; }
    http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } rtc { enabled on; rtmp_to_rtc on; }
    dvr { enabled on; dvr_path $folder/dvr/[app]/[stream].mp4; dvr_plan session; }"""
RTC_ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; } exporter { enabled on; listen 127.0.0.1:$exporter; }"


def kinds_in(url: str) -> set[str]:
    done = subprocess.run(["ffprobe", "-v", "error", "-show_streams", "-of", "json", url], capture_output=True, text=True, timeout=30)
    return {stream["codec_type"] for stream in json.loads(done.stdout or "{}").get("streams", [])}


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def uris_of(text: str) -> list[str]:
    """Of a playlist or an MPD, without queries."""
    return [uri.split("?")[0] for found in re.findall(r'^([^#<\s].*)$|URI="(.*?)"|<BaseURL>(.*?)<', text, re.M) for uri in found if uri]


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_leaves_by_every_output(server, clip, name):
    encoded = urllib.parse.quote(name)
    live = server(OUTPUTS, RTC_ROOT)
    edges = [server(edge_of(origin))
             for origin in (f"127.0.0.1:{live.ports['rtmp']}", f"http://127.0.0.1:{live.ports['http']}")]
    publisher = Publisher(live.ports["rtmp"], name, clip("basic"))
    assert publisher.status["code"] == "NetStream.Publish.Start"
    publisher.start()
    http = f"http://127.0.0.1:{live.ports['http']}/live/{encoded}"
    both = {"video", "audio"}
    player = Player(live.ports["rtmp"], name)  # ffprobe ends an RTMP URL at a space
    player.start()
    assert wait_until(lambda: {VIDEO, AUDIO} <= {message.type for message in player.messages}, 10, "video and audio by RTMP")
    player.stop()
    assert kinds_in(http + ".flv") == both
    for edge in edges:
        assert kinds_in(f"http://127.0.0.1:{edge.ports['http']}/live/{encoded}.flv") == both
    wait_until(lambda: list((live.folder / "html/live").rglob("*.ts")), 20, "a segment of HLS")
    assert wait_until(lambda: kinds_in(http + ".m3u8") == both, 20, "HLS plays")
    assert wait_until(lambda: kinds_in(http + ".mpd") == both, 20, "DASH plays")
    xml.etree.ElementTree.fromstring(get(http + ".mpd"))
    master = get(http + ".m3u8")
    listed = get(urllib.parse.urljoin(http, next(line for line in master.splitlines() if line and line[0] != "#")))
    for text in (master, listed, get(http + ".mpd")):
        assert uris_of(text) and all(re.fullmatch(r"[\w./%~-]+", uri, re.ASCII) and encoded in uri for uri in uris_of(text)), text
    assert any(stream["name"] == name for stream in live.api("/api/v1/streams/")["streams"])
    label = name.replace('"', '\\"')
    assert f'="/live/{label}"' in get(f"http://127.0.0.1:{live.ports['exporter']}/metrics/streams")
    answer = post(live.ports["api"], f"/rtc/v1/whep/?app=live&stream={encoded}", offer("recvonly"))
    assert answer.status == 201 and answer.body.isascii(), answer.body
    assert len(re.findall(r"^a=msid:\S+ \S+\r$", answer.body, re.M)) == 2, answer.body
    publisher.stop()
    wait_until(lambda: (live.folder / f"dvr/live/{name}.mp4").exists(), 10, "the recording")
    assert kinds_in(str(live.folder / f"dvr/live/{name}.mp4")) == both
    assert name in live.log()


def test_every_worker_has_a_name_with_marks(server, clip):
    name = NAMES["marks"]
    live = start(server)
    live.wait_log(f"{WORKERS} workers serve", 20)
    publisher = start_publisher(live, clip, name)
    players = players_on_all(live, name)
    assert wait_until(lambda: all(videos(player) for player in players), 10, "every player has video")
    http = f"http://127.0.0.1:{live.ports['http']}/live/{urllib.parse.quote(name)}"
    assert kinds_in(http + ".flv") == {"video", "audio"}
    assert wait_until(lambda: kinds_in(http + ".m3u8") == {"video", "audio"}, 20, "HLS plays")
    assert {stream["name"] for stream in live.api("/api/v1/streams/")["streams"]} == {name}
    for client in (*players, publisher):
        client.stop()


@pytest.mark.parametrize("name", ["a\u202eb", "a\u0085b", "a\u2028b", "é/../b", "é|b", "é%62", "é/ b", "é<b", "é\\b"])
def test_a_name_that_an_output_could_obey_is_refused(server, name):
    live = server()
    with RtmpClient(live.ports["rtmp"]) as client:
        with pytest.raises(Exception):
            assert client.publish(name)["code"] == "NetStream.Publish.Start"
    assert live.api("/api/v1/streams/")["streams"] == []
    assert not any(mark in live.log() for mark in "\u202e\u0085\u2028")
