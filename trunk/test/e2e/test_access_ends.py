"""The end of a permission is the end of its session, in every protocol and with its reason: by the expiry of a token, and by a reload that takes a right away."""

import json
import signal
import subprocess

import pytest
import rtc_offer
from access_site import ACCESS, PORTS, get, is_published, run, signed, start_ffmpeg, token, user
from http_streams import HttpStream
from live_server import ROOT_CONF, LiveServer, wait_until

PLAYED = ("rtmp", "http-flv", "hls", "dash", "srt", "rtsp", "whep")
PUBLISHED = ("rtmp", "srt", "rtsp", "whip")


def reader(url: str) -> subprocess.Popen:
    return subprocess.Popen(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", url, "-c", "copy", "-f", "null", "-"], stdin=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def srt_url(live: LiveServer, stream: str, query: str, mode: str) -> str:
    return f"srt://127.0.0.1:{live.ports['udp_srt']}?streamid=#!::r=live/{stream},{query.replace('&', ',')},m={mode}"


def rtsp(live: LiveServer, stream: str, query: str) -> str:
    return live.url(stream, port="rtsp", schema="rtsp") + "?" + query


class Clients:
    """A client of each protocol, with one query."""

    def __init__(self, live: LiveServer, clip):
        self.live, self.clip, self.processes, self.streams = live, clip, [], []

    def play(self, query: str) -> None:
        live = self.live
        self.processes += [reader(live.url("cam?" + query)), reader(srt_url(live, "cam", query, "request")), reader(rtsp(live, "cam", query))]
        self.streams.append(HttpStream(live.ports["http"], f"/live/cam.flv?{query}"))
        for path in (f"/live/cam.m3u8?{query}", f"/live/cam.mpd?{query}"):
            assert get(live, path, User_Agent="tv")[0] == 200, path
        assert rtc_offer.post(live.ports["http"], f"/rtc/v1/whep/?app=live&stream=cam&{query}", rtc_offer.offer("recvonly")).status == 201

    def publish(self, query_of) -> None:
        live = self.live
        self.processes += [start_ffmpeg(self.clip, live.url("p-rtmp?" + query_of("p-rtmp"))),
                           start_ffmpeg(self.clip, srt_url(live, "p-srt", query_of("p-srt"), "publish"), "mpegts"),
                           start_ffmpeg(self.clip, rtsp(live, "p-rtsp", query_of("p-rtsp")), "rtsp")]
        assert rtc_offer.post(live.ports["http"], f"/rtc/v1/whip/?app=live&stream=p-whip&{query_of('p-whip')}", rtc_offer.offer()).status == 201

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        for stream in self.streams:
            stream.close()


def ended_with(live: LiveServer, reason: str) -> set[tuple[str, str]]:
    """Role and protocol of the sessions in the access log that ended so. DASH and HLS are http-dash and http-hls there, WHIP and WHEP are webrtc."""
    path = live.folder / "objs" / "access.log"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(line["role"], line["protocol"]) for line in lines if line["result"] == "ended" and reason in line["reason"]}


@pytest.fixture(name="clients")
def _clients(clip):
    started = []

    def start(live: LiveServer) -> Clients:
        started.append(Clients(live, clip))
        return started[-1]

    yield start
    for one in started:
        one.close()


def start_source(live: LiveServer, clip, clients: Clients, query: str) -> None:
    clients.processes.append(start_ffmpeg(clip, live.url("cam?" + query)))
    wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")


def wait_ended(live: LiveServer, role: str, count: int, reason: str) -> None:
    wait_until(lambda: len(ended_with(live, reason)) >= count, 60, lambda: f"{role}: {ended_with(live, reason)}; {live.log()[-1500:]}")
    assert {one for one, _ in ended_with(live, reason)} == {role}
    assert len(ended_with(live, reason)) == count


@pytest.mark.parametrize("scheme", ["token", pytest.param("signed URL", marks=pytest.mark.long)])
def test_players_of_each_protocol_leave_when_their_token_expires(server, clip, clients, scheme):
    live = server(vhost=ACCESS, root=PORTS)
    all_of_them = clients(live)
    start_source(live, clip, all_of_them, "token=" + token(live, "--publish", "live/cam"))
    right = "token=" + token(live, "--play", "live/cam")
    wait_until(lambda: get(live, f"/live/cam.mpd?{right}", User_Agent="first")[0] == 200, 20, "DASH has a segment")
    if scheme == "token":
        query = "token=" + token(live, "--play", "live/cam", "--expires", "10s")
    else:
        query = signed(live, live.url("cam"), "--expires", "10s")
    all_of_them.play(query)

    def has_ended() -> bool:
        # Without requests, a DASH session ends after 10 s.
        get(live, f"/live/cam.mpd?{query}", User_Agent="tv")
        return bool(ended_with(live, "its token or signed URL has expired"))

    wait_until(has_ended, 60, "the first one ends", 0.5)
    wait_ended(live, "play", len(PLAYED), "its token or signed URL has expired")
    assert is_published(live, "cam")
    all_of_them.streams[0].read(10)
    assert all_of_them.streams[0].ended
    # For a while, the answer to a DASH player is that it has been disconnected: 404.
    refused = {ending: get(live, f"/live/cam.{ending}?{query}", User_Agent="tv")[0] for ending in ("m3u8", "mpd", "flv")}
    assert refused["m3u8"] == refused["flv"] == 403 and refused["mpd"] in (403, 404), refused
    for process in all_of_them.processes[1:]:
        wait_until(lambda process=process: process.poll() is not None, 20, "ffmpeg has noticed")


