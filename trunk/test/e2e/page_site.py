"""A server with the pages, and pages opened on it in Chromium."""

import contextlib
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest

import browser as browsers
import players
from live_server import can_connect, wait_until

SRT_ROOT = "srt_server { enabled on; listen 127.0.0.1:$udp; }\n"
REMUX = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"


class Site:
    """A server with pages, and pages opened on it."""

    def __init__(self, live, chromium):
        self.live, self.chromium, self.opened = live, chromium, []
        self.origin = f"http://127.0.0.1:{live.ports['http']}"
        self.api = f"http://127.0.0.1:{live.ports['api']}"

    def open(self, path: str, base: str | None = None, **options) -> browsers.Page:
        page = self.chromium.page(**options)
        self.opened.append(page)
        return page.goto((base or self.origin) + path)

    def landing(self, **options) -> browsers.Page:
        return self.open("/", **options)

    def console(self, **options) -> browsers.Page:
        return self.open("/console/", **options)

    def player(self, stream: str, more: str = "", **options) -> browsers.Page:
        return self.open(f"/players/srs_player.html?app=live&stream={stream}&autostart=true{more}", **options)

    def publish(self, stream: str, clip) -> players.FfmpegPublisher:
        return players.FfmpegPublisher(self.live.url(stream), clip)


@pytest.fixture(name="site")
def fixture_site(server, html, chromium):
    """site() starts a server with pages. At the end no page may have complained."""
    started = []

    def start(folder=html, **options) -> Site:
        live = server(vhost=REMUX, **options)
        shutil.copytree(folder, live.folder / "html", dirs_exist_ok=True)
        started.append(Site(live, chromium))
        wait_until(lambda: can_connect(live.ports["http"]), 20, "the HTTP server")
        return started[-1]

    yield start
    for one in started:
        for page in one.opened:
            complaints = page.complaints()
            page.close()
            assert not complaints, complaints


@contextlib.contextmanager
def one_player(url: str):
    player = subprocess.Popen(["ffmpeg", "-v", "error", "-i", url, "-c", "copy", "-f", "null", "-"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        player.kill()
        player.wait()


def password(live, more: str = "auth { enabled on; username u; password p; }") -> None:
    """The API asks for one from now on."""
    live.stop()
    live.write_conf(live.conf_path.read_text().replace("http_api { enabled on;", f"http_api {{ enabled on; {more}"))
    live.start(ready=False)
    wait_until(lambda: can_connect(live.ports["api"]) and can_connect(live.ports["http"]), 20, "the server with a password")


def needs_libraries(html):
    if not (html / "players/js/mpegts.js").exists():
        pytest.skip("no npm, or no network for it: the player has no libraries")


def has_media(playlist: str) -> bool:
    try:
        with urllib.request.urlopen(playlist, timeout=5) as answer:
            return b"#EXT-X-TARGETDURATION" in answer.read()
    except urllib.error.HTTPError:
        return False


# Accessibility: names for everything that can be operated, contrast of 4.5 to 1 for every
# text (WCAG 2.1, 1.4.3), a language, one h1.
AUDIT = r"""(() => {
    const wrong = [];
    const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
    const colour = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
    const ground = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const found = colour(getComputedStyle(at).backgroundColor);
            if (found.length === 3) return found;
            if (at.id === 'over') return [60, 60, 60];
        }
        return [255, 255, 255];
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let texts = 0;
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('.out-of-sight, .skip, option, :disabled, noscript')) continue;
        texts++;
        const [a, b] = [luminance(colour(getComputedStyle(element).color)), luminance(ground(element))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${walker.currentNode.data.trim().slice(0, 40)}`);
    }
    let level = 0;
    for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
        if (!heading.checkVisibility()) continue;
        const own = Number(heading.tagName[1]);
        if (own > level + 1) wrong.push(`heading order: h${own} after h${level}: ${heading.textContent.slice(0, 40)}`);
        level = own;
    }
    if (texts < 5) wrong.push(`only ${texts} texts were looked at`);
    for (const element of document.querySelectorAll('button, a[href], input, select, video, [role=img]')) {
        const named = element.getAttribute('aria-label') || element.textContent.trim() || element.labels?.[0]?.textContent.trim();
        if (!named) wrong.push(`no name: ${element.outerHTML.slice(0, 80)}`);
        if (element.tabIndex < 0 && element.matches('button, a[href], input, select')) wrong.push(`not in the tab order: ${element.outerHTML.slice(0, 80)}`);
    }
    if (!document.documentElement.lang) wrong.push('no language');
    if ([...document.querySelectorAll('h1')].filter((h) => h.checkVisibility()).length > 1) wrong.push('more than one h1');
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) wrong.push(`wider than the screen: ${scrollWidth} > ${clientWidth}`);
    return wrong;
})()"""
