"""`access` of the conf beside its table: open streams, where a credential may be, the end of sessions, and conf/access.conf as shipped."""

import base64
import hashlib
import hmac
import json
import re
import signal
import subprocess
import time

import pytest
import rtc_offer
import rtmp_client
from access_site import ACCESS, PORTS, ffmpeg_reads, get, is_published, run, signed, start_ffmpeg, token, user
from live_server import BINARY, ROOT_CONF, TRUNK, LiveServer, Ports, free_udp_ports, wait_until
from players import FfmpegPublisher
from rtsp_stage import Client, Publisher, rtsp_url


def test_open_streams_need_no_token_to_play(server, clip):
    live = server(vhost=ACCESS, root=PORTS)
    with FfmpegPublisher(live.url("open-1?token=" + token(live, "--publish", "live/*")), clip("basic")):
        wait_until(lambda: is_published(live, "open-1"), 20, "the stream is live")
        assert get(live, "/live/open-1.flv")[0] == 200


@pytest.mark.parametrize("scheme", ["token", "signed URL"])
def test_a_session_ends_when_its_permission_expires(server, clip, scheme):
    live = server(vhost=ACCESS, root=PORTS)

    def query(verb: str, lifetime: str) -> str:
        if scheme == "token":
            return "token=" + token(live, f"--{verb}", "live/cam", "--expires", lifetime)
        return signed(live, live.url("cam"), *(["--publish"] if verb == "publish" else []), "--expires", lifetime)

    sender = start_ffmpeg(clip, live.url("cam?" + query("publish", "6s")))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        # The player's permission lasts: it ends with the stream at the latest, the publisher by its own.
        assert get(live, "/live/cam.flv?" + query("play", "1h"))[0] == 200
        wait_until(lambda: sender.poll() is not None, 30, "the publisher is disconnected")
    finally:
        sender.kill()
        sender.wait()
    live.wait_log("its token or signed URL has expired")
    assert not is_published(live, "cam")


def playlist_lines(live: LiveServer, path: str) -> list[str]:
    """Empty before there is a fragment."""
    status, text = get(live, path, limit=100_000)
    assert status in (200, 404), (path, status, text)
    return [line for line in text.splitlines() if line and not line.startswith("#") and status == 200]


