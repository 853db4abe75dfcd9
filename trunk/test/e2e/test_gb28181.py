"""GB28181 cameras, made by hand and by GStreamer's mpegpsmux, over TCP and UDP: what they send plays as RTMP, FLV, HLS, low-latency HLS and
WHEP without decode errors, in step. Beside it: the API of SIP servers, sessions that nobody connects to, strangers, and bytes that are no program stream."""

import concurrent.futures
import contextlib
import json
import random
import re
import socket
import subprocess
import time
import urllib.parse

import play_check
import pytest
from every_form import RTC, fixture_long_clip, out_of_step, problems_of_parts, whep_out_of_step  # noqa: F401
from gb_device import AUDIO, VIDEO, Camera, GbApi, Sender, framed, shuffled, timed
from live_server import free_port, installed, wait_until
from transport_stream import STEP_MS

ID, SSRC = "34020000001320000001", 47_190_001
BUSY, INVALID = 1028, 4006
VHOST = """hls { enabled on; hls_fragment 2; hls_window 20; hls_path $folder/hls; }
    http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"""
LOW_LATENCY = VHOST.replace("hls_fragment 2;", "hls_ll on; hls_fragment 2;") + " rtc { enabled on; rtmp_to_rtc on; }"


def start(server, more: str = ""):
    port = free_port()
    live = server(VHOST, root=f"stream_caster {{ enabled on; caster gb28181; listen 127.0.0.1:{port}; "
                              f"output rtmp://127.0.0.1/live/[stream]; {more} }}")
    return live, GbApi(live), port


def is_published(live, stream: str = ID) -> bool:
    return any(one["name"] == stream and one["publish"]["active"] for one in live.api("/api/v1/streams?count=99")["streams"])


def wait_published(live, stream: str = ID) -> None:
    wait_until(lambda: is_published(live, stream), 30, lambda: f"{stream} is published: {live.log()}")


def http(live, path: str) -> str:
    return f"http://127.0.0.1:{live.ports['http']}/live/{path}"


def hls(live, stream: str = ID, tracks: int = 2) -> str:
    url = http(live, f"{stream}.m3u8")

    def probed() -> int:
        done = subprocess.run(["ffprobe", "-v", "quiet", "-show_entries", "stream=codec_name", "-of", "json", url], capture_output=True, text=True,
                              timeout=40, check=False)
        return len(json.loads(done.stdout or "{}").get("streams", []))
    wait_until(lambda: probed() >= tracks, 40, "the list has segments", 0.3)
    return url


def beside(*calls) -> list:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


def play_all(*urls: str, seconds: float = 4) -> list:
    return beside(*(lambda url=url: play_check.play(url, seconds) for url in urls))


def test_a_camera_over_tcp_plays_over_every_protocol(server, clip):
    live, api, port = start(server)
    assert api.publish(ID, SSRC) == {"code": 0, "port": port, "is_tcp": True}
    with Sender(timed(Camera(clip("basic"), audio="alaw")), port):
        wait_published(live)
        played = play_all(live.url(ID), http(live, f"{ID}.flv"), hls(live))
        client = next(one for one in live.api("/api/v1/clients/")["clients"] if one["publish"])
        session = api.sessions()[0]
        assert api.publish(ID, 1)["code"] == BUSY and api.publish("other", SSRC)["code"] == BUSY
    assert [one.problems() for one in played] == [[], [], []]
    assert {one.audio.codec for one in played} == {"aac"}, "G.711 is converted"
    assert client["type"] == "gb28181-publish" and client["ip"] == "127.0.0.1" and client["recv_bytes"] > 100_000
    assert client["gb28181"]["ssrc"] == SSRC and client["gb28181"]["lost_frames"] == 0 and client["gb28181"]["resyncs"] == 0
    assert (session["id"], session["ssrc"], session["state"], set(session["codecs"].split())) == (ID, str(SSRC), "publishing", {"H264", "G711A"})
    wait_until(lambda: not api.sessions() and not is_published(live), 5, "the session ends with the connection")
    assert api.publish(ID, SSRC)["code"] == 0


