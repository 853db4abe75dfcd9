"""Tokens in the conf, `access`: a table of protocols and credentials, the end of sessions whose token expires, and conf/access.conf as shipped."""

import json
import re
import subprocess
import urllib.error
import urllib.request

import pytest
import rtc_offer
from live_server import BINARY, TRUNK, LiveServer, Ports, wait_until
from players import FfmpegPublisher

ACCESS = """access { enabled on; key_file $folder/access.key; anybody play live/open*; }
    hls { enabled on; hls_fragment 1; hls_window 20; hls_path $folder/html; }
    http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
    rtc { enabled on; rtmp_to_rtc on; } srt { enabled on; } rtsp { enabled on; }
"""
PORTS = """rtc_server { enabled on; listen 127.0.0.1:$udp_rtc; candidate 127.0.0.1; }
srt_server { enabled on; listen 127.0.0.1:$udp_srt; }
rtsp_server { enabled on; listen 127.0.0.1:$rtsp; rtp_port_min 0; }
"""


def token(live: LiveServer, *arguments: str) -> str:
    made = subprocess.run([str(BINARY), "token", "-c", str(live.conf_path), *arguments], cwd=live.folder, text=True, capture_output=True, timeout=20, check=True)
    assert re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+\n", made.stdout), made
    return made.stdout.strip()


