"""Native pulls of cameras: UDP and TCP, TLS, on demand, their state in the API, and each quirk of real cameras, by a camera of ours (camera.py)."""

import socket
import statistics
import subprocess
import time
from types import SimpleNamespace

import pytest
from camera import FPS, Camera, Habits, Raw, access_units, rtp
from live_server import installed, wait_until
from pull_stage import Viewer, conf_of, ingest, memory_kib, metrics_of, plays, pull, server_with, video_problems, wait_error, wait_running
from rtmp_client import Player
from rtsp_stage import Client, clients, rtsp_url, start, streams, wait_published

pytestmark = pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")

DIGEST = 'Digest realm="cam", nonce="{nonce}"'
USER = ("admin", "pass:word")
IN_URL = "admin:pass%3Aword@"


# State, metrics


def test_the_state_of_a_pull_is_in_the_api(server):
    with Camera(Habits(audio=True)) as camera:
        live = pull(server, camera, user="u:secret@")
        wait_running(live)
        one = wait_until(lambda: (found := ingest(live))["packets"] > 20 and found, 20, "packets are counted")
        assert (one["vhost"], one["stream_url"], one["transport"], one["native"], one["connected"]) == ("__defaultVhost__", "/live/door", "tcp", True, True)
        assert one["peer"] == f"127.0.0.1:{camera.port}" and one["input"] == camera.url() and one["lost_packets"] == 0 and one["next_attempt_ms"] is None
        wait_until(lambda: ingest(live)["tracks"] == "H264 G711A" or ingest(live)["tracks"].count(" ") == 1, 20, lambda: ingest(live)["tracks"])
        camera.hang_up()
        after = wait_until(lambda: (found := ingest(live))["restarts"] >= 1 and found["state"] == "running" and found, 30, lambda: ingest(live))
        assert after["packets"] > one["packets"] and after["last_error"]
        metrics = metrics_of(live)
        assert 'millrace_ingests{state="running"} 1' in metrics and "millrace_ingest_restarts_total 1" in metrics
        assert "secret" not in live.log() and "secret" not in str(ingest(live))


def test_pauses_between_attempts_grow(server):
    with socket.create_server(("127.0.0.1", 0)) as dead:
        port = dead.getsockname()[1]
    live = server_with(server, conf_of(f"rtsp://127.0.0.1:{port}/x"))
    one = wait_until(lambda: (found := ingest(live))["state"] == "waiting" and found["next_attempt_ms"] is not None and found, 20, lambda: ingest(live))
    assert not one["connected"] and one["last_error"]
    wait_until(lambda: (found := ingest(live))["state"] == "waiting" and found["next_attempt_ms"] > 1_500, 20, "the second pause is longer")


def test_ffmpeg_ingests_have_a_state_too(server, clip):
    file = f"ingest file {{ enabled on; input {{ type file; url {clip('basic')}; }} ffmpeg {subprocess.check_output(['which', 'ffmpeg'], text=True).strip()}; "
    file += "engine { enabled off; output rtmp://127.0.0.1:[port]/live/file?vhost=[vhost]; } }"
    live = server_with(server, file)
    one = wait_running(live, "file")
    assert not one["native"] and one["transport"] == "ffmpeg" and one["pid"] > 0 and one["stream_url"] == "/live/file"


# UDP


def test_media_comes_over_udp_first(server):
    with Camera(Habits(audio=True)) as camera:
        live = pull(server, camera, options="")
        plays(live)
        assert ingest(live)["transport"] == "udp" and "client_port=" in camera.asked("SETUP")[0].get("transport")
        wait_until(lambda: camera.rtcp, 20, "receiver reports reach the camera")
        assert ingest(live)["lost_packets"] == 0


def test_a_camera_that_refuses_udp_is_asked_for_tcp(server):
    with Camera(Habits(udp=False)) as camera:
        live = pull(server, camera, options="")
        plays(live)
        assert ingest(live)["transport"] == "tcp" and camera.connections == 1 and len(camera.asked("SETUP")) == 2