@pytest.mark.parametrize("transport", [pytest.param("tcp", marks=pytest.mark.long), "udp"])
def test_every_form_of_a_camera_is_in_step(server, clip, aiortc, tmp_path, transport):
    port, source = free_port(), clip("basic")
    live = server(LOW_LATENCY, root=f"stream_caster {{ enabled on; caster gb28181; listen 127.0.0.1:{port}; output rtmp://127.0.0.1/live/[stream]; }}{RTC}")
    assert GbApi(live).publish("cam", SSRC, transport=transport)["code"] == 0
    with Sender(timed(Camera(source)), port, udp=transport == "udp"):
        wait_published(live, "cam")
        urls = {"rtmp": live.url("cam"), "flv": http(live, "cam.flv"), "low-latency hls": hls(live, "cam")}
        played = beside(*(lambda url=url: play_check.play(url, 4).problems() for url in urls.values()),
                        *(lambda url=url: out_of_step(url, source, tmp_path) for url in urls.values()),
                        lambda: whep_out_of_step(live, source, aiortc), lambda: problems_of_parts(urls["low-latency hls"]))
    assert played[:3] == [[], [], []], dict(zip(urls, played))
    assert max(played[3:7]) <= STEP_MS, dict(zip([*urls, "whep"], played[3:7]))
    assert played[7] == ""


def test_cameras_over_udp_with_reordering_hevc_and_without_maps(server, clip):
    live, api, port = start(server)
    cameras = {"hevc": Camera(clip("basic"), video="hevc", maps=False, ssrc=1), "unsized": Camera(clip("basic"), sized=False, ssrc=2),
               "law": Camera(clip("basic"), audio="mulaw", types={VIDEO: 0x1B, AUDIO: 0x91}, ssrc=3)}
    for name, camera in cameras.items():
        assert api.publish(name, camera.ssrc, transport="udp") == {"code": 0, "port": port, "is_tcp": False}
    with contextlib.ExitStack() as stack:
        for camera in cameras.values():
            stack.enter_context(Sender(shuffled(timed(camera)), port, udp=True))
        for name in cameras:
            wait_published(live, name)
        played = play_all(hls(live, "hevc"), http(live, "unsized.flv"), live.url("law"))
        links = [one["gb28181"] for one in live.api("/api/v1/clients/")["clients"] if one["publish"]]
    assert [one.problems() for one in played] == [[], [], []]
    assert [one.video.codec for one in played] == ["hevc", "h264", "h264"]
    assert [one["lost_packets"] for one in links] == [0, 0, 0]


def test_this_server_connects_to_an_active_device(server, clip):
    live, api, _ = start(server)
    with socket.create_server(("127.0.0.1", 0)) as device:
        address = "127.0.0.1:%d" % device.getsockname()[1]
        assert api.publish(ID, SSRC)["code"] == 0 and api.close(ID) == 200
        assert api.publish(ID, SSRC, transport="tcp_active", address=address)["code"] == 0
        device.settimeout(10)
        connection = device.accept()[0]
        with Sender(timed(Camera(clip("basic"))), 0, taken=connection):
            wait_published(live)
            played = play_check.play(http(live, f"{ID}.flv"), 3)
            assert api.close(ID) == 200
            wait_until(lambda: not is_published(live), 5, "DELETE ends the stream")
    assert played.problems() == []


def test_any_worker_opens_and_lists_sessions(server, clip):
    port = free_port()
    live = server(VHOST, root=f"workers 2; stream_caster {{ enabled on; caster gb28181; listen 127.0.0.1:{port}; }}")
    api = GbApi(live)
    for number in range(6):  # each call reaches one of the workers
        assert api.publish(f"c{number}", number)["code"] == 0
        assert [one["id"] for one in api.sessions()] == [f"c{one}" for one in range(number + 1)]
    assert [api.close(f"c{number}") for number in range(5)] == [200] * 5
    with Sender(timed(Camera(clip("basic"), ssrc=5)), port):
        wait_published(live, "c5")
        played = play_all(*[http(live, "c5.flv")] * 3, seconds=2)
    assert [one.problems() for one in played] == [[], [], []]


@pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer (install-packages.sh players)")
def test_program_streams_of_gstreamer_over_tcp_and_udp(server, clip, long_clip, aiortc, tmp_path):
    port, source = free_port(), clip("basic")
    live = server(LOW_LATENCY, root=f"stream_caster {{ enabled on; caster gb28181; listen 127.0.0.1:{port}; output rtmp://127.0.0.1/live/[stream]; }}{RTC}")
    api = GbApi(live)
    line = (f"filesrc location={long_clip} ! flvdemux name=d d.video ! queue ! h264parse config-interval=-1 ! mpegpsmux name=m "
            "d.audio ! queue ! aacparse ! m. m. ! filesink location=/dev/stdout")
    stream = subprocess.run(["gst-launch-1.0", "-q", *line.split()], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True).stdout

    def packs(camera: Camera):
        """By the clock of each pack."""
        for pack in re.split(rb"(?=\x00\x00\x01\xba)", stream)[1:]:
            word = int.from_bytes(pack[4:10], "big")
            ticks = (word >> 43 & 7) << 30 | (word >> 27 & 0x7FFF) << 15 | word >> 11 & 0x7FFF
            yield ticks / 90_000, camera.rtp(ticks, pack)

    def from_zero(source):
        first = None
        for seconds, packets in source:
            first = seconds if first is None else first
            yield seconds - first, packets
    for name, ssrc, transport in (("cam", 1, "tcp"), ("udp", 2, "udp")):
        assert api.publish(name, ssrc, transport=transport)["code"] == 0
    with Sender(from_zero(packs(Camera(source, ssrc=1))), port), Sender(from_zero(packs(Camera(source, ssrc=2))), port, udp=True):
        wait_published(live, "cam")
        wait_published(live, "udp")
        urls = [live.url("cam"), http(live, "udp.flv"), hls(live, "cam"), hls(live, "udp")]
        problems, steps = beside(lambda: [one.problems() for one in play_all(*urls)],
                                 lambda: [*beside(*(lambda url=url: out_of_step(url, source, tmp_path) for url in urls)), whep_out_of_step(live, source, aiortc)])
    assert problems == [[]] * 4
    assert max(steps) <= STEP_MS, steps


def test_sessions_that_no_device_connects_to_are_released(server):
    live, api, _ = start(server, "media_connect_timeout 0.5;")
    began = time.monotonic()
    for number in range(50):
        assert api.publish(f"c{number}", number)["code"] == 0
    wait_until(lambda: not api.sessions(), 10, api.sessions)
    assert time.monotonic() - began >= 0.5
    assert api.publish("c0", 0)["code"] == 0 and api.close("c0") == 200 and api.close("c0") == 404
    assert "no device has sent media for id=c0 in 500 ms" in live.log()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"id":"a"}', b'{"id":1,"ssrc":"1"}', b'{"id":"a","ssrc":1}', b'{"id":"a","ssrc":"1x"}',
                                  b'{"id":"a/b","ssrc":"1"}', b'{"id":"","ssrc":"1"}', b'{"id":"a","ssrc":"1","transport":"tcp_active"}'])
def test_bad_requests_have_a_code(server, body):
    _, api, _ = start(server)
    status, answer = api.call("/gb/v1/publish/", "POST", body)
    assert status == 200 and answer["code"] == INVALID and api.sessions() == []


