"""HTTP-FLV, HTTP-TS, HTTP-AAC, HTTP-MP3 and WebSocket-FLV: what comes, when it begins and how it ends."""

import contextlib
import hashlib
import json
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.request
import zlib

import pytest

import play_check
from flv_streams import CASTER, FLV, PORT, assert_gapless, post_flv
from http_streams import AUDIO, SCRIPT, VIDEO, HttpStream, WebSocketStream, count_tags, read_tags
from hook_server import HookServer
from live_server import Stopwatch, wait_until
from players import FfmpegPublisher, wait_playable
from rtmp_client import Publisher, RtmpClient, read_flv

pytestmark = pytest.mark.workers


def http_url(server, path: str) -> str:
    return f"http://127.0.0.1:{server.ports[PORT]}{path}"


def publish(server, clip, stream="cam", name="basic") -> Publisher:
    publisher = Publisher(server.ports["rtmp"], stream, clip(name))
    publisher.start()
    return publisher


def test_an_unknown_codec_is_relayed_byte_for_byte_and_left_out_elsewhere(server, tmp_path):
    slave = server(FLV)
    forward = f"forward {{ enabled on; destination 127.0.0.1:{slave.ports['rtmp']}; }}"
    live = server(f"{FLV} {forward} hls {{ enabled on; hls_path {tmp_path}; hls_fragment 1; }}")
    config = bytes.fromhex("90 76766331 01020304")  # FourCC vvc1
    frames = [bytes.fromhex("91" if i % 25 == 0 else "a1") + b"vvc1" + bytes(range(i % 200 + 20)) for i in range(75)]
    audio = [bytes.fromhex("af00 1210")] + [bytes.fromhex("af01 2100") + bytes([i, i]) for i in range(75)]
    video = [config, *frames]
    with RtmpClient(live.ports["rtmp"]) as publisher, RtmpClient(live.ports["rtmp"]) as player, RtmpClient(slave.ports["rtmp"]) as behind:
        publisher.publish("cam")
        publisher.send_message(VIDEO, video[0])
        publisher.send_message(AUDIO, audio[0])
        wait_until(lambda: any(one["publish"]["active"] for one in slave.api("/api/v1/streams/")["streams"]), 20, "the forward")
        player.play("cam")
        behind.play("cam")
        with HttpStream(live.ports[PORT], "/live/cam.flv") as by_http, HttpStream(slave.ports[PORT], "/live/cam.flv") as behind_by_http:
            for i in range(75):
                publisher.send_message(VIDEO, video[1 + i], timestamp=40 * i)
                publisher.send_message(AUDIO, audio[1 + i], timestamp=40 * i)
            for name, client in (("player", player), ("player of the forward", behind)):
                got = client.read_at_least(len(video) + len(audio)) + client.read_media(0.3)
                assert [m.payload for m in got if m.type == VIDEO] == video, name
                assert [m.payload for m in got if m.type == AUDIO] == audio, name
            for name, stream in (("HTTP-FLV", by_http), ("HTTP-FLV of the forward", behind_by_http)):
                stream.read_until(lambda body: count_tags(body, AUDIO, VIDEO) >= len(video) + len(audio))
                tags = read_tags(stream.read(0.3))[1]
                assert [t.body for t in tags if t.type == VIDEO] == video, name
                assert [t.body for t in tags if t.type == AUDIO] == audio, name
        live.wait_log("HLS /live/cam: unknown is left out")
        wait_until(lambda: list(tmp_path.glob("live/cam-*.ts")), 15, "a segment of the audio alone")
    for one, words in ((live, "the video codec vvc1 is unknown"), (slave, "the video codec vvc1 is unknown"),
                       (live, "HLS /live/cam: unknown is left out")):
        # One line of each process that has the stream: with several workers, its players' too.
        said_by = re.findall(rf"\[(\d+)\]\[\w+\]\[\d+\] {words}", one.log())
        assert said_by and len(said_by) == len(set(said_by)), (said_by, words)
    segment = min(tmp_path.glob("live/cam-*.ts"))
    kinds = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", str(segment)],
                           capture_output=True, text=True, timeout=30, check=True).stdout.split()
    assert set(kinds) == {"audio"}