def test_a_signed_url_reaches_every_segment(server, clip):
    """The playlists carry the session on; a segment without it is refused."""
    live = server(vhost=ACCESS, root=PORTS)
    sender = start_ffmpeg(clip, live.url("cam?" + signed(live, live.url("cam"), "--publish")))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        query = signed(live, f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8")
        media = playlist_lines(live, f"/live/cam.m3u8?{query}")[0]
        wait_until(lambda: playlist_lines(live, media), 20, "HLS has a fragment")
        segment = "/live/" + playlist_lines(live, media)[0]
        assert get(live, segment)[0] == 200
        assert get(live, segment.partition("?")[0])[0] == 403
        assert ffmpeg_reads(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8?{query}")
        mpd = f"http://127.0.0.1:{live.ports['http']}/live/cam.mpd?{query}"
        wait_until(lambda: get(live, f"/live/cam.mpd?{query}")[0] == 200, 20, "DASH has a segment")
        assert ffmpeg_reads(mpd)
    finally:
        sender.kill()
        sender.wait()


def hashed(folder, password: str) -> str:
    return run(LiveServer(folder / "hash", "listen 1935;"), "hash", "--sha256", given=password + "\n")


def test_a_name_and_a_password_may_be_in_any_field(server, clip, tmp_path):
    live = server(vhost=ACCESS, root=PORTS + user("alice", hashed(tmp_path, "s3cret/word"), "publish live/cam", "play live/cam"))
    port = live.ports["http"]
    sender = start_ffmpeg(clip, live.url("cam?user=alice&pass=s3cret%2Fword"))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        # Players send a password only after they were asked for it.
        answer = rtc_offer.ask(port, "GET", "/live/cam.flv")
        assert answer.status == 401 and answer.headers["WWW-Authenticate"].startswith("Basic")
        assert ffmpeg_reads(f"http://alice:s3cret%2Fword@127.0.0.1:{port}/live/cam.flv")
        wait_until(lambda: ffmpeg_reads(f"http://alice:s3cret%2Fword@127.0.0.1:{port}/live/cam.m3u8"), 30, "the first segment")
        assert not ffmpeg_reads(f"http://alice:wrong@127.0.0.1:{port}/live/cam.flv")
        assert ffmpeg_reads(f"srt://127.0.0.1:{live.ports['udp_srt']}?streamid=#!::r=live/cam,u=alice,s=s3cret/word,m=request")
        for bearer in ("alice:s3cret/word", token(live, "--play", "live/cam")):
            answer = rtc_offer.post(port, "/rtc/v1/whep/?app=live&stream=cam", rtc_offer.offer("recvonly"), Authorization="Bearer " + bearer)
            assert answer.status == 201, answer.body
            assert get(live, "/live/cam.flv", Authorization="Bearer " + bearer)[0] == 200
        # librtmp sends the URL as it is written.
        got = subprocess.run(["rtmpdump", "-q", "-v", "-r", live.url("cam"), "-t", f"rtmp://alice:s3cret%2Fword@127.0.0.1:{live.ports['rtmp']}/live",
                              "-y", "cam", "-B", "0.5", "-o", str(tmp_path / "got.flv")], capture_output=True, timeout=30, check=False)
        assert (tmp_path / "got.flv").stat().st_size > 10_000, got
        text = live.log() + json.dumps(live.api("/api/v1/clients")) + json.dumps(live.api("/api/v1/streams"))
        assert "s3cret" not in text
    finally:
        sender.kill()
        sender.wait()


def test_a_reload_ends_the_sessions_of_a_user_without_the_right(server, clip, tmp_path):
    alice, bob = (hashed(tmp_path, name) for name in ("alice", "bob"))
    before = ROOT_CONF + PORTS + user("alice", alice, "publish", "play") + user("bob", bob, "publish") + "vhost __defaultVhost__ {" + ACCESS + "}"
    live = server(conf=before)
    senders = [start_ffmpeg(clip, live.url(f"{name}?user={name}&pass={name}")) for name in ("alice", "bob")]
    try:
        for name in ("alice", "bob"):
            wait_until(lambda name=name: is_published(live, name), 20, "the stream is live")
        live.write_conf(before.replace(user("bob", bob, "publish"), user("bob", bob, "play")))
        live.process.send_signal(signal.SIGHUP)
        wait_until(lambda: senders[1].poll() is not None, 20, "the publisher without a right is disconnected")
        live.wait_log("the user does not permit to publish this stream")
        assert senders[0].poll() is None and is_published(live, "alice")
    finally:
        for sender in senders:
            sender.kill()
            sender.wait()


@pytest.mark.alone
def test_the_shipped_conf_makes_its_secret_and_takes_its_tokens(tmp_path, clip):
    """On its own ports: beside other tests they are other ones."""
    ports = Ports()
    text = (TRUNK / "conf" / "access.conf").read_text()
    for port, name in (("1935", "rtmp"), ("127.0.0.1:1985", "api"), ("8080", "http"), ("8000", "udp_rtc"), ("10080", "udp_srt"), ("8554", "rtsp")):
        text, count = re.subn(rf"(listen\s+){re.escape(port)};", rf"\g<1>127.0.0.1:${name};", text)
        assert count == 1, port
    live = LiveServer(tmp_path, text, ports)
    for folder in ("objs/nginx/html",):
        (tmp_path / folder).mkdir(parents=True)
    # Before the first start: the command makes the secret, and the server reads it.
    publish = token(live, "--publish", "live/cam", "--expires", "1h")
    live.start()
    try:
        with FfmpegPublisher(live.url("cam?token=" + publish), clip("basic")):
            wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
            assert get(live, "/live/cam.flv")[0] == 403
            assert get(live, "/live/cam.flv?token=" + token(live, "--play", "live/*"))[0] == 200
            names = json.dumps(live.api("/api/v1/clients"))
            assert publish not in names
        live.stop()
    finally:
        live.kill()


def test_the_command_explains_what_is_missing(tmp_path):
    off = LiveServer(tmp_path, "listen 127.0.0.1:$rtmp; vhost __defaultVhost__ { }")

    def run_token(*arguments: str) -> str:
        ended = subprocess.run([str(BINARY), "token", *arguments], cwd=tmp_path, text=True, capture_output=True, timeout=20, check=False)
        assert ended.returncode == 1 and not ended.stdout, ended
        return ended.stderr

    assert "Usage:" in run_token() and "--publish PATH" in run_token()
    assert "access is off" in run_token("-c", str(off.conf_path), "--play", "live/cam")
    assert "--expires" in run_token("-c", str(off.conf_path), "--play", "live/cam", "--expire", "5s")


def padded_token(live: LiveServer, verb: str, size: int) -> str:
    """A token of about so many bytes by the secret of the server, as providers make them with many claims."""
    def encoded(text: bytes) -> str:
        return base64.urlsafe_b64encode(text).decode().rstrip("=")

    claims = {"mediamtx_permissions": [{"action": verb, "path": "live/cam"}], "exp": int(time.time()) + 600, "groups": "g" * (size * 3 // 4 - 200)}
    signed_part = encoded(b'{"alg":"HS256"}') + "." + encoded(json.dumps(claims).encode())
    secret = (live.folder / "access.key").read_text().strip().encode()
    return signed_part + "." + encoded(hmac.new(secret, signed_part.encode(), hashlib.sha256).digest())


def test_long_tokens_arrive_whole(server, clip):
    """mtx#3884, #5267, #5359: tokens that are cut, in addresses and as passwords. The server takes 8 KiB; ffmpeg cuts the path of an RTMP address at 1 KiB,
    and an SRT stream id has at most 512 bytes, so that clients of the tests send them here."""
    live = server(vhost=ACCESS, root=PORTS)
    port, play = live.ports["http"], padded_token(live, "read", 4_000)
    assert len(play) > 3_700
    sender = rtmp_client.Publisher(live.ports["rtmp"], "cam?token=" + padded_token(live, "publish", 4_000), clip("basic"))
    try:
        assert sender.status["code"] == "NetStream.Publish.Start", sender.status
        sender.start()
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        player = rtmp_client.Player(live.ports["rtmp"], "cam?token=" + play)
        player.start()
        wait_until(lambda: player.messages, 20, "RTMP plays")
        player.stop()
        with Client(live) as client:
            assert client.request("DESCRIBE", rtsp_url(live) + "?token=" + play)[0] == 200
        for headers in ({}, {"Authorization": "Bearer " + play}, {"Authorization": basic("any:" + play)}):
            assert get(live, "/live/cam.flv" + ("" if headers else "?token=" + play), **headers)[0] == 200, headers.keys()
        answer = rtc_offer.post(port, "/rtc/v1/whep/?app=live&stream=cam", rtc_offer.offer("recvonly"), Authorization="Bearer " + play)
        assert answer.status == 201, answer.body
        for cut in (play[:-1], play[:2_000], padded_token(live, "read", 9_000)):
            assert get(live, "/live/cam.flv", Authorization="Bearer " + cut)[0] in (401, 403)
        assert play[:500] not in live.log()
    finally:
        sender.stop()


def basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()


def test_rtsp_clients_answer_a_challenge(server, clip):
    """Names and passwords in the URL, as ffmpeg sends them: by Basic, once the server has answered 401."""
    users = "user sender { password plain:s3cret; allow publish live/cam; } user viewer { password plain:s3cret; allow play live/cam; }\n"
    live = server(vhost=ACCESS, root=PORTS + users)

    def url(name: str) -> str:
        return f"rtsp://{name}@127.0.0.1:{live.ports['rtsp']}/live/cam"

    with Publisher(url("sender:s3cret"), clip("basic")):
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        assert ffmpeg_reads(url("viewer:s3cret"))
        with Client(live) as client:
            status, headers, _ = client.request("DESCRIBE", rtsp_url(live))
            assert (status, headers["www-authenticate"]) == (401, 'Basic realm="streams"')
            assert client.request("DESCRIBE", rtsp_url(live), Authorization=basic("viewer:s3cret"))[0] == 200
        with Client(live) as client:
            # The right password of a user without the right to play is no reason to ask for another one.
            assert client.request("DESCRIBE", rtsp_url(live), Authorization=basic("sender:s3cret"))[0] == 403
        # One wrong password only: its address must wait then.
        refused = subprocess.run(["ffmpeg", "-v", "error", "-i", url("viewer:other"), "-t", "1", "-f", "null", "-"], capture_output=True, text=True, timeout=30, check=False)
        assert refused.returncode != 0 and "401" in refused.stderr
        with Client(live) as client:
            assert client.request("DESCRIBE", rtsp_url(live), Authorization=basic("viewer:s3cret"))[0] == 200, "a pair that was right before does not wait"
        # ffmpeg prefers Digest, whose answers differ each time.
        wait_until(lambda: ffmpeg_reads(url("viewer:s3cret")), 20, "the pause after a wrong password ends")
        assert "s3cret" not in live.log()
    wait_until(lambda: not is_published(live, "cam"), 20, "the publisher has left")
    with Publisher(url("viewer:s3cret"), clip("basic")) as other:
        wait_until(lambda: other.process.poll() is not None, 20, "a viewer does not publish")
        assert "403" in other.said()


def said_by_ffmpeg(clip, url: str) -> str:
    """What a publisher that is refused prints."""
    ended = subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-i", str(clip("basic")), "-c", "copy", "-t", "5", "-f", "flv", url],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode != 0, "it has published"
    return ended.stderr


def test_encoders_prove_the_name_and_the_password_of_their_url(server, clip):
    """ffmpeg keeps them until the server asks with authmod=adobe, and connects three times then; OBS does the same."""
    users = "user sender { password plain:s3cret; allow publish live/cam; } user viewer { password plain:other; allow play live/cam; }\n"
    live = server(vhost=ACCESS + "rtmp_challenge on;", root=PORTS + "workers 2;\n" + users, ports=Ports(udp_rtc=free_udp_ports(2), udp_srt=free_udp_ports(2)))

    def url(credentials: str) -> str:
        return live.url("cam").replace("rtmp://", f"rtmp://{credentials}@")

    with FfmpegPublisher(url("sender:s3cret"), clip("basic")):
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        assert ffmpeg_reads(live.url("cam?user=viewer&pass=other")), "players are not challenged"
        assert "s3cret" not in live.log()
    wait_until(lambda: not is_published(live, "cam"), 20, "the publisher has left")
    said_by_ffmpeg(clip, url("viewer:other"))
    live.wait_log("the user does not permit to publish this stream")
    assert "No credentials set" in said_by_ffmpeg(clip, live.url("cam"))
    assert "ncorrect" in said_by_ffmpeg(clip, url("sender:wrong"))


def test_hashed_passwords_cannot_serve_the_challenge_and_the_client_is_told(server, clip, tmp_path):
    live = server(vhost=ACCESS + "rtmp_challenge on;", root=PORTS + user("alice", hashed(tmp_path, "alice"), "publish"))
    assert "?user=NAME&pass=PASSWORD" in said_by_ffmpeg(clip, live.url("cam").replace("rtmp://", "rtmp://alice:alice@"))
