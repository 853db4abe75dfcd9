"""Every protocol, with every kind of credential, right and not, by publishers and players: one table. `access` of the conf decides, or a callback.

Chromium is a client of the table too, and OBS Studio in test_obs.py."""

import json
import shutil
import time
from urllib.parse import parse_qs

import pytest
from access_credentials import SCHEMES
from access_site import ACCESS, PORTS, get, is_published, players, publishers, start_ffmpeg
from hook_server import Answer, HookServer
from live_server import wait_until


def refused(results: dict[str, bool]) -> set[str]:
    return {name for name, admitted in results.items() if not admitted}


def in_order(queries: dict[str, str], protocol: str) -> list[tuple[str, str]]:
    """A WHIP session without media remains for some seconds, and the stream with it: the right one last."""
    return sorted(queries.items(), key=lambda pair: protocol == "whip" and pair[0] == "right")


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_protocol_plays_with_the_right_credential_only(server, clip, tmp_path, scheme):
    credentials = SCHEMES[scheme]()
    live = server(vhost=ACCESS, root=PORTS + credentials.root(tmp_path))
    publish = credentials.queries(live, "publish")["right"]
    play = credentials.queries(live, "play")
    sender = start_ffmpeg(clip, live.url("cam?" + publish))
    try:
        wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
        wait_until(lambda: get(live, f"/live/cam.mpd?{play['right']}")[0] == 200, 20, "DASH has a segment")
        for protocol, admits in players(live, "cam").items():
            results = {name: admits(query) for name, query in play.items()}
            assert refused(results) == set(play) - {"right"}, protocol
        # Fragments are for the sessions of admitted players.
        assert get(live, "/live/cam-0.ts")[0] in (401, 403)
        for query in (publish, play["right"]):
            secret = query.rpartition("=")[2]
            assert secret not in live.log(), "a credential is no secret in the log"
            assert secret not in (live.folder / "objs/access.log").read_text()
            assert secret not in json.dumps(live.api("/api/v1/clients"))
    finally:
        sender.kill()
        sender.wait()


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_every_protocol_publishes_with_the_right_credential_only(server, clip, tmp_path, scheme):
    credentials = SCHEMES[scheme]()
    live = server(vhost=ACCESS, root=PORTS + credentials.root(tmp_path))
    queries = credentials.queries(live, "publish")
    for protocol, admits in publishers(live, clip, "cam").items():
        results = {}
        for name, query in in_order(queries, protocol):
            results[name] = admits(query)
            wait_until(lambda: protocol == "whip" or not is_published(live, "cam"), 20, "the publisher has left")  # pylint: disable=cell-var-from-loop
        assert refused(results) == set(queries) - {"right"}, protocol


# A key of a service: for one stream, until a time.
KEYS = {"none": "", "wrong": "key=wrong", "expired": "key=cam&until=1", "other path": "key=cam2&until=9999999999", "right": "key=cam&until=9999999999"}


def takes_key(event) -> bool:
    given = parse_qs(event.body.get("param", "").lstrip("?").replace(",", "&"))
    return given.get("key") == [event.body["stream"].partition(".")[0]] and int(given.get("until", ["0"])[0]) > time.time()


@pytest.mark.parametrize("states", [("none", "wrong", "right"), pytest.param(("expired", "other path", "right"), marks=pytest.mark.long)], ids=["known", "other"])
def test_a_callback_decides_for_every_protocol(server, clip, states):
    """The service accepts the keys of KEYS, for publishers and players."""
    queries = {name: KEYS[name] for name in states}
    with HookServer() as hooks:
        vhost = ACCESS.replace("access { enabled on;", "access { enabled off;") + """http_hooks { enabled on; on_publish %s; on_play %s; }""" % (
            hooks.url("/publish"), hooks.url("/play"))
        live = server(vhost=vhost, root=PORTS)
        hooks.judge = lambda event: Answer("0" if takes_key(event) else "1")
        sender = start_ffmpeg(clip, live.url("cam?" + KEYS["right"]))
        try:
            wait_until(lambda: is_published(live, "cam"), 20, "the stream is live")
            wait_until(lambda: get(live, "/live/cam.mpd?" + KEYS["right"])[0] == 200, 20, "DASH has a segment")
            for protocol, admits in players(live, "cam").items():
                assert refused({name: admits(query) for name, query in queries.items()}) == set(states) - {"right"}, protocol
        finally:
            sender.kill()
            sender.wait()
        wait_until(lambda: not is_published(live, "cam"), 20, "the publisher has left")
        for protocol, admits in publishers(live, clip, "cam").items():
            results = {}
            for name, query in in_order(queries, protocol):
                results[name] = admits(query)
                wait_until(lambda: protocol == "whip" or not is_published(live, "cam"), 20, "the publisher has left")  # pylint: disable=cell-var-from-loop
            assert refused(results) == set(states) - {"right"}, protocol