@pytest.mark.parametrize("ending,want", [("flv", "av"), ("ts", "av"), ("aac", "a")])
def test_ffmpeg_decodes_ten_seconds(server, clip, ending, want):
    live = server(f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].{ending}; }}")
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_playable(live.url("cam"))
        got = play_check.play(http_url(live, f"/live/cam.{ending}"), 10, want=want)
    # A raw .aac carries no times: ffmpeg counts them itself, and is not in real time.
    assert [p for p in got.problems(want) if ending != "aac" or "only" not in p] == []


def test_ffmpeg_decodes_mp3(server, clip, workers):
    live = server("http_remux { enabled on; mount [vhost]/[app]/[stream].mp3; fast_cache 3; }")
    with FfmpegPublisher(live.url("cam"), clip("mp3")):
        wait_playable(live.url("cam"))
        # A worker that has the stream from another one has cached what came since: players on each of them.
        with contextlib.ExitStack() as stack:
            for _ in range(12 if workers > 1 else 0):
                stack.enter_context(HttpStream(live.ports[PORT], "/live/cam.mp3"))
            time.sleep(3)
            asked = time.monotonic()
            player = stack.enter_context(HttpStream(live.ports[PORT], "/live/cam.mp3"))
            # Without the cache it would never be a second ahead of the clock.
            body = player.read_until(lambda got: len(got) / 8_000 > time.monotonic() - asked + 1, 5)
            took = time.monotonic() - asked
        assert player.headers["content-type"] == "audio/mpeg"
        assert body[0] == 0xFF and body[1] & 0xE0 == 0xE0, "begins with a frame"
        assert len(body) / 8_000 > took + 0.9, f"{len(body)} bytes after {took:.1f} s: fast_cache is 3 s"
        got = play_check.play(http_url(live, "/live/cam.mp3"), 6, want="a")
    assert [p for p in got.problems("a") if "only" not in p] == []


def test_headers_are_those_of_an_endless_chunked_body(server):
    live = server(FLV)
    with HttpStream(live.ports[PORT], "/live/nobody.flv", {"Origin": "http://example.com"}) as player:
        assert player.status == 200, "the head comes before any publisher"
        assert player.headers["content-type"] == "video/x-flv"
        assert player.headers["transfer-encoding"] == "chunked"
        assert player.headers["connection"].lower() == "close"
        assert player.headers["server"].startswith("SRS/")
        assert player.headers["access-control-allow-origin"] == "*"
        assert player.read(0.5) == b""
    with HttpStream(live.ports[PORT], "/live/nobody.flv", version="1.0") as old:
        assert old.status == 200 and "transfer-encoding" not in old.headers
    with HttpStream(live.ports[PORT], "/live/nobody.flv", method="HEAD") as head:
        assert head.status == 200
    with HttpStream(live.ports[PORT], "/live/nobody.flv", method="DELETE") as wrong:
        assert wrong.status == 405
    for path in ("/cam.flv", "/a/b/cam.flv", "/live/cam.ts", "/live/.flv"):
        with HttpStream(live.ports[PORT], path) as lost:
            assert "x-flv" not in lost.headers.get("content-type", ""), path


def test_a_player_may_come_first_and_ends_with_its_publisher(server, clip):
    live = server(FLV)
    with HttpStream(live.ports[PORT], "/live/cam.flv") as early:
        publisher = publish(live, clip)
        early.read_until(lambda body: count_tags(body) > 100)
        publisher.stop()
        early.read(15)
        assert early.ended, "the response ends when the publisher leaves"
        assert getattr(early, "last_chunk", False), "and properly so"
        flags, tags = read_tags(early.body)
        assert flags == 5
        assert_gapless(tags)
        assert early.rest == b""


def test_joining_later_starts_at_zero_with_a_key_frame(server, clip):
    live = server(FLV)
    publisher = publish(live, clip)
    time.sleep(3.3)
    asked, watch = time.monotonic(), Stopwatch(live)
    with HttpStream(live.ports[PORT], "/live/cam.flv") as player:
        player.read_until(lambda body: count_tags(body, VIDEO) > 10)
        assert watch.seconds() < 5
        player.read(2)
    publisher.stop()
    _, tags = read_tags(player.body)
    assert tags[0].type == SCRIPT
    assert [t.type for t in tags[1:3] if t.is_sequence_header()], "then the sequence headers"
    media = [t for t in tags if t.type != SCRIPT and not t.is_sequence_header()]
    first = next(t for t in media if t.type == VIDEO)
    assert first.is_key_frame() and publisher.sent_at[(VIDEO, zlib.crc32(first.body))] < asked, "it did not wait for one"
    assert min(t.timestamp for t in media) == 0
    assert_gapless(tags)


