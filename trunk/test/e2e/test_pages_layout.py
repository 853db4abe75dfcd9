"""The layout of the pages in a real Chromium: nothing is cut at any width, one menu, streams in order, the ways to publish, the page for what is
missing."""

import subprocess

import pytest

import live_server
from live_server import wait_until
from page_site import AUDIT, REMUX, SRT_ROOT, fixture_site, one_player  # noqa: F401

MENU = ["Streams", "Player", "WebRTC", "Publish", "Console", "Manual"]
PAGES = ["/", "/publish.html", "/console/", "/players/stream.html?stream=a-stream-with-a-rather-long-name", "/players/srs_player.html", "/players/whep.html", "/players/whip.html", "/nginx.html", "/404.html"]
# Of all that the selector finds, what is not wholly inside the screen's width.
OUTSIDE = """[...document.querySelectorAll('%s')].filter((one) => one.checkVisibility()).map((one) => [one.textContent, one.getBoundingClientRect()])
    .filter(([, box]) => box.width < 1 || box.left < 0 || box.right > innerWidth).map(([text, box]) => `${text}: ${box.left} to ${box.right}`)"""
# Texts that are wider than the box that cuts them.
CUT = """[...document.querySelectorAll('main *, nav a, footer *')].filter((one) => one.checkVisibility() && !one.closest('.out-of-sight, .skip, svg, input, select, pre, .scroll'))
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).overflowX !== 'visible').map((one) => one.outerHTML.slice(0, 80))"""


BESIDE = """(() => { const [video, charts] = ['video', 'hour'].map((id) => document.getElementById(id).getBoundingClientRect());
    return charts.left >= video.right && Math.abs(charts.top - video.top) < 4; })()"""


@pytest.mark.parametrize("width, height, scheme", [(320, 640, "light"), (768, 1024, "dark"), (1280, 860, "light"), (1920, 1080, "dark")], ids=["320", "768", "1280", "1920"])
def test_pages_fit_and_have_one_menu(site, clip, width, height, scheme):
    one = site()
    with one.publish("a-stream-with-a-rather-long-name", clip("basic")), one_player(one.live.url("a-stream-with-a-rather-long-name")):
        wait_until(lambda: len(one.live.api("/api/v1/clients/")["clients"]) == 2, 15, "a publisher and a player")
        for path in PAGES:
            page = one.open(path, viewport={"width": width, "height": height}, colorScheme=scheme)
            if path == "/":
                page.wait("document.querySelectorAll('.stream').length === 1")
            if path.startswith("/players/stream.html"):
                page.wait("document.querySelectorAll('#clients tbody tr').length >= 1 && document.querySelectorAll('#addresses code').length > 0")
                page.click("#share summary")
                page.wait("document.getElementById('hour').checkVisibility()")
                # A wide screen has the charts beside the player; others have them below.
                assert page.value(BESIDE) == (width >= 1600)
            if path == "/console/":
                page.wait("document.querySelectorAll('#clients tbody tr').length === 2 && document.querySelectorAll('#streams tbody tr').length === 1")
                assert page.value(OUTSIDE % "td.act > *") == []
            page.wait(f"document.querySelectorAll('nav a:not([hidden])').length === {len(MENU)}")
            assert page.value("[...document.querySelectorAll('nav a')].map((one) => one.textContent)") == MENU, path
            assert page.value(OUTSIDE % "nav a") == [], path
            assert page.value(AUDIT) == [], path
            assert page.value(CUT) == [], path
            page.shot(f"layout-{width}-{path.split('?')[0].strip('/').replace('/', '-') or 'landing'}", whole=True)


def test_the_landing_page_sorts_streams_and_shows_how_to_publish(site, clip):
    one = site(conf=live_server.conf(REMUX + "srt { enabled on; } rtsp { enabled on; }", SRT_ROOT + "rtsp_server { enabled on; listen 127.0.0.1:$rtsp; }\n"))
    page = one.landing()
    page.wait("document.getElementById('none').checkVisibility()")
    srt = f"srt://127.0.0.1:{one.live.ports['udp']}?streamid=#!::r=live"
    assert page.is_shown("#ffmpeg") and page.text("#srt code").endswith(f"'{srt}/livestream,m=publish'")
    rtsp = f"rtsp://127.0.0.1:{one.live.ports['rtsp']}/live"
    assert page.is_shown("#rtsp") and page.text("#rtsp code").endswith(f" {rtsp}/livestream")
    assert page.text("#state") == "Connected" and page.text("h1") == "Live streams"
    with one.publish("cam10", clip("basic")):
        wait_until(lambda: one.live.api("/api/v1/streams/")["streams"], 15, "the first one")
        with one.publish("cam2", clip("basic")):
            names = "[...document.querySelectorAll('%s')].map((one) => one.textContent.trim())"
            page.wait("document.querySelectorAll('.stream').length === 2")
            assert page.value(names % ".stream h2") == ["cam2", "cam10"]
            assert page.text("[data-link=srt] code") == f"{srt}/cam2,m=request"
            assert page.text("[data-link=rtsp] code") == f"{rtsp}/cam2"
            assert page.is_shown("#publish") and not page.is_shown("#ffmpeg")
            page.click("#publish summary")
            page.wait("document.getElementById('ffmpeg').checkVisibility()")
            page.shot("landing-publish", whole=True)
            console = one.console()
            console.wait("document.querySelectorAll('#streams tbody tr').length === 2")
            assert console.value(names % "#streams tbody th") == ["live/cam2", "live/cam10"]


def test_the_srt_addresses_work(site, clip):
    """As the page shows them: one publishes, the other one plays."""
    one = site(conf=live_server.conf(REMUX + "srt { enabled on; }", SRT_ROOT))
    page = one.landing()
    page.wait("document.getElementById('srt').checkVisibility()")
    publish = page.text("#srt code").split("'")[1]
    command = ["ffmpeg", "-v", "error", "-re", "-i", str(clip("basic")), "-c", "copy", "-f", "mpegts", publish]
    publisher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page.wait("document.querySelectorAll('.stream').length === 1")
        play = page.text("[data-link=srt] code")
        done = subprocess.run(["ffmpeg", "-v", "error", "-i", play, "-t", "1", "-c", "copy", "-f", "null", "-"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
    finally:
        publisher.kill()
        publisher.wait()


def test_a_page_that_is_missing_leads_on(site):
    one = site()
    for path in ("/nosuch.html", "/no/such/folder/"):
        page = one.open(path)
        assert page.text("h1") == "Not found" and page.value("document.styleSheets.length") == 1
        assert page.value(f"fetch({path!r}, {{ headers: {{ Accept: 'text/html' }} }}).then((answer) => answer.status)") == 404
    page.click("nav a")
    page.wait("document.getElementById('none')?.checkVisibility()")
