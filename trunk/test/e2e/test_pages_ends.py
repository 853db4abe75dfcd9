"""The pages in a real Chromium where playing ends: a stream that stops, a server that refuses, a browser that fails."""

import json

import pytest

import live_server
from hook_server import Answer, HookServer
from live_server import wait_until
from page_site import REMUX, fixture_site, has_media, needs_libraries  # noqa: F401

STATE = "document.getElementById('state').textContent"
HEADLINE = "document.getElementById('headline').textContent"
RTC_ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; }\n"
RTC = "rtc { enabled on; rtmp_to_rtc on; }"
HLS = "hls { enabled on; hls_fragment 1; hls_window 6; hls_path $folder/html; hls_m3u8_file [app]/[stream].m3u8;"
# Where each page plays live/cam.
PAGES = {"flv": "/players/srs_player.html?stream=cam&autostart=true", "ws": "/players/srs_player.html?stream=cam&schema=ws&autostart=true",
         "hls": "/players/srs_player.html?stream=cam.m3u8&autostart=true", "whep": "/players/whep.html?stream=cam&autostart=true"}


@pytest.mark.parametrize("way, more", [pytest.param("whep", "", id="whep"), pytest.param("hls", "}", id="hls", marks=pytest.mark.long),
                                       pytest.param("hls", "hls_ll on; hls_use_fmp4 on; }", id="ll-hls")])
def test_a_page_shows_the_end_of_the_stream_and_plays_its_successor(site, html, clip, way, more):
    needs_libraries(html)
    one = site(conf=live_server.conf(RTC + REMUX + (HLS + more if way == "hls" else ""), RTC_ROOT))
    with one.publish("cam", clip("basic")):
        if way == "hls":
            wait_until(lambda: has_media(f"{one.origin}/live/cam.m3u8?hls_ctx=first"), 40, "a playlist")
        page = one.open(PAGES[way])
        page.wait(f"{STATE} === 'Playing'", 30)
    page.wait(f"{STATE} === 'Waiting' && {HEADLINE}.includes('has ended')", 30)
    assert page.is_shown("#over") and "good" not in page.value("document.getElementById('dot').className")
    page.shot(f"ended-{way}")
    with one.publish("cam", clip("basic")):
        page.wait(f"{STATE} === 'Playing'", 40)
        page.wait("!document.getElementById('over').checkVisibility()")


@pytest.mark.parametrize("way", list(PAGES))
def test_a_refused_page_shows_the_servers_reason_and_stops(site, html, clip, way):
    needs_libraries(html)
    with HookServer() as hooks:
        hooks.answers["on_play"] = Answer(json.dumps({"code": 403, "msg": "your subscription has ended"}))
        called = f"http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; }}"
        one = site(conf=live_server.conf(RTC + REMUX + HLS + "}" + called, RTC_ROOT))
        with one.publish("cam", clip("basic")):
            wait_until((one.live.folder / "html/live/cam.m3u8").exists, 40, "a playlist")
            page = one.open(PAGES[way])
            page.wait(f"{STATE} === 'Cannot play'", 30)
            text = page.value(HEADLINE)
            assert text == "The server refused: your subscription has ended (HTTP 403).", text
            page.wait("document.getElementById('connections').textContent === '1'")
            assert page.is_shown("#again")
            assert 1 <= len(hooks.events) <= 2, "the attempt, and one more for a reason that the browser withholds"
            page.shot(f"refused-{way}")
            # A person may try again.
            hooks.answers.clear()
            page.click("#again")
            page.wait(f"{STATE} === 'Playing'", 40)


def test_a_player_still_waits_for_a_stream_that_may_come(site, html):
    needs_libraries(html)
    one = site(conf=live_server.conf(REMUX + HLS + "}"))
    page = one.open(PAGES["hls"])
    page.wait(f"{STATE} === 'Interrupted' && {HEADLINE}.includes('404')")


@pytest.mark.parametrize("name, said", [("NotFoundError", "no suitable camera"), ("NotAllowedError", "Allow it and try again"),
                                        ("NotReadableError", "Another program"), ("OverconstrainedError", "is missing")])
def test_the_publishers_page_explains_browser_errors(site, name, said):
    page = site(conf=live_server.conf(RTC, RTC_ROOT)).open("/players/whip.html?stream=cam")
    page.value("navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('Requested device not found', "
               f"{name!r})), 0")
    page.click("#publish")
    page.wait(f"{STATE} === 'Stopped' && {HEADLINE} !== 'Stopped'")
    assert said in page.value(HEADLINE) and "Requested device" not in page.value(HEADLINE)


def test_webrtc_pages_name_a_server_that_does_not_answer(site):
    one = site(conf=live_server.conf(RTC, RTC_ROOT))
    page = one.open("/players/whep.html?url=http://127.0.0.1:9/rtc/v1/whep/&autostart=true")
    page.wait(f"{HEADLINE}.startsWith('127.0.0.1:9 does not respond.')")
    labels = page.value("[...document.querySelectorAll('dt')].map((one) => one.textContent)")
    assert "Jitter buffer" in labels and "Latency" not in labels


def test_webrtc_plays_a_stream_of_audio_alone(site, clip):
    one = site(conf=live_server.conf(RTC, RTC_ROOT))
    with one.publish("cam", clip("audio")):
        page = one.open(PAGES["whep"])
        page.wait(f"{STATE} === 'Playing'", 30)
        assert page.text("#size") == "none"
    page.wait(f"{STATE} === 'Waiting' && {HEADLINE}.includes('has ended')", 30)