def get(live: LiveServer, path: str) -> tuple[int, str]:
    """The status of a response, and its beginning."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=8) as answer:
            return answer.status, answer.read(400).decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read(400).decode(errors="replace")


def ffmpeg_reads(url: str) -> bool:
    """Whether ffmpeg gets media of this URL."""
    got = subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-t", "0.5", "-c", "copy", "-f", "null", "-"], capture_output=True, timeout=30,
                         check=False)
    return got.returncode == 0


def is_published(live: LiveServer, name: str) -> bool:
    return any(stream["name"] == name and stream["publish"]["active"] for stream in live.api("/api/v1/streams")["streams"])


def ffmpeg_publishes(live: LiveServer, clip, url: str, name: str, form: str = "flv") -> bool:
    """Whether ffmpeg can publish to this URL."""
    sender = subprocess.Popen(["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", str(clip("basic")), "-c", "copy", "-f", form, url],
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: sender.poll() is not None or is_published(live, name), 20, "the server accepts or refuses the publisher")
        return sender.poll() is None
    finally:
        sender.kill()
        sender.wait()


def queries(live: LiveServer, verb: str, stream: str) -> dict[str, str]:
    """The credentials of a row of the table, as queries."""
    right = token(live, f"--{verb}", stream)
    return {"none": "", "wrong": "token=" + right[:-6] + "AAAAAA", "expired": "token=" + token(live, f"--{verb}", stream, "--expires", "-5s"),
            "other path": "token=" + token(live, f"--{verb}", stream + "2"),
            "other right": "token=" + token(live, "--play" if verb == "publish" else "--publish", stream), "right": "token=" + right}


def refused(results: dict[str, bool]) -> set[str]:
    return {name for name, admitted in results.items() if not admitted}


ALL_BUT_THE_RIGHT_ONE = {"none", "wrong", "expired", "other path", "other right"}


def test_every_protocol_plays_with_the_right_token_only(server, clip):
    live = server(vhost=ACCESS, root=PORTS)
    with FfmpegPublisher(live.url("cam?token=" + token(live, "--publish", "live/cam")), clip("basic")):
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        given = queries(live, "play", "live/cam")
        right = given["right"]
        wait_until(lambda: "#EXTINF" in get(live, f"/live/cam.m3u8?{right}")[1] or ".m3u8" in get(live, f"/live/cam.m3u8?{right}")[1], 20, "HLS has a fragment")
        assert refused({name: get(live, f"/live/cam.m3u8?{query}")[0] == 200 for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
        assert refused({name: get(live, f"/live/cam.flv?{query}")[0] == 200 for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
        offers = {name: rtc_offer.post(live.ports["http"], f"/rtc/v1/whep/?app=live&stream=cam&{query}", rtc_offer.offer("recvonly")).status == 201
                  for name, query in given.items()}
        assert refused(offers) == ALL_BUT_THE_RIGHT_ONE
        bearer = rtc_offer.post(live.ports["http"], "/rtc/v1/whep/?app=live&stream=cam", rtc_offer.offer("recvonly"), Authorization="Bearer " + right[6:])
        assert bearer.status == 201
        assert refused({name: ffmpeg_reads(live.url(f"cam?{query}")) for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
        srt = "srt://127.0.0.1:%d?streamid=#!::r=live/cam,%sm=request"
        assert refused({name: ffmpeg_reads(srt % (live.ports["udp_srt"], query and query + ",")) for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
        rtsp = live.url("cam", port="rtsp", schema="rtsp")
        assert refused({name: ffmpeg_reads(f"{rtsp}?{query}") for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
        # Fragments are for the sessions of admitted players.
        assert get(live, "/live/cam-0.ts")[0] == 403
    assert right[6:] not in live.log(), "a token is no secret in the log"


def test_every_protocol_publishes_with_the_right_token_only(server, clip):
    live = server(vhost=ACCESS, root=PORTS)
    given = queries(live, "publish", "live/mine")
    assert refused({name: ffmpeg_publishes(live, clip, live.url(f"mine?{query}"), "mine") for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
    wait_until(lambda: not is_published(live, "mine"), 20, "the publisher has left")
    srt = "srt://127.0.0.1:%d?streamid=#!::r=live/mine,%sm=publish"
    assert refused({name: ffmpeg_publishes(live, clip, srt % (live.ports["udp_srt"], query and query + ","), "mine", "mpegts")
                    for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
    wait_until(lambda: not is_published(live, "mine"), 20, "the publisher has left")
    rtsp = live.url("mine", port="rtsp", schema="rtsp")
    assert refused({name: ffmpeg_publishes(live, clip, f"{rtsp}?{query}", "mine", "rtsp") for name, query in given.items()}) == ALL_BUT_THE_RIGHT_ONE
    wait_until(lambda: not is_published(live, "mine"), 20, "the publisher has left")
    offers = {}
    for name, query in given.items():
        answer = rtc_offer.post(live.ports["http"], f"/rtc/v1/whip/?app=live&stream=mine&{query}", rtc_offer.offer())
        offers[name] = answer.status == 201
    assert refused(offers) == ALL_BUT_THE_RIGHT_ONE


def test_open_streams_need_no_token_to_play(server, clip):
    live = server(vhost=ACCESS, root=PORTS)
    with FfmpegPublisher(live.url("open-1?token=" + token(live, "--publish", "live/*")), clip("basic")):
        wait_until(lambda: is_published(live, "open-1"), 20, "the stream is live")
        assert get(live, "/live/open-1.flv")[0] == 200


def test_a_session_ends_when_its_token_expires(server, clip):
    live = server(vhost=ACCESS, root=PORTS)
    sender = subprocess.Popen(["ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", str(clip("basic")), "-c", "copy", "-f", "flv",
                               live.url("cam?token=" + token(live, "--publish", "live/cam", "--expires", "5s"))], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        # The player's token lasts: it ends with the stream at the latest, the publisher by its token.
        assert get(live, "/live/cam.flv?token=" + token(live, "--play", "live/cam"))[0] == 200
        wait_until(lambda: sender.poll() is not None, 30, "the publisher is disconnected")
    finally:
        sender.kill()
        sender.wait()
    live.wait_log("its token has expired")
    assert not is_published(live, "cam")


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

    def run(*arguments: str) -> str:
        ended = subprocess.run([str(BINARY), "token", *arguments], cwd=tmp_path, text=True, capture_output=True, timeout=20, check=False)
        assert ended.returncode == 1 and not ended.stdout, ended
        return ended.stderr

    assert "Usage:" in run() and "--publish PATH" in run()
    assert "access is off" in run("-c", str(off.conf_path), "--play", "live/cam")
    assert "--expires" in run("-c", str(off.conf_path), "--play", "live/cam", "--expire", "5s")
