"""Recordings on the pages, in a real Chromium: the timeline of a stream with its gaps, playing, going back in the live stream, downloads, pins and deletion."""

import time
import urllib.request

import pytest

import live_server
from live_server import wait_until
from page_site import AUDIT, REMUX, fixture_site, needs_libraries  # noqa: F401
from playback import FMP4, PLAYBACK, Playback
from players import FfmpegPublisher

RECORDED = live_server.conf(REMUX + f"dvr {{ enabled on; {FMP4} }}\n", PLAYBACK)
FRAMES = "document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames > %d"
SPANS = "document.querySelectorAll('.timeline span').length === %d"


def record(one, clip, seconds: float) -> None:
    library = Playback(one.live)
    before = library.seconds()
    with FfmpegPublisher(one.live.url("cam"), clip("basic"), speed=1):
        wait_until(lambda: library.seconds() >= before + seconds, 40, f"{seconds} s are listed")
    wait_until(lambda: not one.live.api("/api/v1/dvrs")["dvrs"], 15, "the recording is closed")


@pytest.mark.parametrize("width, height, scheme", [(360, 740, "dark"), (1280, 860, "light")], ids=["phone", "desktop"])
def test_recordings_are_shown_played_pinned_and_deleted(site, html, clip, width, height, scheme):
    needs_libraries(html)
    one = site(conf=RECORDED)
    record(one, clip, 3)
    time.sleep(1)
    record(one, clip, 3)
    look = {"viewport": {"width": width, "height": height}, "colorScheme": scheme}
    page = one.open("/players/stream.html?stream=cam", **look)
    page.wait(SPANS % 2)
    assert "with 1 gap" in page.value("document.querySelector('.timeline').getAttribute('aria-label')")
    # The gap is as wide as it was long.
    pieces = page.value("[...document.querySelectorAll('.timeline span')].map((one) => [parseFloat(one.style.left), parseFloat(one.style.width)])")
    assert pieces[0][0] == 0 and pieces[0][1] + 2 < pieces[1][0] and abs(sum(pieces[1]) - 100) < 1
    page.wait("document.querySelectorAll('.spans li').length === 2 && document.querySelectorAll('.spans button:not([hidden])').length === 6")
    assert page.barriers() == [] and page.value(AUDIT) == []
    page.shot(f"recordings-{width}", whole=True)
    page.click(".spans li:last-child button:text-is('Play')")
    page.wait(FRAMES % 20, 30)
    assert page.value("document.getElementById('video').duration") < 6
    address = page.value("document.querySelector('.spans li:last-child a').href")
    with urllib.request.urlopen(address, timeout=20) as answer:
        assert answer.read(8)[4:] == b"ftyp"
    page.click(".spans li:last-child button:text-is('Pin')")
    page.wait("/pinned/.test(document.getElementById('recordings-note').textContent)")
    page.wait("document.querySelector('.spans li:last-child button:last-child').disabled")
    files = one.live.api("/api/v1/recordings/files?stream=/live/cam")["files"]
    assert [file["pinned"] for file in files] == [True, False]
    page.click(".spans li:first-child button:text-is('Delete')")
    page.wait("document.getElementById('ask-delete').open")
    page.click("#ask-delete .danger")
    page.wait(SPANS % 1)
    assert [file["pinned"] for file in one.live.api("/api/v1/recordings/files?stream=/live/cam")["files"]] == [True]

    console = one.console(**look)
    console.wait("document.querySelectorAll('#recorded-list li').length === 1")
    assert "1 pinned" in console.text("#recorded-list")
    console.click("#recorded-list summary")
    console.wait(SPANS % 1)
    console.wait("document.querySelectorAll('.spans li').length === 1")
    assert console.barriers() == [] and console.value(AUDIT) == []
    console.shot(f"recordings-console-{width}", whole=True)
    console.click(".spans button:text-is('Unpin')")
    console.wait("/released/.test(document.getElementById('recordings-note').textContent)")


def plays_live(one) -> bool:
    return any("flv" in client["type"] for client in one.live.api("/api/v1/clients/")["clients"])


def test_the_player_goes_back_in_a_live_stream_and_returns(site, html, clip):
    needs_libraries(html)
    one = site(conf=RECORDED)
    library = Playback(one.live)
    with FfmpegPublisher(one.live.url("cam"), clip("basic"), speed=1):
        wait_until(lambda: library.seconds() > 9, 40, "nine seconds are listed")
        page = one.open("/players/stream.html?stream=cam")
        page.wait(FRAMES % 20, 30)
        page.wait("document.getElementById('shift').checkVisibility()")
        page.value("(() => { const bar = document.getElementById('back'); bar.value = bar.min; bar.dispatchEvent(new Event('input')); bar.dispatchEvent(new Event('change')); })()")
        assert page.text("#back-text").endswith("ago")
        page.wait("document.getElementById('video').currentSrc.startsWith('blob:') && document.getElementById('video').currentTime > 1", 30)
        page.wait("(() => { const { seekable, currentTime } = document.getElementById('video'); return seekable.length && seekable.end(0) - currentTime > 3; })()", 20)
        assert "m3u8" in page.value("performance.getEntriesByType('resource').map((one) => one.name).filter((one) => one.includes('start=')).join(' ')")
        wait_until(lambda: not plays_live(one), 15, "it does not play the live stream")
        page.click("#to-live")
        page.wait("document.getElementById('back-text').textContent === 'Live'")
        wait_until(lambda: plays_live(one), 20, "it plays the live stream again")


def test_the_landing_page_shows_the_recordings_of_a_live_stream(site, html, clip):
    """Without the API: they are listed, played and downloaded. Only those that a reader opens are asked for."""
    needs_libraries(html)
    one = site(conf=RECORDED)
    with FfmpegPublisher(one.live.url("cam"), clip("basic"), speed=1):
        wait_until(lambda: Playback(one.live).seconds() > 2, 40, "two seconds are listed")
        page = one.landing(viewport={"width": 360, "height": 740})
        page.wait("document.querySelectorAll('.stream').length === 1")
        asked = "performance.getEntriesByType('resource').filter((one) => one.name.includes('/recordings/')).length"
        assert page.value(asked) == 0
        page.click(".recorded summary")
        page.wait(SPANS % 1)
        assert page.value("[...document.querySelectorAll('.spans .acts > :not([hidden])')].map((one) => one.textContent)") == ["Play", "Download"]
        assert page.barriers() == [] and page.value(AUDIT) == []
        page.shot("recordings-landing", whole=True)
        with urllib.request.urlopen(page.value("document.querySelector('.spans a').href"), timeout=20) as answer:
            assert answer.read(8)[4:] == b"ftyp"
        page.click(".spans button:text-is('Play')")
        page.wait("location.pathname === '/players/stream.html' && " + FRAMES % 20, 30)
        assert "at=" in page.value("location.search")
    wait_until(lambda: not one.live.api("/api/v1/dvrs")["dvrs"], 15, "the recording is closed")


def test_the_landing_page_names_a_server_without_playback(site, html, clip):
    one = site()
    with one.publish("cam", clip("basic")):
        page = one.landing()
        page.click(".recorded summary")
        page.wait("/does not play recordings/.test(document.querySelector('.recorded').textContent)")
        assert not page.is_shown(".recorded .timeline") and page.value(AUDIT) == []
