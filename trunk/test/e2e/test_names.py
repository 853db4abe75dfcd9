"""Names of streams in UTF-8, by every way in which a stream leaves, and names that are refused."""

import json
import subprocess
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import pytest

from live_server import wait_until
from rtc_offer import offer, post
from rtmp_client import Publisher, RtmpClient
from test_edge import edge_of

NAME = "камера-été-日本🎥"
ENCODED = urllib.parse.quote(NAME)
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


def test_a_name_in_utf8_leaves_by_every_output(server, clip):
    live = server(OUTPUTS, RTC_ROOT)
    edges = [server(edge_of(origin))
             for origin in (f"127.0.0.1:{live.ports['rtmp']}", f"http://127.0.0.1:{live.ports['http']}")]
    publisher = Publisher(live.ports["rtmp"], NAME, clip("basic"))
    assert publisher.status["code"] == "NetStream.Publish.Start"
    publisher.start()
    http = f"http://127.0.0.1:{live.ports['http']}/live/{ENCODED}"
    both = {"video", "audio"}
    assert kinds_in(live.url(NAME)) == both
    assert kinds_in(http + ".flv") == both
    for edge in edges:
        assert kinds_in(f"http://127.0.0.1:{edge.ports['http']}/live/{ENCODED}.flv") == both
    wait_until(lambda: list((live.folder / "html/live").rglob("*.ts")), 20, "a segment of HLS")
    assert wait_until(lambda: kinds_in(http + ".m3u8") == both, 20, "HLS plays")
    assert wait_until(lambda: kinds_in(http + ".mpd") == both, 20, "DASH plays")
    xml.etree.ElementTree.fromstring(get(http + ".mpd"))
    assert any(stream["name"] == NAME for stream in live.api("/api/v1/streams/")["streams"])
    assert NAME in get(f"http://127.0.0.1:{live.ports['exporter']}/metrics/streams")
    answer = post(live.ports["api"], f"/rtc/v1/whep/?app=live&stream={ENCODED}", offer("recvonly"))
    assert answer.status == 201 and answer.body.isascii(), answer.body
    publisher.stop()
    wait_until(lambda: (live.folder / f"dvr/live/{NAME}.mp4").exists(), 10, "the recording")
    assert kinds_in(str(live.folder / f"dvr/live/{NAME}.mp4")) == both
    assert NAME in live.log()


@pytest.mark.parametrize("name", ["a\u202eb", "a\u0085b", "a\u2028b", "é/../b", "é&b", 'é"b', "é<b", "é\\b"])
def test_a_name_that_an_output_could_obey_is_refused(server, name):
    live = server()
    with RtmpClient(live.ports["rtmp"]) as client:
        with pytest.raises(Exception):
            assert client.publish(name)["code"] == "NetStream.Publish.Start"
    assert live.api("/api/v1/streams/")["streams"] == []
    assert not any(mark in live.log() for mark in "\u202e\u0085\u2028")