def test_udp_without_packets_becomes_tcp(server):
    with Camera(Habits(sends_udp=False)) as camera:
        live = pull(server, camera, options="")
        plays(live)
        assert ingest(live)["transport"] == "tcp" and ingest(live)["restarts"] == 0 and camera.connections == 2
        live.wait_log("no packet over UDP")
        camera.hang_up()
        wait_until(lambda: camera.connections == 3 and ingest(live)["state"] == "running", 30, "UDP is not tried again")
        assert "interleaved" in camera.asked("SETUP")[-1].get("transport")


def test_media_from_another_port_needs_an_option(server):
    with Camera(Habits(udp_from="another")) as camera:
        live = pull(server, camera, options="transport udp;")
        wait_until(lambda: camera.asked("PLAY"), 20, "it plays")
        live.wait_log("transport=udp")
        time.sleep(1)  # of packets
        assert ingest(live)["packets"] == 0
    with Camera(Habits(udp_from="another")) as camera:
        live = pull(server, camera, options="transport udp; any_port on;")
        plays(live)
    with Camera(Habits(udp_from="silent")) as camera:
        live = pull(server, camera, options="transport udp;")
        plays(live)


def test_strangers_do_not_reach_the_stream(server):
    with Camera() as camera, socket.socket(type=socket.SOCK_DGRAM) as stranger:
        live = pull(server, camera, options="transport udp;")
        wait_running(live)
        port = int(camera.asked("SETUP")[0].get("transport").split("client_port=")[1].split("-")[0])
        for i in range(200):
            stranger.sendto(rtp(i, i * 3600, b"\x65" + b"\0" * 400, True), ("127.0.0.1", port))
        assert video_problems(live.url("door")) == []
        assert ingest(live)["lost_packets"] == 0


def test_the_ports_are_of_the_range(server):
    with Camera(Habits(audio=True)) as camera:
        first = camera.port // 2 * 2 % 10_000 + 40_000
        live = pull(server, camera, options=f"transport udp; rtp_port_min {first}; rtp_port_max {first + 9};")
        wait_running(live)
        ports = [int(one.get("transport").split("client_port=")[1].split("-")[0]) for one in camera.asked("SETUP")]
        assert len(set(ports)) == 2 and all(first <= port <= first + 8 and port % 2 == 0 for port in ports)


# On demand