# Whether the server serves a request as Chromium makes it, with its own offers; nothing is played. OFFER: recvonly or sendonly.
ASKS = {
    "flv": "(async () => { const stop = new AbortController(); const { ok } = await fetch('/live/cam.flv?%s', { signal: stop.signal }); stop.abort(); return ok; })()",
    "hls": "(async () => (await fetch('/live/cam.m3u8?%s', { cache: 'no-store' })).ok)()",
}
OFFERS = """(async () => {
    const connection = new RTCPeerConnection();
    for (const kind of ['audio', 'video']) connection.addTransceiver(kind, { direction: '%s' });
    await connection.setLocalDescription(await connection.createOffer());
    const bearer = new URLSearchParams('%s').get('token');
    const headers = { 'Content-Type': 'application/sdp', ...(bearer ? { Authorization: `Bearer ${bearer}` } : {}) };
    const answer = await fetch('/rtc/v1/%s/?app=live&stream=cam&' + (bearer ? '' : '%s'), { method: 'POST', headers, body: connection.localDescription.sdp });
    connection.close();
    if (answer.status === 201) await fetch(answer.headers.get('Location'), { method: 'DELETE', headers });
    return answer.status === 201;
})()"""
SHOWS = "document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames > 10"


def chromium_asks(page, protocol: str, query: str) -> bool:
    """A token stands in the header for WebRTC, as the pages send it, and in the query for the rest."""
    if protocol in ASKS:
        return page.value(ASKS[protocol] % query)
    return page.value(OFFERS % ("sendonly" if protocol == "whip" else "recvonly", query, protocol, query))


@pytest.mark.parametrize("scheme", ["token", *(pytest.param(name, marks=pytest.mark.long) for name in SCHEMES if name != "token")])
def test_chromium_plays_and_publishes_with_the_right_credential_only(server, clip, tmp_path, chromium, html, scheme):
    """The pages play FLV, HLS and WHEP, and publish over WHIP; the same requests with other credentials are refused."""
    credentials = SCHEMES[scheme]()
    live = server(vhost=ACCESS, root=PORTS + credentials.root(tmp_path))
    shutil.copytree(html, live.folder / "html", dirs_exist_ok=True)
    publish, play = credentials.queries(live, "publish"), credentials.queries(live, "play")
    opened = []

    def open_page(path: str):
        opened.append(chromium.page())
        return opened[-1].goto(f"http://127.0.0.1:{live.ports['http']}{path}")

    try:
        page = open_page("/404.html")
        others = {name: query for name, query in publish.items() if name != "right"}
        assert {name: chromium_asks(page, "whip", query) for name, query in others.items()} == dict.fromkeys(others, False)
        open_page(f"/players/whip.html?stream=cam&autostart=true&{publish['right']}").wait("document.getElementById('state').textContent === 'Live'", 30)
        wait_until(lambda: is_published(live, "cam"), 20, "Chromium publishes")
        opened.pop().close()
        wait_until(lambda: not is_published(live, "cam"), 30, "Chromium has left")
        sender = start_ffmpeg(clip, live.url("cam?" + publish["right"]))
        try:
            wait_until(lambda: get(live, f"/live/cam.m3u8?{play['right']}")[0] == 200, 30, "HLS has a segment")
            for protocol in ("flv", "hls", "whep"):
                assert refused({name: chromium_asks(page, protocol, query) for name, query in play.items()}) == set(play) - {"right"}, protocol
            for player in ("srs_player.html?stream=cam.flv", "srs_player.html?stream=cam.m3u8", "whep.html?stream=cam"):
                open_page(f"/players/{player}&autostart=true&{play['right']}").wait(SHOWS, 30)
                opened.pop().close()
        finally:
            sender.kill()
            sender.wait()
        assert publish["right"].rpartition("=")[2] not in live.log()
    finally:
        for one in opened:
            one.close()