def test_fifty_players_of_all_kinds_get_every_tag(server, clip):
    live = server(FLV)
    publisher = publish(live, clip)
    time.sleep(1)
    players = []
    for i in range(50):
        players.append((WebSocketStream if i % 2 else HttpStream)(live.ports[PORT], "/live/cam.flv"))
        time.sleep(0.03)
    threads = [threading.Thread(target=player.read, args=(4,)) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    publisher.stop()
    for player in players:
        player.close()
        flags, tags = read_tags(player.body)
        assert flags == 5
        assert_gapless(tags)
        assert [t for t in tags if t.type == VIDEO and not t.is_sequence_header()][0].timestamp <= 40


@pytest.mark.parametrize("name,flags", [("video", 1), ("audio", 4)])
def test_the_flv_header_announces_the_kinds(server, clip, name, flags):
    live = server(FLV)
    publisher = publish(live, clip, name=name)
    with HttpStream(live.ports[PORT], "/live/cam.flv") as player:
        player.read_until(lambda body: count_tags(body) > 60)
    publisher.stop()
    got, tags = read_tags(player.body)
    assert got == flags
    assert {t.type for t in tags} - {SCRIPT} == {VIDEO if flags == 1 else AUDIO}


def test_kinds_that_were_not_announced_are_dropped(server, clip):
    live = server("http_remux { enabled on; mount [vhost]/[app]/[stream].flv; guess_has_av off; has_video off; drop_if_not_match on; }")
    publisher = publish(live, clip)
    with HttpStream(live.ports[PORT], "/live/cam.flv") as player:
        player.read_until(lambda body: count_tags(body) > 60)
    publisher.stop()
    flags, tags = read_tags(player.body)
    assert flags == 4
    assert {t.type for t in tags} <= {AUDIO, SCRIPT}


def test_websocket_speaks_and_listens(server, clip):
    live = server(FLV)
    publisher = publish(live, clip)
    with WebSocketStream(live.ports[PORT], "/live/cam.flv") as player:
        assert player.accepted
        player.read_until(lambda body: count_tags(body) > 20)
        player.send_frame(9, b"are you there")
        player.send_frame(1, b"this is of no interest")
        player.read_until(lambda _: player.pongs)
        assert player.pongs == [b"are you there"]
        publisher.stop()
        player.read(15)
        assert player.ended and player.close_code == 1000
        _, tags = read_tags(player.body)
        assert_gapless(tags)


def test_websocket_frames_that_lie_end_only_their_own_connection(server, clip):
    live = server(FLV)
    publisher = publish(live, clip)
    with WebSocketStream(live.ports[PORT], "/live/cam.flv") as good:
        for lie in (b"\x82\x05hello", b"\x82\xff" + b"\xff" * 12, b"\xf2\x80\0\0\0\0", b"\x89\xfe\x01\x00\0\0\0\0", b"\x83\x80\0\0\0\0"):
            with WebSocketStream(live.ports[PORT], "/live/cam.flv") as bad:
                bad.socket.sendall(lie)
                bad.read(10)
                assert bad.ended, lie
        good.read_until(lambda body: count_tags(body) > 50)
        _, tags = read_tags(good.body)
        assert_gapless(tags)
    publisher.stop()
    live.assert_alive()


def leaps_of(body: bytes) -> list:
    """What came next where video is missing."""
    video = [t for t in read_tags(body)[1] if t.type == VIDEO and not t.is_sequence_header()] if body else []
    return [b for a, b in zip(video, video[1:]) if b.timestamp - a.timestamp > 100]


def test_a_slow_player_jumps_and_gets_whole_tags(server, clip):
    live = server(FLV + "play { queue_length 3; }")
    publisher = publish(live, clip, name="fat")
    with HttpStream(live.ports[PORT], "/live/cam.flv", receive_buffer=4096) as slow, \
            HttpStream(live.ports[PORT], "/live/cam.flv") as quick:
        quick.read(12)
        slow.read_until(lambda body: leaps_of(body), 20)
        for player in (slow, quick):
            flags, tags = read_tags(player.body)
            assert flags == 5 and len(tags) > 10
        assert_gapless(read_tags(quick.body)[1])
        leaps = leaps_of(slow.body)
        assert leaps and all(tag.is_key_frame() for tag in leaps)
    publisher.stop()


@pytest.mark.parametrize("ending,name", [("mp3", "basic"), ("aac", "mp3")])
def test_audio_that_the_ending_does_not_hold_is_refused(server, clip, ending, name):
    live = server(f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].{ending}; }}")
    with HttpStream(live.ports[PORT], f"/live/cam.{ending}") as early:
        publisher = publish(live, clip, name=name)
        players = [early]
        for _ in range(20):  # wherever in a GOP they come in
            players.append(HttpStream(live.ports[PORT], f"/live/cam.{ending}"))
            time.sleep(0.05)
        for player in players:
            player.read(15)
            assert player.ended and player.body == b""
            player.close()
    publisher.stop()
    live.wait_log(f"the stream's audio is not {ending.upper()}")