def test_a_pull_on_demand_lives_with_its_viewers(server):
    with Camera(Habits(units=access_units())) as camera:
        live = pull(server, camera, options="transport tcp; on_demand on;")
        wait_until(lambda: ingest(live)["state"] == "idle", 20, "it is idle")
        assert camera.connections == 0
        began = time.monotonic()
        player = Player(live.ports["rtmp"], "door")
        player.start()
        wait_until(lambda: player.messages, 20, "the first message", 0.001)
        print(f"first byte of media after {(time.monotonic() - began) * 1000:.0f} ms")
        with Viewer(live.url("door")) as viewer:
            viewer.wait_more(1)
            player.stop()
            with Viewer(live.url("door")) as second:
                second.wait_more()
            viewer.wait_more()
            assert camera.connections == 1
        left = time.monotonic()
        wait_until(lambda: ingest(live)["state"] == "idle", 30, "it stops")
        assert 8 < time.monotonic() - left
        wait_until(lambda: not streams(live), 20, "the stream ends")
        for url in (f"http://127.0.0.1:{live.ports['http']}/live/door.flv", f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/door"):
            assert video_problems(url) == []
        assert camera.connections == 2


def first_media_s(server_there, url: str) -> float:
    began = time.monotonic()
    with Client(server_there) as client:
        client.play(url)
        client.skip_frame()
    return time.monotonic() - began


def test_the_first_media_of_a_pull_on_demand_comes_at_once(server):
    """Beside the time that the camera takes on this machine; the best of five, because another program may have the CPU."""
    names = [f"door{number}" for number in range(5)]
    with Camera() as camera:
        live = server_with(server, "".join(conf_of(camera.url(), name, "transport tcp; on_demand on;") for name in names))
        wait_until(lambda: all(ingest(live, name)["state"] == "idle" for name in names), 20, "nothing is pulled yet")
        direct = [first_media_s(SimpleNamespace(ports={"rtsp": camera.port}), camera.url()) for _ in names]
        pulled = [first_media_s(live, rtsp_url(live, name)) for name in names]
        assert min(pulled) <= min(direct) + 0.5, (pulled, direct)


@pytest.mark.long
def test_the_first_media_on_demand_comes_within_half_a_second(server):
    """The median of twenty, each the first viewer of its stream."""
    names = [f"door{number}" for number in range(20)]
    with Camera() as camera:
        live = server_with(server, "".join(conf_of(camera.url(), name, "transport tcp; on_demand on;") for name in names))
        wait_until(lambda: all(ingest(live, name)["state"] == "idle" for name in names), 20, "nothing is pulled yet")
        took = sorted(first_media_s(live, rtsp_url(live, name)) for name in names)
        print("first media after", [f"{one * 1000:.0f} ms" for one in took])
        assert statistics.median(took) <= 0.5, took


def test_a_stream_on_demand_that_cannot_be_pulled_is_refused(server):
    with Camera(Habits(respond=lambda _, request: b"RTSP/1.0 404 Not Found\r\nCSeq: " + request.get("cseq").encode() + b"\r\n\r\n"
                       if request.method == "DESCRIBE" else None)) as camera:
        live = pull(server, camera, options="transport tcp; on_demand on;")
        played = subprocess.run(["ffmpeg", "-v", "error", "-i", live.url("door"), "-t", "1", "-f", "null", "-"], capture_output=True, timeout=60, check=False)
        assert played.returncode != 0
        wait_error(live, "404")


# TLS


def test_over_tls(server, certificate):
    with Camera(certificate=certificate) as camera:
        live = pull(server, camera, options="tls_verify off;")
        plays(live)
        assert ingest(live)["transport"] == "tls"
    with Camera(certificate=certificate) as camera:
        live = pull(server, camera, options="")
        wait_until(lambda: ingest(live)["last_error"], 30, "an unknown certificate is refused")
        assert not camera.requests


# Authentication


@pytest.mark.parametrize("challenges", [
    ('Basic realm="cam"',), (DIGEST,), (DIGEST + ', algorithm="MD5"',), (DIGEST + ", algorithm=MD5-sess",), (DIGEST + ', algorithm=MD5-sess, qop="auth"',),
    (DIGEST + ", algorithm=SHA-256",), (DIGEST + ', algorithm=SHA-256, qop="auth,auth-int", opaque="x"',), ('Basic realm="cam"', DIGEST),
    (DIGEST, 'Basic realm="cam"'), (f'Basic realm="cam", {DIGEST}',)], ids=lambda one: " + ".join(one)[:50])
def test_digest_in_all_spellings(server, challenges):
    with Camera(Habits(user=USER, challenges=challenges)) as camera:
        live = pull(server, camera, user=IN_URL)
        wait_running(live)
        given = camera.asked("PLAY")[0].get("authorization")
        assert given.startswith("Digest" if any("Digest" in one for one in challenges) else "Basic")


@pytest.mark.parametrize("form", ["absolute", "path"])
def test_the_uri_of_a_digest_is_tried_in_both_forms(server, form):
    uri = {"absolute": lambda request: request.url, "path": lambda request: "/" + request.url.split("/", 3)[3]}[form]
    with Camera(Habits(user=USER, challenges=(DIGEST,), uri=uri)) as camera:
        live = pull(server, camera, user=IN_URL)
        wait_running(live)


def test_a_stale_nonce_is_replaced(server):
    stale = []

    def respond(camera, request):
        if request.method == "SETUP" and not stale:
            stale.append(request)
            challenge = camera.challenge()[0] + ", stale=true"
            return f"RTSP/1.0 401 Unauthorized\r\nCSeq: {request.get('cseq')}\r\n{challenge}\r\n\r\n".encode()
        return None

    with Camera(Habits(user=USER, challenges=(DIGEST,), respond=respond)) as camera:
        live = pull(server, camera, user=IN_URL)
        wait_running(live)
        assert stale and ingest(live)["restarts"] == 0


def test_wrong_passwords_are_not_tried_for_ever(server):
    with Camera(Habits(user=("admin", "other"), challenges=(DIGEST,))) as camera:
        live = pull(server, camera, user=IN_URL)
        wait_error(live, "refuses the user or the password")
        assert len([one for one in camera.requests if one.get("authorization")]) <= 3 * camera.connections


# Redirects, hostile cameras


def moved(location: str):
    def respond(_, request):
        return f"RTSP/1.0 302 Moved\r\nCSeq: {request.get('cseq')}\r\nLocation: {location}\r\n\r\n".encode() if request.method == "DESCRIBE" else None
    return respond


def test_redirects_are_followed(server):
    with Camera() as target, Camera(Habits(respond=moved(target.url("/other")))) as camera:
        live = pull(server, camera)
        wait_running(live)
        assert target.asked("DESCRIBE")[0].url.endswith("/other")


def test_redirects_to_files_and_to_the_server_itself_are_refused(server):
    with Camera() as first, Camera() as second:
        live = start(server, vhost=conf_of(first.url(), "file", "transport tcp;") + conf_of(second.url(), "self", "transport tcp;"))
        first.habits.respond = moved("file:///etc/passwd")
        second.habits.respond = moved(f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/self")
        first.hang_up()
        second.hang_up()
        wait_error(live, "not an rtsp:// URL", "file")
        wait_error(live, "this server itself", "self")
    with Camera() as endless:
        endless.habits.respond = moved(endless.url())
        live = pull(server, endless)
        wait_error(live, "redirects")


def test_endless_headers_and_bodies_are_refused(server):
    def flood(head: bytes, piece: bytes):
        def respond(camera, request):
            connection = camera._open[-1]  # pylint: disable=protected-access
            try:
                connection.sendall(head)
                while request.method:
                    connection.sendall(piece)
            except OSError:
                raise ValueError("closed") from None
        return respond

    rows = {"headers": (b"RTSP/1.0 200 OK\r\n", b"X-Header: " + b"x" * 1000 + b"\r\n"), "body": (b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 1073741824\r\n\r\n", b"x" * 65536),
            "frames": (b"", b"$\x00\x04\x00" + b"x" * 1024)}
    for name, (head, piece) in rows.items():
        with Camera(Habits(respond=flood(head, piece))) as camera:
            live = pull(server, camera)
            wait_until(lambda: ingest(live)["last_error"], 40, f"{name}: it ends")
            assert memory_kib(live) < 200_000
            live.assert_alive()


# Quirks of the description and of responses

HEAD = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\n"


@pytest.mark.parametrize("change", [
    lambda text: text.replace("o=- 0 0 IN IP4", "o=- -1.5 99999999999999999999999 IN IP4"), lambda text: text.replace("t=0 0", "t=-1 0.5"),
    lambda text: text.replace("o=- 0 0 IN IP4 127.0.0.1", "o=[2001:db8::1] 0"), lambda text: text.replace("s=camera\r\n", ""),
    lambda text: text.replace("t=0 0\r\n", "t=0 0\r\n\r\n"), lambda text: text.replace("a=range:npt=now-", "a=\r\na=range:clock=20200101T000000Z-,20210101T000000Z-"),
    lambda text: text.replace("\r\n", "\n"), lambda text: text + "m=application 0 RTP/AVP 107\r\na=rtpmap:107 vnd.onvif.metadata/90000\r\na=control:trackID=5\r\n",
    lambda text: "m=meta 0 RTP/AVP 99\r\n".join([text, ""]), lambda text: text.replace("a=control:*", "a=control:*\r\na=Media_header:MEDIAINFO=494D4B48"),
    lambda text: text.replace("packetization-mode=1", "packetization-mode=0"), lambda text: text.replace("packetization-mode=1;", "profile-level-id=42001f;"),
    lambda text: text.replace("a=control:trackID=0", "a=control:rtsp://192.168.1.64:554/stream1/trackID=0")],
    ids=["numbers", "times", "brackets", "no name", "blank lines", "empty attribute", "LF", "ONVIF metadata", "m=meta", "Media_header", "mode 0", "no mode",
         "a private address in the control"])
def test_odd_descriptions(server, change):
    with Camera(Habits(sdp=change)) as camera:
        live = pull(server, camera)
        wait_running(live)
        assert all(one.url.startswith(f"rtsp://127.0.0.1:{camera.port}/") for one in camera.requests)


@pytest.mark.parametrize("change", [
    lambda request, lines: [lines[0].replace(" OK", ""), *lines[1:]], lambda request, lines: [one for one in lines if not one.startswith("Content-Base")],
    lambda request, lines: ["Content-Base: garbage" if one.startswith("Content-Base") else one for one in lines],
    lambda request, lines: [one.replace("RTP/AVP/TCP", "RTP/AVP") for one in lines], lambda request, lines: [*lines, "X-Vendor-Header: {}; ;=,"],
    lambda request, lines: [one.replace("CSeq", "cseq").replace("Session", "session") for one in lines]],
    ids=["no reason phrase", "no Content-Base", "a broken Content-Base", "no /TCP", "vendor headers", "lower case"])
def test_odd_responses(server, change):
    with Camera(Habits(change=change)) as camera:
        live = pull(server, camera)
        wait_running(live)


def test_a_content_base_of_another_path_is_given_up(server):
    def respond(_, request):
        if request.method == "SETUP" and "/wrong/" in request.url:
            return f"RTSP/1.0 404 Not Found\r\nCSeq: {request.get('cseq')}\r\n\r\n".encode()
        return None

    with Camera(Habits(respond=respond, change=lambda _, lines: [one.replace("/stream1/", "/wrong/") if one.startswith("Content-Base") else one for one in lines])) as camera:
        live = pull(server, camera)
        wait_running(live)
        assert len(camera.asked("SETUP")) == 2


def test_headers_are_in_the_order_that_devices_expect(server):
    with Camera(Habits(audio=True)) as camera:
        live = pull(server, camera)
        wait_running(live)
        assert camera.asked("SETUP")[0].names[:2] == ["CSeq", "Transport"] and camera.asked("SETUP")[1].names[:3] == ["CSeq", "Session", "Transport"]


def test_a_query_belongs_to_the_url(server):
    with Camera() as camera:
        live = pull(server, camera, path="/cam?channel=1&subtype=0")
        wait_running(live)
        assert camera.asked("DESCRIBE")[0].url.endswith("/cam?channel=1&subtype=0")


# Keep-alives


def test_the_timeout_of_the_session_is_obeyed(server):
    with Camera(Habits(timeout_s=2)) as camera:
        live = pull(server, camera)
        wait_running(live)
        wait_until(lambda: len(camera.asked("GET_PARAMETER")) >= 3, 20, "keep-alives at 0.8 of 2 s")
        assert camera.asked("GET_PARAMETER")[0].get("session") == "12345678"


@pytest.mark.parametrize("answer", [b"", b"RTSP/1.0 454 Session Not Found\r\n\r\n", b"RTSP/1.0 501 Not Implemented\r\n\r\n"], ids=["none", "454", "501"])
def test_keep_alives_may_fail_while_media_flows(server, answer):
    with Camera(Habits(timeout_s=1, respond=lambda _, request: answer if request.method == "GET_PARAMETER" else None)) as camera:
        live = pull(server, camera)
        wait_running(live)
        wait_until(lambda: len(camera.asked("GET_PARAMETER")) >= 3, 20, "keep-alives")
        assert video_problems(live.url("door"), 2) == [] and camera.connections == 1


# Media


def test_parameter_sets_of_the_description_and_of_the_stream_are_merged(server):
    with Camera(Habits(units=access_units(), packets=lambda turn, packets: [one for one in packets if one[12] & 31 not in (7, 8)])) as camera:
        plays(pull(server, camera))  # in the SDP only
    with Camera(Habits(sets_in_sdp=False)) as camera:
        plays(pull(server, camera))  # in the stream only


def test_changed_parameter_sets_and_another_model(server):
    with Camera(Habits(units=access_units())) as camera:
        live = pull(server, camera)
        wait_running(live)
        with Viewer(live.url("door")) as viewer, Viewer(f"http://127.0.0.1:{live.ports['http']}/live/door.flv") as by_http:
            viewer.wait_more()
            camera.habits.units = access_units("640x360")  # in the stream
            viewer.wait_more(2 * FPS)
            wait_until(lambda: streams(live)["door"]["video"]["width"] == 640, 20, "the new size")
            assert camera.connections == 1
            camera.habits.units = access_units("160x120")  # another model, with another description
            camera.hang_up()
            wait_until(lambda: camera.connections == 2, 30, "it is pulled again")
            viewer.wait_more(2 * FPS)
            by_http.wait_more(FPS)
        wait_until(lambda: streams(live)["door"]["video"]["width"] == 160, 20, "the other model's size")


def test_a_camera_that_stops_in_the_middle_of_a_frame(server):
    with Camera(Habits(stop_after=3 * FPS, packets=lambda turn, packets: [*packets[:-1], Raw(b"$\0\x04\0" + packets[-1][:20])] if turn == 3 * FPS - 1 else packets)) as camera:
        live = pull(server, camera)
        wait_running(live)
        with Viewer(live.url("door")) as viewer, Viewer(f"http://127.0.0.1:{live.ports['http']}/live/door.flv") as by_http:
            wait_until(lambda: camera.connections >= 2, 30, "it is pulled again")
            viewer.wait_more()
            by_http.wait_more()
            assert ingest(live)["restarts"] >= 1


def test_time_that_jumps_by_an_hour(server):
    habits = Habits(timestamp=lambda turn: turn * 3600 + (3600 * 90_000 if turn >= 2 * FPS else 0))
    with Camera(habits) as camera:
        live = pull(server, camera)
        with Viewer(live.url("door")) as viewer:
            viewer.wait_more(4 * FPS)
        assert ingest(live)["restarts"] == 0 and video_problems(live.url("door")) == []


def test_garbage_between_frames(server):
    def packets(turn, made):
        return [Raw(b"\0\xff$\x07garbage$$\r\n$\0"), *made, Raw(b"$\0\0\0")] if turn % 5 == 0 else made

    with Camera(Habits(packets=packets)) as camera:
        live = pull(server, camera)
        plays(live)
        assert ingest(live)["restarts"] == 0 and ingest(live)["lost_packets"] == 0


def test_rtcp_that_makes_no_sense_is_ignored(server):
    def packets(turn, made):
        return [*made, Raw(b"$\x01\0\x07\x80\xc8\0\x06abc"), Raw(b"$\x01\0\x01\x80"), Raw(b"$\x01\0\x1c\x80\xc8\0\x06" + b"\xee" * 24)]

    with Camera(Habits(packets=packets)) as camera:
        live = pull(server, camera)
        plays(live)
        assert ingest(live)["restarts"] == 0


def test_fragments_with_wrong_bits_and_unknown_units(server):
    def packets(turn, made):
        changed = [bytes([*one[:13], one[13] & 0x1F, *one[14:]]) if one[12] & 31 == 28 and i == len(made) - 1 else one for i, one in enumerate(made)]
        return changed

    units = tuple((b"\x7e\x01\x02", *unit) for unit in access_units())  # type 30
    with Camera(Habits(units=units, packets=packets)) as camera:
        live = pull(server, camera)
        plays(live)


def test_the_g711_of_a_camera_becomes_aac(server):
    with Camera(Habits(audio=True)) as camera:
        live = pull(server, camera)
        wait_running(live)
        wait_until(lambda: (audio := streams(live).get("door", {}).get("audio")) and audio["codec"] == "AAC", 20, lambda: streams(live))


def test_without_libavcodec_g711_is_published_as_it_is(server, tmp_path):
    # The dynamic linker takes the first file of that name, and none of these is a library.
    for version in range(58, 66):
        (tmp_path / f"libavcodec.so.{version}").write_text("not a library")
    with Camera(Habits(audio=True)) as camera:
        live = pull(server, camera, environment={"LD_LIBRARY_PATH": str(tmp_path)})
        live.wait_log("G711A cannot be converted to AAC: ", 30)
        wait_until(lambda: streams(live).get("door", {}).get("audio", {}).get("codec") == "Other(G711A)", 20, lambda: streams(live))
        assert live.log().count("It is published unchanged, which few players support") == 1
        assert video_problems(live.url("door")) == []


def test_audio_that_is_announced_as_something_else_does_not_cost_the_video(server):
    change = lambda text: text.replace("RTP/AVP 8", "RTP/AVP 97").replace("a=rtpmap:8 PCMA/8000", "a=rtpmap:97 G726-32/8000")  # noqa: E731
    with Camera(Habits(audio=True, sdp=change)) as camera:
        plays(pull(server, camera))


def test_a_pull_is_a_client(server):
    with Camera() as camera:
        live = pull(server, camera)
        wait_running(live)
        pulled = clients(live, "rtsp-publish")
        assert len(pulled) == 1 and pulled[0]["recv_bytes"] > 0
        wait_published(live, "door")
