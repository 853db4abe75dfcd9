"""Timed metadata, breaks, subtitles and captions in hls.js and dash.js in a headless Chromium, at the pictures that the server names."""

import json
import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from browser_players import Film, Screen, dash_screen, hls_screen
from caption_media import LINE_S, caption_clip
from live_server import wait_until
from page_site import needs_libraries
from rtmp_client import Publisher

FRAME_S = 1 / 25
HLS = "hls { enabled on; hls_fragment 2; hls_window 20; hls_path $folder/html; %s }"
DASH = "dash { enabled on; dash_fragment 2; dash_update_period 1; dash_window_size 10; dash_path $folder/html; %s }"
HLS_FORMS = {"ts": "", "ll-ts": "hls_ll on;", "ll": "hls_ll on; hls_use_fmp4 on;", "bframes-ts": "", "bframes-fmp4": "hls_use_fmp4 on;"}
# hls.js dates a segment by its first sample. In MPEG-TS with audio that is a sample of audio, which is shown before the first picture if frames are
# decoded before they are shown.
EARLY_S = {"bframes-ts": 0.08}


def post(live, path: str, body: str) -> float:
    """To the one stream; the time that the server reports."""
    (stream,) = live.api("/api/v1/streams/")["streams"]
    request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/streams/{stream['id']}/{path}", data=body.encode(), method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())["data"]["time"]


def post_all(live, subtitles: bool) -> dict[str, float]:
    """Each event is 4 s ahead, because players may be a part of a second behind the publisher. Low latency shows a line when its segment is complete."""
    at = {"tag": post(live, "events", json.dumps({"name": "onSong", "data": {"title": "Nocturne"}, "delay": 4})),
          "break": post(live, "events", json.dumps({"cue": "out", "id": 9, "duration": 2, "delay": 4}))}
    if subtitles:
        at["line"] = post(live, "subtitles?language=en&delay=4", "WEBVTT\n\n00:00.000 --> 00:06.000\nGood evening.\n")
    return at


def text_of(live, path: str) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=10) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError:
        return ""


def master(live) -> str:
    return text_of(live, "/live/cam.m3u8")


def the_one(events: list[dict], part: str, **members) -> dict:
    """Those that have the part in their data; a cue is noted again when another one begins."""
    found = [one for one in events if part in one["data"] and members.items() <= one.items()]
    assert found and len({one["at"] for one in found}) == 1, f"one {part} in {events}"
    return found[0]


def has(screen: Screen, what: str, part: str, **members):
    return lambda: [one for one in screen.events(what) if part in one["data"] and members.items() <= one.items()]


def short(screen: Screen) -> list[dict]:
    return [one for one in screen.page.value("events") if one.get("kind") != "captions"]


# hls.js reports that it waits, which a busy machine causes.
HARMLESS = ("bufferStalledError", "bufferNudgeOnStall", "bufferSeekOverHole")


def is_sound(screen: Screen) -> None:
    assert [one for one in screen.page.value("errors") if one not in HARMLESS] == [] and screen.page.complaints() == []


@pytest.fixture(name="captioned", scope="module")
def fixture_captioned(clip, tmp_path_factory) -> Path:
    return caption_clip(tmp_path_factory.mktemp("captions"), clip("basic"))