def closed_within(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    with contextlib.suppress(ConnectionError):
        return connection.recv(1) == b""
    return True


def test_somebody_elses_packets_and_other_bytes_cost_the_camera_nothing(server, clip):
    live, api, port = start(server)
    camera, noise = Camera(clip("basic")), random.Random(5)
    assert api.publish(ID, SSRC)["code"] == 0 and api.publish("udp", 2, transport="udp")["code"] == 0
    with Sender(timed(camera), port), Sender(timed(Camera(clip("basic"), ssrc=2)), port, udp=True):
        wait_published(live)
        wait_published(live, "udp")
        rtp = framed(Camera(clip("basic")).rtp(0, b"\x00\x00\x01\xba" + bytes(50)))
        strangers = [rtp, b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00" * 40, b"\xff" * 200, noise.randbytes(5_000)]
        connections = [socket.create_connection(("127.0.0.1", port)) for _ in strangers]
        for connection, data in zip(connections, strangers):
            connection.sendall(data)
        with socket.socket(type=socket.SOCK_DGRAM) as forger:
            forger.connect(("127.0.0.1", port))
            for number in range(200):
                forger.send(Camera(clip("basic"), ssrc=2).rtp(0, noise.randbytes(900))[0] if number % 2 else noise.randbytes(900))
        played = play_all(live.url(ID), http(live, "udp.flv"), seconds=3)
        assert [closed_within(connection, 10) for connection in connections] == [True] * len(strangers)
        for connection in connections:
            connection.close()
        sessions = api.sessions()
    assert [one.problems() for one in played] == [[], []]
    assert {one["state"] for one in sessions} == {"publishing"}


def test_a_camera_that_sends_garbage_between_its_packets_goes_on(server, clip):
    live, api, port = start(server)
    noise = random.Random(7)
    assert api.publish(ID, SSRC)["code"] == 0
    camera = Camera(clip("basic"))
    with socket.create_connection(("127.0.0.1", port)) as connection:
        sent = 0
        for seconds, packets in timed(camera):
            data = framed(packets)
            if sent % 10 == 5:
                data += noise.randbytes(300)  # between packets of RTP
            connection.sendall(data)
            sent += 1
            if seconds > 4:
                break
        wait_published(live)
        link = wait_until(lambda: next((one["gb28181"] for one in live.api("/api/v1/clients/")["clients"]
                                        if one["publish"] and one["gb28181"]["packs"] >= sent - 2), None), 10, "every pack is read")
    assert link["lost_frames"] == 0 or link["resyncs"] > 0


def test_a_platform_opens_sessions_by_the_calls_of_zlmediakit(server, clip):
    live, api, port = start(server, "zlm_api { enabled on; secret s3cret; }")

    def call(name: str, **parameters) -> dict:
        status, answer = api.call(f"/index/api/{name}RtpServer?{urllib.parse.urlencode({'secret': 's3cret', **parameters})}")
        assert status == 200, answer
        return answer
    own = call("open", port=0, tcp_mode=1, stream_id="own")
    assert own["code"] == 0 and own["port"] not in (0, port)
    assert call("open", port=0, tcp_mode=0, stream_id="shared", ssrc="0000000009") == {"code": 0, "port": port}
    assert call("open", port=0, tcp_mode=1, stream_id="own")["code"] == -1 and call("list", secret="x")["code"] == -100
    assert {one["stream_id"]: one["port"] for one in call("list")["data"]} == {"own": own["port"], "shared": port}
    with Sender(timed(Camera(clip("basic"), ssrc=123)), own["port"]), Sender(timed(Camera(clip("basic"), ssrc=9)), port, udp=True):
        wait_published(live, "own")
        wait_published(live, "shared")
        played = play_all(http(live, "own.flv"), live.url("shared"), seconds=3)
        assert call("close", stream_id="own") == {"code": 0, "hit": 1} and call("close", stream_id="none") == {"code": 0, "hit": 0}
        wait_until(lambda: not is_published(live, "own"), 5, "closeRtpServer ends the stream")
    assert [one.problems() for one in played] == [[], []]


def test_without_the_setting_there_are_no_such_calls(server):
    _, api, _ = start(server)
    assert api.call("/index/api/listRtpServer?secret=")[0] == 404