@pytest.mark.parametrize("scheme", ["token", pytest.param("signed URL", marks=pytest.mark.long)])
def test_publishers_of_each_protocol_leave_when_their_token_expires(server, clients, scheme):
    live = server(vhost=ACCESS, root=PORTS)
    all_of_them = clients(live)
    if scheme == "token":
        all_of_them.publish(lambda name: "token=" + token(live, "--publish", "live/" + name, "--expires", "10s"))
    else:
        all_of_them.publish(lambda name: signed(live, live.url(name), "--publish", "--expires", "10s"))
    wait_until(lambda: all(is_published(live, name) for name in ("p-rtmp", "p-srt", "p-rtsp")), 20, "the streams are live")
    wait_ended(live, "publish", len(PUBLISHED), "its token or signed URL has expired")
    for process in all_of_them.processes:
        wait_until(lambda process=process: process.poll() is not None, 20, "ffmpeg has noticed")


@pytest.mark.parametrize("role", ["play", "publish"])
def test_a_reload_ends_each_session_of_a_user_without_the_right(server, clip, clients, tmp_path, role):
    site = LiveServer(tmp_path / "hash", "listen 1935;")
    names = {name: run(site, "hash", "--sha256", given=f"{name}\n") for name in ("source", "guest")}
    others = user("source", names["source"], "publish live/cam")
    conf = ROOT_CONF + PORTS + "%s vhost __defaultVhost__ {" + ACCESS + "}"
    live = server(conf=conf.replace("%s", others + user("guest", names["guest"], "publish live/p-*", "play live/cam")))
    all_of_them = clients(live)
    start_source(live, clip, all_of_them, "user=source&pass=source")
    query = "user=guest&pass=guest"
    if role == "play":
        wait_until(lambda: get(live, f"/live/cam.mpd?{query}", User_Agent="tv")[0] == 200, 20, "DASH has a segment")
        all_of_them.play(query)
        reason, count = "the user does not permit to play this stream", len(PLAYED)
    else:
        all_of_them.publish(lambda _: query)
        wait_until(lambda: all(is_published(live, name) for name in ("p-rtmp", "p-srt", "p-rtsp")), 20, "the streams are live")
        reason, count = "the user does not permit to publish this stream", len(PUBLISHED)
    wait_until(lambda: len([one for one in live.api("/api/v1/clients?count=100")["clients"] if one["publish"] == (role == "publish")]) >= count, 20,
               "all are clients")
    live.write_conf(conf.replace("%s", others + user("guest", names["guest"], "api.read")))
    live.process.send_signal(signal.SIGHUP)
    wait_ended(live, role, count, reason)
    assert is_published(live, "cam"), "others stay"


def test_a_reload_without_a_key_ends_each_session_of_its_tokens(server, clip, clients, tmp_path):
    """Players of each protocol at once, by tokens of a key that the reload takes away."""
    old = tmp_path / "old.key"
    old.write_text("a secret of at least 32 bytes, to be removed")
    old.chmod(0o600)
    signer = LiveServer(tmp_path / "signer", f"listen 1935; vhost __defaultVhost__ {{ access {{ enabled on; key_file {old}; }} }}")
    conf = ROOT_CONF + PORTS + "vhost __defaultVhost__ {" + ACCESS + "}"
    live = server(conf=conf.replace("access.key;", f"access.key {old};"))
    all_of_them = clients(live)
    start_source(live, clip, all_of_them, "token=" + token(live, "--publish", "live/cam"))
    query = "token=" + token(signer, "--play", "live/cam")
    wait_until(lambda: get(live, f"/live/cam.mpd?{query}", User_Agent="tv")[0] == 200, 20, "DASH has a segment")
    all_of_them.play(query)
    wait_until(lambda: len([one for one in live.api("/api/v1/clients?count=100")["clients"] if not one["publish"]]) >= len(PLAYED), 20, "all are clients")
    live.write_conf(conf)
    live.process.send_signal(signal.SIGHUP)
    wait_ended(live, "play", len(PLAYED), "no key of this server has signed it")
    assert is_published(live, "cam"), "the publisher has a token of the key that remains"
    assert get(live, f"/live/cam.m3u8?{query}", User_Agent="tv")[0] == 403