@pytest.mark.parametrize("form", [pytest.param(one, marks=pytest.mark.long) if one in ("ll-ts", "bframes-ts") else one for one in HLS_FORMS])
def test_hls_js_gets_events_breaks_subtitles_and_captions(server, clip, captioned, html, chromium, form):
    """A film with B-frames has no captions. hls.js 1.7 forgets captions at each part of low latency, and
    shows none of fMP4 with audio."""
    needs_libraries(html)
    film = clip("bframes") if form.startswith("bframes") else captioned
    live = server(vhost=HLS % HLS_FORMS[form])
    publisher = Publisher(live.ports["rtmp"], "cam", film)
    publisher.start()
    wait_until(lambda: "EXT-X-STREAM-INF" in master(live), 30, "a master playlist")
    post(live, "subtitles?language=en", "WEBVTT\n\n00:00.000 --> 00:02.000\nThe first line\n")
    wait_until(lambda: "TYPE=SUBTITLES" in master(live), 30, "a rendition of subtitles")
    screen = hls_screen(live, chromium, Film.of(film), html).plays()
    # The first tag or date range makes the track of hls.js, whose element loads an empty source, which removes the cues that it has by then.
    post(live, "events", json.dumps({"name": "onFirst", "data": {}}))
    wait_until(has(screen, "tag", "onFirst"), 40, lambda: f"the first tag in {short(screen)}")
    screen.page.wait("[...document.querySelectorAll('track')].every(({ readyState }) => readyState === HTMLTrackElement.LOADED)")
    at = post_all(live, subtitles=True)
    for what, part, members in (("tag", "Nocturne", {}), ("cue", "Nocturne", {"kind": "metadata"}), ("cue", "", {"key": "SCTE35-OUT"}),
                                ("cue", "Good evening.", {"kind": "subtitles"})):
        wait_until(has(screen, what, part, **members), 40, lambda w=what, p=part: f"{w} {p} in {short(screen)}")
    cues = screen.events("cue")
    late = {"tag": screen.late(the_one(screen.events("tag"), "Nocturne"), at["tag"]),
            "tag's cue": screen.late(the_one(cues, "Nocturne", kind="metadata"), at["tag"]),
            "break": screen.late(the_one(cues, "", key="SCTE35-OUT"), at["break"]),
            "line": screen.late(the_one(cues, "Good evening.", kind="subtitles"), at["line"])}
    print(f"{form}: late by, s: {late}")
    assert -FRAME_S - EARLY_S.get(form, 0) <= late.pop("break") <= FRAME_S and max(map(abs, late.values())) <= FRAME_S, late
    assert the_one(cues, "", key="SCTE35-OUT")["data"].startswith("\xfc0")
    if form == "ts":
        check_captions(screen)
    is_sound(screen)
    screen.close()
    publisher.stop()


def check_captions(screen: Screen) -> None:
    """The captions of the picture at N seconds are LINE N; the text is complete 12 pictures later."""
    def lines() -> dict[str, float]:
        found = [(re.findall(r"LINE \d{4}", one["data"]), one) for one in screen.events("cue") if one["kind"] == "captions"]
        return {texts[-1]: one["at"] for texts, one in reversed(found) if texts}
    shown = wait_until(lambda: len(said := lines()) >= 3 and said, 30, lambda: f"three lines of captions in {screen.events('cue')}")
    late = {text: screen.film.distance(int(text[-4:]) * LINE_S, at - screen.offset()) for text, at in shown.items()}
    print(f"captions are late by, s: {late}")
    assert all(-FRAME_S <= one <= 14 * FRAME_S for one in late.values()), late


@pytest.mark.parametrize("form, film, more", [("whole", "bframes", ""), ("low-latency", "basic", "dash_ll on;")])
def test_dash_js_raises_events(server, clip, chromium, form, film, more):
    live = server(vhost=DASH % more)
    publisher = Publisher(live.ports["rtmp"], "cam", clip(film))
    publisher.start()
    wait_until(lambda: "<S " in text_of(live, "/live/cam.mpd"), 30, "an MPD")
    screen = dash_screen(live, chromium, Film.of(clip(film))).plays()
    at = post_all(live, subtitles=False)
    tag, splice = {"scheme": "https://aomedia.org/emsg/ID3"}, {"scheme": "urn:scte:scte35:2014:xml+bin"}
    for what in ("received", "started"):
        for part, members in (("Nocturne", tag), ("", splice)):
            wait_until(has(screen, what, part, **members), 40, lambda w=what, m=members: f"{w} {m} in {screen.page.value('events')}")
    late = {}
    for what in ("received", "started"):
        late[f"tag {what}"] = screen.late(the_one(screen.events(what), "Nocturne", **tag), at["tag"])
        late[f"break {what}"] = screen.late(the_one(screen.events(what), "", **splice), at["break"])
    print(f"{form}: late by, s: {late}; events {screen.events('started')}")
    assert max(map(abs, late.values())) <= FRAME_S, late
    begun = the_one(screen.events("started"), "", **splice)
    assert (begun["duration"], begun["id"]) == (2, 9)
    assert begun["data"].startswith("\xfc0")
    is_sound(screen)
    screen.close()
    publisher.stop()
