"""`access` with two workers: a session is admitted once, and its fragments come from whichever worker accepts a connection."""

import re

import pytest
from access_site import ACCESS, PORTS, ffmpeg_reads, get, is_published, signed, start_ffmpeg, token
from live_server import LiveServer, Ports, free_udp_ports, wait_until

# Each request is a connection of its own, which the kernel gives to one of two workers.
REQUESTS = 24


def lines(live: LiveServer, path: str) -> list[str]:
    """Of a playlist; none before it exists."""
    status, text = get(live, path, 100_000)
    assert status in (200, 404), (status, text)
    return [line for line in text.splitlines() if status == 200 and line and not line.startswith("#")]


def media_playlist(live: LiveServer, stream: str, query: str) -> str:
    """The path of a new session's playlist, which has a fragment."""
    path = lines(live, f"/live/{stream}.m3u8?{query}")[0]
    wait_until(lambda: lines(live, path), 30, "HLS has a fragment")
    return path


def dash_mpd(live: LiveServer, query: str) -> str | None:
    """As ffmpeg asks for it; None before it exists."""
    status, text = get(live, f"/live/cam.mpd?{query}", 100_000, User_Agent="tv", Range="bytes=0-")
    assert status in (200, 404), (status, text)
    return text if status == 200 else None


def answers(live: LiveServer, path: str, **headers: str) -> set[int]:
    return {get(live, path, **headers)[0] for _ in range(REQUESTS)}


@pytest.fixture(name="site")
def _site(server, clip):
    live = server(vhost=ACCESS, root="workers 2;\n" + PORTS, ports=Ports(udp_rtc=free_udp_ports(2), udp_srt=free_udp_ports(2)))
    publish = "token=" + token(live, "--publish", "live/*")
    senders = [start_ffmpeg(clip, live.url(f"{name}?{publish}")) for name in ("cam", "cam2")]
    for name in ("cam", "cam2"):
        wait_until(lambda name=name: is_published(live, name), 20, "the stream is live")
    yield live
    for sender in senders:
        sender.kill()
        sender.wait()


@pytest.mark.parametrize("scheme", ["token", "signed URL"])
def test_each_worker_serves_the_fragments_of_a_session(site, scheme):
    live = site
    query = "token=" + token(live, "--play", "live/cam") if scheme == "token" else signed(live, live.url("cam"))
    playlists = [media_playlist(live, "cam", query) for _ in range(4)]
    for path in playlists:
        assert answers(live, path) == {200}
        segment = "/live/" + lines(live, path)[-1]
        assert answers(live, segment) == {200}
        assert answers(live, segment.partition("?")[0]) <= {401, 403}
    # The other worker has not seen the session before its fragments. It is the permission for one stream, on each worker.
    newest = lines(live, playlists[0])[-1].partition("?")[0]
    for _ in range(4):
        session = re.search("hls_ctx=([0-9a-z]+)", lines(live, f"/live/cam.m3u8?{query}")[0])[1]
        assert answers(live, f"/live/cam2-0.ts?hls_ctx={session}") <= {401, 403, 404}
        assert answers(live, f"/live/{newest}?hls_ctx={session}") == {200}
    assert ffmpeg_reads(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8?{query}")
    listed = [one for one in live.api("/api/v1/clients")["clients"] if one["type"] == "hls-play" and one["name"] == "cam.m3u8"]
    assert len(listed) >= len(playlists), "one client for each session, however many workers have served it"


def test_each_worker_serves_the_segments_of_a_dash_player(site):
    """The MPD carries the session on to each segment; an address and a program are no permission, whoever claims them."""
    live = site
    query = "token=" + token(live, "--play", "live/cam")
    text = wait_until(lambda: dash_mpd(live, query), 30, "DASH has a segment")
    session = re.search(r"dash_ctx=[0-9a-z]+", text)[0]
    assert {re.search(r"dash_ctx=[0-9a-z]+", dash_mpd(live, query))[0] for _ in range(REQUESTS)} == {session}, "one session, on whichever worker"
    assert answers(live, "/live/cam.mpd", User_Agent="tv") == answers(live, f"/live/cam.mpd?{query}A", User_Agent="tv", X_Forwarded_For="127.0.0.1") == {403}
    for path in ("/live/cam/video-init.mp4", "/live/cam/audio-init.mp4"):
        assert answers(live, f"{path}?{session}") == {200}
        assert answers(live, path, User_Agent="tv") <= {401, 403}
        assert answers(live, path.replace("cam", "cam2") + "?" + session) <= {401, 403, 404}, "of another stream"
    assert ffmpeg_reads(f"http://127.0.0.1:{live.ports['http']}/live/cam.mpd?{query}")