def test_a_takeover_does_not_end_players(server, clip):
    live = server(FLV + "publish { takeover on; }")
    first = publish(live, clip)
    with HttpStream(live.ports[PORT], "/live/cam.flv") as player:
        player.read(2)
        second = publish(live, clip)
        player.read(3)
        assert not player.ended
    first.stop()
    second.stop()


def test_video_alone_at_a_low_rate_begins_with_its_first_frames(server, clip):
    """At one frame in five seconds, ten packets take 40 s."""
    live = server(FLV + "publish { normal_timeout 60000; }")
    video = [tag.payload for tag in read_flv(clip("basic")) if tag.type == VIDEO][:3]  # a sequence header and two frames
    with RtmpClient(live.ports["rtmp"]) as publisher, HttpStream(live.ports[PORT], "/live/cam.flv") as stream:
        publisher.publish("cam")
        for number, payload in enumerate(video):
            publisher.send_message(VIDEO, payload, max(0, number - 1) * 5000)
        tags = read_tags(stream.read_until(lambda body: count_tags(body, VIDEO) >= len(video)))[1]
        assert [tag.body for tag in tags if tag.type == VIDEO] == video


def test_a_posted_flv_is_a_stream_like_any_other(server, clip):
    live = server(FLV, root=CASTER)
    with post_flv(live, clip("basic")):
        wait_playable(live.url("posted"))
        rtmp = play_check.play(live.url("posted"), 5)
        flv = play_check.play(http_url(live, "/live/posted.flv"), 5)
        taken = Publisher(live.ports["rtmp"], "posted", clip("basic"))
        assert taken.status["level"] == "error", "somebody publishes it already"
        with HttpStream(live.ports["caster"], "/live/posted.flv", {"Transfer-Encoding": "chunked"}, method="POST") as second:
            assert second.status == 409
    assert rtmp.problems() == [] and flv.problems() == []
    live.wait_log("cleanup when unpublish, url=/live/posted")


def test_a_posted_body_of_another_format_is_refused(server):
    live = server(FLV, root=CASTER)
    for path, method, status in (("/live/x.flv", "GET", 405), ("/x.flv", "POST", 404), ("/live/x.ts", "POST", 404)):
        with HttpStream(live.ports["caster"], path, {"Transfer-Encoding": "chunked"}, method=method) as bad:
            assert bad.status == status, path
    stream = socket.create_connection(("127.0.0.1", live.ports["caster"]), timeout=5)
    stream.sendall(b"POST /live/x.flv HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" + b"this is not a movie!" + b"\r\n")
    answer = b""
    while data := stream.recv(4096):
        answer += data
    stream.close()
    assert answer.startswith(b"HTTP/1.1 400 ")
    live.wait_log("cleanup when unpublish, url=/live/x")
    live.assert_alive()


def test_websocket_carries_a_transport_stream_too(server, clip):
    live = server("http_remux { enabled on; mount [vhost]/[app]/[stream].ts; }")
    publisher = publish(live, clip)
    with WebSocketStream(live.ports[PORT], "/live/cam.ts") as player:
        assert player.accepted
        player.read_until(lambda body: len(body) > 100_000)
    publisher.stop()
    assert len(player.body) > 50_000 and len(player.body) % 188 == 0
    assert all(player.body[at] == 0x47 for at in range(0, len(player.body), 188))


