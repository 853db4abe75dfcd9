"""SRT with this server as the caller: an ingest pulls and a forward pushes, to and from ffmpeg, srt-live-transmit and another Millrace; and
what comes by SRT goes out to SRT players as it came, with every track."""

import json
import re
import subprocess

import play_check
import pytest
from hook_server import Answer, HookServer
from live_server import free_port, wait_until
from players import FfmpegPublisher
from srt_stage import (PATIENT, SECRET, Sender, client, http, needs_tools, publish, pytestmark, reject_code, srt_url, start, streams,  # noqa: F401
                       wait_published)
from srt_streams import FORWARD, Feeder, counters_are_whole, fixture_rich, probe  # noqa: F401

INGEST = 'ingest cam { enabled on; input { type stream; url "%s"; } ffmpeg /no/ffmpeg; engine { enabled off; output rtmp://127.0.0.1:$rtmp/live/pulled; } }'


def listener(port: int, **options) -> str:
    query = "".join(f"&{name}={value}" for name, value in options.items())
    return f"srt://127.0.0.1:{port}?mode=listener{query}"


@pytest.mark.parametrize("bits", [pytest.param(0, marks=pytest.mark.long), 256])
def test_an_ingest_pulls_from_a_listener_and_plays_by_everything(server, clip, bits):
    port = free_port()
    mine = f"srt://127.0.0.1:{port}?latency=200" + (f"&passphrase={SECRET}&pbkeylen={bits // 8}" if bits else "")
    keys = {"passphrase": SECRET, "pbkeylen": bits // 8} if bits else {}
    with Sender(listener(port, **keys), clip("basic")):
        live = start(server, more=INGEST % mine)
        wait_published(live, "pulled")
        played = [play_check.play(url, 4) for url in (http(live, "pulled.flv"), srt_url(live, "live/pulled", **PATIENT))]
        one = client(live, "srt-publish")
    assert [each.problems() for each in played] == [[], []]
    assert one["srt"]["latency_ms"] >= 200 and one["srt"].get("key_bits", 0) == bits and one["recv_bytes"] > 100_000
    # ffmpeg has gone, and is called again.
    wait_until(lambda: not streams(live), 30, "the stream has ended")
    live.wait_log("IGS retry in")
    with Sender(listener(port, **keys), clip("basic")):
        wait_published(live, "pulled")


def test_the_state_of_a_pull_is_in_the_api(server, clip):
    port = free_port()
    # Credentials of the URL are not shown.
    live = server(INGEST % f"srt://127.0.0.1:{port}?passphrase={SECRET}")
    row = lambda: next(one for one in live.api("/api/v1/ingests")["ingests"] if one["id"] == "cam")  # noqa: E731
    waits = wait_until(lambda: (one := row())["last_error"] and one, 30, row)
    assert not waits["connected"] and waits["packets"] == 0 and waits["transport"] in ("", None)
    with Sender(listener(port, passphrase=SECRET, pbkeylen=16), clip("basic")):
        one = wait_until(lambda: (found := row())["packets"] > 100 and found["tracks"] and found, 30, row)
        assert (one["vhost"], one["stream_url"], one["transport"], one["native"], one["state"]) == ("__defaultVhost__", "/live/pulled", "srt", True, "running")
        assert one["connected"] and one["peer"] == f"127.0.0.1:{port}" and one["recv_bytes"] > 10_000 and one["pid"] is None, one
        assert sorted(one["tracks"].split(" ")) == ["AAC", "H264"] and f"127.0.0.1:{port}" in one["input"]
    again = wait_until(lambda: (found := row())["restarts"] > one["restarts"] and found, 30, row)
    assert again["last_error"] and SECRET not in str(again)


def test_a_pull_needs_no_srt_of_its_own(server, clip):
    port = free_port()
    with Sender(listener(port), clip("basic")):
        live = server(INGEST % f"srt://127.0.0.1:{port}")
        wait_published(live, "pulled")
        assert play_check.play(live.url("pulled"), 3).problems() == []


def test_a_forward_pushes_to_another_server_and_logs_failures(server, clip):
    there = start(server, vhost=f'passphrase "{SECRET}";')
    here = server(FORWARD % f"srt://127.0.0.1:{there.ports['srt']}?passphrase={SECRET}&pbkeylen=24&latency=200")
    with FfmpegPublisher(here.url("cam"), clip("basic")):
        wait_published(there)
        played = play_check.play(http(there, "cam.flv"), 4)
        one = client(there, "srt-publish")
        assert not [each for each in here.api("/api/v1/clients/")["clients"] if each["type"].startswith("srt")], "a push is no client"
    assert played.problems() == []
    assert one["srt"]["encrypted"] and one["srt"]["key_bits"] == 192 and one["srt"]["latency_ms"] == 200
    wait_until(lambda: not streams(there), 8, "a goodbye ends it at once")
    wrong = server(FORWARD % f"srt://127.0.0.1:{there.ports['srt']}?passphrase=another-passphrase")
    with FfmpegPublisher(wrong.url("other"), clip("basic")):
        wrong.wait_log("FWR retry in")
    assert "(1010)" in wrong.log() and SECRET not in here.log() and "another-passphrase" not in wrong.log()


def test_the_names_of_the_stream_go_into_the_address(server, clip):
    there = start(server)
    here = server(FORWARD % f"srt://127.0.0.1:{there.ports['srt']}?streamid=#!::r=[app]/[stream]-copy,m=publish")
    with FfmpegPublisher(here.url("cam"), clip("basic")):
        wait_published(there, "cam-copy")


@needs_tools
@pytest.mark.parametrize("bits", [0, 128, 192, 256])
def test_srt_live_transmit_takes_a_push(server, clip, tmp_path, bits):
    port, file = free_port(), tmp_path / "taken.ts"
    keys = "latency=1000" + (f"&passphrase={SECRET}&pbkeylen={bits // 8}" if bits else "")
    with open(file, "wb") as out:
        taker = subprocess.Popen(["srt-live-transmit", "-q", f"srt://127.0.0.1:{port}?mode=listener&{keys}", "file://con"], stdout=out,
                                 stderr=subprocess.DEVNULL)
    try:
        live = server(FORWARD % f"srt://127.0.0.1:{port}?{keys}")
        with FfmpegPublisher(live.url("cam"), clip("basic")):
            wait_until(lambda: file.stat().st_size > 188 * 1000, 40, "it gets the stream")
    finally:
        taker.kill()
        taker.wait()
    data = file.read_bytes()
    data = data[:len(data) // 188 * 188]
    assert set(data[::188]) == {0x47} and counters_are_whole(data)


@needs_tools
def test_srt_players_get_every_track_as_it_came(server, rich):
    live = start(server)
    with Feeder(srt_url(live, "#!::r=live/cam,m=publish"), rich, 40):
        wait_published(live)
        wait_until(lambda: len(streams(live)["cam"].get("tracks") or [1, 2]) >= 2, 20, "it has tracks")
        seen = probe(srt_url(live, "live/cam"))
        data = subprocess.run(["srt-live-transmit", "-q", "-t:6", "-to:6", "-a:no", srt_url(live, "live/cam", latency=2000), "file://con"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30, check=False).stdout
        known = streams(live)["cam"]
    assert [one for one in seen if one in ("h264", "aac", "ac3", "mp2", "scte_35")] == ["h264", "aac", "ac3", "mp2", "scte_35"], seen
    data = data[:len(data) // 188 * 188]
    behind_tables = data[2 * 188:]
    assert len(data) > 188 * 1000 and behind_tables[:188 * 500] in rich, "the bytes are those of the publisher"
    pids = {(data[at + 1] & 0x1F) << 8 | data[at + 2] for at in range(0, len(data), 188)}
    assert {0, 0x100, 0x101, 0x102, 0x103, 0x1F0} <= pids
    assert (known["video"]["codec"], known["audio"]["codec"]) == ("H264", "AAC")


def test_two_audio_tracks_come_out_and_begin_at_a_key_frame(server, clip):
    live = start(server)
    with publish(live, clip("basic"), options="-map 0:v -map 0:a -map 0:a -c:v copy -c:a:0 copy -c:a:1 ac3"):
        wait_published(live)
        assert probe(srt_url(live, "live/cam")) == ["h264", "aac", "ac3"]
        assert play_check.play(srt_url(live, "live/cam", **PATIENT), 4).problems() == []
        in_hls = wait_until(lambda: probe(http(live, "cam.m3u8")), 30, "the HLS list has segments", 0.5)
        first = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-read_intervals", "%+#1", "-of", "json",
                                srt_url(live, "live/cam")], capture_output=True, text=True, timeout=40, check=True)
    assert json.loads(first.stdout)["packets"][0]["flags"].startswith("K")
    assert {"h264", "aac"} <= set(in_hls)


def test_opus_of_rtmp_goes_out_too(server, clip):
    live = start(server)
    with publish(live, clip("basic"), options="-c:v copy -c:a libopus -b:a 96k"):
        wait_published(live)
        assert probe(srt_url(live, "live/cam")) == ["h264", "opus"]


def test_a_callback_names_the_passphrase_of_a_stream(server, clip):
    with HookServer() as hooks:
        live = start(server, vhost="passphrase_callback on;", more=hooks.conf())
        hooks.answers["on_publish"] = Answer(json.dumps({"code": 0, "data": {"srt_passphrase": SECRET}}))
        hooks.answers["on_play"] = Answer(json.dumps({"code": 0, "data": {"srt_passphrase": SECRET + "-of-players"}}))
        assert reject_code(live, "#!::r=live/cam,m=publish") == 11  # UNSECURE
        with publish(live, clip("basic"), passphrase=SECRET, pbkeylen=32):
            wait_published(live)
            assert client(live, "srt-publish")["srt"]["key_bits"] == 256
            assert reject_code(live, "#!::r=live/cam,m=request") == 11
            assert play_check.play(srt_url(live, "live/cam", passphrase=SECRET + "-of-players", **PATIENT), 3).problems() == []
            said = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", srt_url(live, "live/cam", passphrase=SECRET), "-t", "1", "-f", "null", "-"],
                                  capture_output=True, text=True, timeout=30, check=False)
            assert said.returncode != 0
    assert SECRET not in live.log() and re.search(r"passphrase is another|does not open|another", live.log())