def test_https_serves_the_api_and_streams_with_a_certificate_of_its_own_making(server, clip):
    """Nothing is configured beside the switch, so the pair is made; the log names its fingerprint, which the connection must have."""
    live = server(FLV)
    text = live.conf_path.read_text()
    for block, port in (("http_api", "api"), ("http_server", "http")):
        head = f"{block} {{ enabled on; "
        assert head in text
        text = text.replace(head, head + f"https {{ enabled on; listen 127.0.0.1:${port}s; }} ")
    live.write_conf(text)
    live.stop()
    live.start()
    seen = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", live.ports["apis"])))
    fingerprint = hashlib.sha256(seen).hexdigest()
    live.wait_log("fingerprint")
    logged = [line for line in live.log().splitlines() if "fingerprint" in line]
    assert logged and fingerprint in logged[-1].replace(":", "").lower()
    anyone = ssl._create_unverified_context()  # pylint: disable=protected-access
    with urllib.request.urlopen(f"https://127.0.0.1:{live.ports['apis']}/api/v1/versions", context=anyone, timeout=5) as answer:
        assert json.load(answer)["code"] == 0
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        wait_playable(live.url("cam"))
        got = play_check.play(f"https://127.0.0.1:{live.ports['https']}/live/cam.flv", 5)
    assert got.problems() == []


def head_vhost(name: str, hooks: str, more: str) -> str:
    return f"vhost {name} {{ {hooks} hls {{ enabled on; hls_path $folder/html; }} dash {{ enabled on; dash_path $folder/html; }} {more} }}\n"


@pytest.mark.one_worker("HEAD makes no pull: a master playlist says what its worker knows of the stream")
def test_head_makes_no_player_and_no_callback(server, clip):
    with HookServer() as hooks:
        called = f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; on_stop {hooks.url('/on_stop')}; }}"
        endings = ("flv", "ts", "aac", "mp3")
        vhosts = "".join(head_vhost(f"{one}.test", called, f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].{one}; }}")
                         for one in endings)
        closed = head_vhost("closed.test", called, f"security {{ enabled on; deny play all; }} {FLV}")
        live = server(root=vhosts + closed)

        def head(path: str, vhost: str) -> HttpStream:
            with HttpStream(live.ports[PORT], f"{path}?vhost={vhost}", method="HEAD") as answer:
                return answer

        with FfmpegPublisher(live.url("cam?vhost=flv.test"), clip("basic")):
            wait_until(lambda: head("/live/cam.mpd", "flv.test").status == 200, 40, "an MPD")
            for _ in range(3):
                types = {one: (answer.status, answer.headers["content-type"]) for one in endings
                         for answer in [head(f"/live/cam.{one}", f"{one}.test")]}
                assert types == {"flv": (200, "video/x-flv"), "ts": (200, "video/MP2T"), "aac": (200, "audio/x-aac"), "mp3": (200, "audio/mpeg")}
                playlist = head("/live/cam.m3u8", "flv.test")
                assert playlist.status == 200 and playlist.headers["content-type"] == "application/vnd.apple.mpegurl"
                assert head("/live/cam.flv", "closed.test").status == 403
                assert head("/live/cam.m3u8", "closed.test").status == 403
            assert [client["type"] for client in live.api("/api/v1/clients/")["clients"]] == ["fmle-publish"]
            # The same address played: its call is the first one.
            with HttpStream(live.ports[PORT], "/live/cam.m3u8?vhost=flv.test") as player:
                assert player.status == 200 and player.headers["content-length"] == playlist.headers["content-length"]
            hooks.wait_for("on_play")
            assert [event.action for event in hooks.events] == ["on_play"]
            assert [client["type"] for client in live.api("/api/v1/clients/")["clients"]] == ["fmle-publish", "hls-play"]


def test_video_that_comes_late_is_in_the_flv_header(server):
    live = server(FLV)
    with RtmpClient(live.ports["rtmp"]) as publisher:
        publisher.publish("cam")
        publisher.send_message(VIDEO, bytes.fromhex("17000000000164001fffe1000467640028010004 68ee3cb0"))
        publisher.send_message(AUDIO, bytes.fromhex("af001210"))
        for i in range(20):
            publisher.send_message(AUDIO, bytes.fromhex("af01211004"), timestamp=23 * i)
        with HttpStream(live.ports[PORT], "/live/cam.flv") as player:
            got = player.read_until(lambda body: len(body) >= 13)
            assert got[:3] == b"FLV" and got[4] == 5
            publisher.send_message(VIDEO, bytes.fromhex("1701000000 00000002 65aa"), timestamp=500)
            player.read_until(lambda body: bytes.fromhex("1701000000 00000002 65aa") in body)
