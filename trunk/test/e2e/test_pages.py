"""The pages in a real Chromium: the landing page lists what is live, the player plays it, the console shows it and kicks."""

import json
import shutil
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

import browser as browsers
import live_server
import own_network
import players
from fake_api import HOSTILE, HostileApi, JsonServer, serving
from hook_server import HookServer
from live_server import TRUNK, can_connect, free_port, wait_until
from page_site import AUDIT, REMUX, fixture_site, has_media, needs_libraries, password  # noqa: F401

pytestmark = pytest.mark.workers

PHONE = {"viewport": {"width": 360, "height": 780}, "isMobile": True, "hasTouch": True, "deviceScaleFactor": 2}
DECODED = "document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames"


def without_npm(folder):
    """A PATH that has the tools of make-pages.sh and no npm."""
    folder.mkdir()
    for tool in ("sh", "dirname", "nproc", "find", "sed", "sort", "cksum", "cut", "cmp", "mkdir", "cp", "chmod", "mv", "rm", "touch", "mktemp"):
        (folder / tool).symlink_to(shutil.which(tool))
    return str(folder)


def test_the_build_copies_pages_without_npm_and_touches_nothing_else(tmp_path):
    html = tmp_path / "html"
    (html / "live").mkdir(parents=True)
    recording = html / "live" / "cam.flv"
    recording.write_text("a recording")
    environment = {"PATH": without_npm(tmp_path / "bin"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [TRUNK / "scripts/make-pages.sh", html]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("\n") == 1 and "no npm" in done.stdout and not done.stderr
    assert (html / "index.html").read_bytes() == (TRUNK / "research/html/index.html").read_bytes()
    assert not (html / "package-lock.json").exists() and not (html / "README.md").exists()
    (html / "index.html").write_text("old")
    (html / "players/srs_player.html").touch()
    before = (html / "players/srs_player.html").stat().st_mtime_ns
    subprocess.run(command, env=environment, capture_output=True, timeout=60, check=True)
    assert (html / "index.html").read_bytes() == (TRUNK / "research/html/index.html").read_bytes()
    assert (html / "players/srs_player.html").stat().st_mtime_ns == before, "what is the same is not written again"
    assert recording.read_text() == "a recording"


@pytest.mark.parametrize("lock", ["research/html/package-lock.json", "test/e2e/browser/package-lock.json"])
def test_lock_files_pin_by_digest_and_name_no_registry(lock):
    packages = json.loads((TRUNK / lock).read_text())["packages"]
    for name, package in packages.items():
        assert name == "" or package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
    assert "://" not in (TRUNK / lock).read_text()


def wait_playing(page, frames: int = 50, limit_s: float = 20) -> None:
    """Pictures are decoded, one after the other, and sound too."""
    page.wait("document.getElementById('state').textContent === 'Playing'", limit_s)
    before = page.value(DECODED)
    page.wait(f"{DECODED} >= {before + frames}", frames / 25 + 15)
    assert page.value("document.getElementById('video').webkitAudioDecodedByteCount") > 0


# Checks video and audio of the next two seconds; of more if a busy browser pauses.
WITNESS = """(async () => {
    const video = document.getElementById('video');
    if (!window.ears) {  // An element's sound can be taken once.
        const sound = new AudioContext();
        window.ears = sound.createAnalyser();
        sound.createMediaElementSource(video).connect(window.ears);
        window.ears.connect(sound.destination);
    }
    const samples = new Float32Array(window.ears.fftSize);
    const picture = new OffscreenCanvas(64, 36).getContext('2d', { willReadFrequently: true });
    const frames = () => video.getVideoPlaybackQuality().totalVideoFrames;
    const begin = { frames: frames(), time: video.currentTime, at: performance.now() };
    let energy = 0, count = 0, darkest = 255, brightest = 0;
    const goesOn = () => frames() - begin.frames >= 16 && video.currentTime - begin.time > 1.2;
    while (performance.now() - begin.at < (goesOn() ? 2000 : 15000)) {
        await new Promise((done) => setTimeout(done, 50));
        window.ears.getFloatTimeDomainData(samples);
        for (const sample of samples) energy += sample * sample;
        count += samples.length;
        picture.drawImage(video, 0, 0, 64, 36);
        const pixels = picture.getImageData(0, 0, 64, 36).data;
        for (let at = 1; at < pixels.length; at += 4) {
            darkest = Math.min(darkest, pixels[at]);
            brightest = Math.max(brightest, pixels[at]);
        }
    }
    return { frames: frames() - begin.frames, seconds: video.currentTime - begin.time, loudness: Math.sqrt(energy / count),
             contrast: brightest - darkest, size: [video.videoWidth, video.videoHeight] };
})()"""


def assert_seen_and_heard(page, size=(640, 360)) -> None:
    """Frames are decoded and not blank, the time advances, the size is right, there is audio. The bounds leave room for a machine
    that is too busy to show every frame."""
    got = page.value(WITNESS)
    assert got["frames"] >= 16 and got["seconds"] > 1.2, got
    assert got["contrast"] > 16 and got["loudness"] > 0.001 and got["size"] == list(size), got


def test_landing_lists_a_stream_and_its_play_button_plays_it(site, html, clip):
    needs_libraries(html)
    one = site()
    with one.publish("cam", clip("basic")):
        page = one.landing()
        page.wait("document.querySelectorAll('.stream').length === 1")
        assert page.text(".stream h2") == "cam"
        page.wait("/H264 Main.*640×360/.test(document.querySelector('.facts').textContent)")
        page.wait(r"/\d+ kbps/.test(document.querySelector('.facts').textContent)", 40)
        assert "AAC LC" in page.text(".facts")
        assert page.text("[data-link=rtmp] code") == one.live.url("cam")
        assert page.text("[data-link=flv] code") == f"{one.origin}/live/cam.flv"
        assert page.value("document.querySelectorAll('[data-link]').length") == 2
        page.shot("landing")
        page.click(".stream .primary")
        wait_playing(page)
        assert page.text("#size") == "640×360"
        page.wait("Number(document.getElementById('fps').textContent) >= 20")
        page.wait("parseFloat(document.getElementById('latency').textContent) < 4")
        assert_seen_and_heard(page)
        page.shot("player")


# What a viewer sees of the clip's frame numbers (clips.py), and when.
FRAME_NUMBER = """(() => {
    const canvas = new OffscreenCanvas(640, 360).getContext('2d');
    canvas.drawImage(document.getElementById('video'), 0, 0, 640, 360);
    let number = 0;
    for (let cell = 0; cell < 16; cell++) number = number * 2 + (canvas.getImageData(cell * 20 + 10, 10, 1, 1).data[1] > 127 ? 1 : 0);
    return [number, Date.now() / 1000];
})()"""


def delay_seconds(page, began: float) -> float:
    """The time from the publication of a frame, by its number, to its display; the first one was published at the start of the stream."""
    number, now = page.value(FRAME_NUMBER)
    clip_frames = 20 * 25
    return ((now - began) * 25 - number) % clip_frames / 25


HLS_VHOSTS = "".join(f"vhost {name} {{ hls {{ enabled on; hls_fragment 2; hls_window 12; hls_path $folder/html; hls_m3u8_file [app]/[stream].m3u8; {more} }} }}\n"
                     for name, more in {"ll.test": "hls_ll on; hls_use_fmp4 on;", "llts.test": "hls_ll on;", "ts.test": "", "fmp4.test": "hls_use_fmp4 on;"}.items())


@pytest.mark.parametrize("forms", [["ll"], pytest.param(["llts", "ts", "fmp4"], marks=pytest.mark.long)], ids=["low_latency", "others"])
def test_player_plays_hls_and_shows_its_latency(site, html, clip, forms):
    needs_libraries(html)
    one = site(root=HLS_VHOSTS)
    publishers, began = [one.publish(f"{form}?vhost={form}.test", clip("basic")) for form in forms], {}
    try:
        while len(began) < len(forms):
            for stream in one.live.api("/api/v1/streams/")["streams"]:
                if stream["publish"]["active"]:
                    began.setdefault(stream["name"], time.time())
            time.sleep(0.02)
        for form in forms:
            playlist = f"{one.origin}/live/{form}.m3u8?vhost={form}.test&hls_ctx=abc{form}"
            wait_until(lambda url=playlist: has_media(url), 40, f"a playlist of {form}")
            page = one.player(f"{form}.m3u8&vhost={form}.test")
            wait_playing(page, 25)
            assert_seen_and_heard(page)
            page.wait("/^[0-9.]+ s$/.test(document.getElementById('latency').textContent)")

            def delays(page=page, form=form) -> tuple[float, float]:
                return float(page.text("#latency").split(" ")[0]), delay_seconds(page, began[form])
            if form.startswith("ll"):
                # It catches up after whatever has held the browser up.
                wait_until(lambda: max(delays()) < 2, 20, "less than two seconds behind")  # pylint: disable=cell-var-from-loop
            shown, behind = delays()
            print(f"{form}: the page says {shown} s, the picture {behind:.2f} s behind")
            page.shot(f"player-hls-{form}")
    finally:
        for publisher in publishers:
            publisher.kill()


def test_landing_shows_how_to_publish_and_follows_streams(site, clip):
    one = site()
    page = one.landing()
    page.wait("document.getElementById('none').checkVisibility()")
    command = page.text("#ffmpeg code")
    assert command.startswith("ffmpeg ") and command.endswith(one.live.url("livestream"))
    assert page.text("#obs-server code") == one.live.url("")[:-1] and page.text("#obs-key code") == "livestream"
    page.shot("landing-empty")
    with one.publish("livestream", clip("basic")):
        page.wait("document.querySelectorAll('.stream').length === 1")
    page.wait("document.getElementById('none').checkVisibility()")


def test_landing_reports_a_lost_and_returned_server(site):
    one = site()
    page = one.landing()
    page.wait("document.getElementById('none').checkVisibility()")
    one.live.stop()
    page.wait("document.getElementById('unreachable').checkVisibility()")
    assert page.text("#tried") == one.origin and page.text("#state") == "No response"
    page.shot("landing-unreachable")
    one.live.start()
    page.wait("document.getElementById('none').checkVisibility()")


def test_landing_reports_a_disabled_list(site, clip):
    one = site(conf=live_server.conf(REMUX).replace("dir $folder/html;", "dir $folder/html; stream_list off;"))
    with one.publish("cam", clip("basic")):
        page = one.landing()
        page.wait("document.getElementById('off').checkVisibility()")
        assert not page.is_shown("#publish") and not page.is_shown(".stream")
        page.shot("landing-list-off")


ASKED = "performance.getEntriesByType('resource').filter((e) => e.initiatorType === 'fetch').map((e) => new URL(e.name).pathname + ' ' + new URL(e.name).port)"


def test_landing_makes_one_call_and_no_player(site, clip):
    """Without a viewer, no player is counted and no callback is called, also with HLS sessions."""
    with HookServer() as hooks:
        vhost = f"{REMUX} hls {{ enabled on; hls_fragment 2; hls_path $folder/html; }} dash {{ enabled on; dash_fragment 2; dash_path $folder/html; }}"
        called = f"http_hooks {{ enabled on; on_stop {hooks.url('/on_stop')}; }}"
        one = site(conf=live_server.conf(vhost + called))
        with one.publish("cam", clip("basic")):
            page = one.landing()
            page.wait("document.querySelectorAll('.stream').length === 1")
            assert set(page.value(ASKED)) == {f"/streams.json {one.live.ports['http']}"}
            page.wait("document.querySelector('[data-link=hls]') && document.querySelector('[data-link=dash]')", 20)
            assert page.text("[data-link=hls] code") == f"{one.origin}/live/cam.m3u8"
            page.shot("landing-formats", whole=True)
            assert set(page.value(ASKED)) == {f"/streams.json {one.live.ports['http']}"}
            assert [client["type"] for client in one.live.api("/api/v1/clients/")["clients"]] == ["fmle-publish"]
            assert hooks.events == []
            assert not page.is_shown("#hides-some")


def test_the_list_hides_streams_that_a_callback_guards(site, clip):
    """A client that may not play must not learn the names; the list must not call the callback, which would count a player."""
    with HookServer() as hooks:
        guarded = f"vhost guarded.test {{ {REMUX} http_hooks {{ enabled on; on_play {hooks.url('/on_play')}; }} }}\n"
        one = site(root=guarded)
        with one.publish("hidden?vhost=guarded.test", clip("basic")):
            wait_until(lambda: one.live.api("/api/v1/streams/")["streams"], 15, "the guarded stream is live")
            page = one.landing()
            page.wait("document.getElementById('none').checkVisibility()")
            assert page.is_shown("#hides-some")
            with one.publish("open", clip("basic")):
                page.wait("document.querySelectorAll('.stream').length === 1")
                assert page.text(".stream h2") == "open" and page.is_shown("#hides-some")
            with urllib.request.urlopen(f"{one.origin}/streams.json", timeout=5) as answer:
                assert b"hidden" not in answer.read()
            assert hooks.events == []


def test_an_api_with_a_password_hides_no_stream(site, clip):
    one = site()
    password(one.live)
    with one.publish("cam", clip("basic")):
        page = one.landing()
        page.wait("document.querySelectorAll('.stream').length === 1")
        assert page.text("#state") == "Connected"


OTHER_MACHINE_CONF = """\
listen              1935;
max_connections     1000;
daemon              off;
srs_log_tank        console;
pid                 $folder/srs.pid;
http_api {{ enabled on; listen {api}; }}
http_server {{ enabled on; listen {http}; dir $folder/html; }}
vhost __defaultVhost__ {{ http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }} }}
"""


def look_from_another_machine(tmp_path, html, clip):
    """The API listens on loopback, as it does by default, and on the usual port of the API answers another server."""
    near = own_network.AnotherMachine.NEAR
    other = OTHER_MACHINE_CONF.replace("1935", "1936").format(api=1985, http=8081)
    texts = {"mine": OTHER_MACHINE_CONF.format(api="127.0.0.1:1984", http=8080), "other": other}
    servers, publishers = [], []
    with own_network.AnotherMachine() as elsewhere:
        chromium = browsers.Browser(elsewhere.command)
        try:
            for name, text in texts.items():
                (tmp_path / name).mkdir()
                servers.append(live_server.LiveServer(tmp_path / name, text))
                shutil.copytree(html, servers[-1].folder / "html")
                servers[-1].start(ready=False)
                port = 1935 + len(publishers)
                wait_until(lambda port=port: can_connect(port), 20, f"RTMP of {name}")
                publishers.append(players.FfmpegPublisher(f"rtmp://127.0.0.1:{port}/live/{name}", clip))
            page = chromium.page().goto(f"http://{near}:8080/")
            page.wait("document.querySelectorAll('.stream').length === 1")
            assert page.text(".stream h2") == "mine"
            assert page.text("[data-link=rtmp] code") == f"rtmp://{near}/live/mine"
            assert page.text("[data-link=flv] code") == f"http://{near}:8080/live/mine.flv"
            page.wait("/640×360/.test(document.querySelector('.facts').textContent)")
            page.shot("landing-another-machine")
            console = chromium.page().goto(f"http://{near}:8080/console/")
            console.wait("document.getElementById('problem').checkVisibility()")
            assert console.text("#problem-title") == "The API is not reachable from this machine"
            assert "listen  1985" in console.text("#problem-conf") and not console.is_shown("#figures")
            console.shot("console-another-machine")
            # Applies the proposed conf.
            console = chromium.page().goto(f"http://{near}:8081/console/")
            console.wait("document.querySelector('#streams tbody th')?.textContent.trim() === 'live/other'")
            if (html / "players/js/mpegts.js").exists():
                page.click(".stream .primary")
                wait_playing(page)
            player = chromium.page().goto(f"http://{near}:8080/players/whep.html")
            assert player.value("document.getElementById('address').value").startswith(f"http://{near}:8080/rtc/v1/whep/?")
            for one in (page, console):
                assert one.complaints() == []
        finally:
            for publisher in publishers:
                publisher.kill()
            chromium.close()
            for one in servers:
                one.kill()


def test_pages_work_from_another_machine(tmp_path, html, clip):
    own_network.run(look_from_another_machine, tmp_path, html, clip("basic"), limit_s=180)


class OtherSite(JsonServer):
    """Reports the address of another server's API."""

    api = ""

    def told(self, name: str) -> dict:
        return {"server": "vid-mine", "streams": [], "next": None, "publish": [], "api": {"url": self.api}}


def test_console_does_not_take_another_server_for_its_own(site):
    one = site()
    with serving(type("Site", (OtherSite,), {"api": one.api})) as port:
        console = one.open(f"/console/?site=127.0.0.1:{port}")
        console.wait("document.getElementById('problem').checkVisibility()")
        assert console.text("#problem-title") == "Another server responds" and not console.is_shown("#figures")
        console.shot("console-another-server")


def test_console_of_an_edge_shows_the_origin_of_a_stream(site, server, clip):
    origin = server()
    one = site(conf=live_server.conf(f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }} {REMUX}").replace("$http", "$api"), ports=live_server.OnePort())
    with players.FfmpegPublisher(origin.url("cam"), clip("basic")):
        player = subprocess.Popen(["ffmpeg", "-v", "error", "-i", one.live.url("cam"), "-c", "copy", "-f", "null", "-"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            console = one.open("/console/")
            console.wait(f"document.querySelector('#streams').textContent.includes('rtmp://127.0.0.1:{origin.ports['rtmp']}, ')")
            with one.publish("own", clip("basic")):
                console.wait("[...document.querySelectorAll('#streams tbody tr')].some((row) => /own/.test(row.textContent) && /here/.test(row.textContent))")
        finally:
            player.kill()
            player.wait()


def test_one_port_needs_no_parameters(site, clip):
    one = site(conf=live_server.conf(REMUX).replace("$http", "$api"), ports=live_server.OnePort())
    live = one.live
    with one.publish("cam", clip("basic")):
        page = one.open("/")
        page.wait("document.querySelectorAll('.stream').length === 1")
        assert page.text("[data-link=rtmp] code") == live.url("cam")
        console = one.open("/console/")
        console.wait("document.querySelectorAll('#streams tbody tr').length === 1")


STREAM_PAGE = f"/players/stream.html?{urllib.parse.urlencode({key: HOSTILE for key in ('app', 'stream', 'vhost')})}"


@pytest.mark.parametrize("path, query, place", [
    ("/", "?site=$", ".stream h2"), ("/console/", "?api=$", "#streams tbody th"), ("/console/", "?api=$", "#log"), (STREAM_PAGE, "&site=$&api=$", "#events"),
    (STREAM_PAGE, "&site=$&api=$", "#clients tbody th"), (STREAM_PAGE, "&site=$&api=$", "#health"), ("/publish.html", "?site=$", "#obs-key code")])
def test_names_of_strangers_are_text(site, path, query, place):
    with serving(HostileApi) as port:
        page = site().open(path + query.replace("$", f"127.0.0.1:{port}"))
        page.wait(f"document.querySelector('{place}')?.textContent.includes('onerror')")
        assert HOSTILE in page.text(place)
        assert page.value("document.querySelectorAll('main img:not(.thumbnail)').length") == 0
        links = page.value("[...document.querySelectorAll('main a[href]')].map((a) => new URL(a.href).protocol)")
        assert links and set(links) == {"http:"}


def test_player_waits_for_the_publisher_and_comes_back_after_a_break(site, html, clip):
    needs_libraries(html)
    one = site()
    page = one.player("later")
    page.wait("document.getElementById('state').textContent === 'Waiting'")
    page.shot("player-waiting")
    for _ in range(2):
        with one.publish("later", clip("basic")):
            wait_playing(page, limit_s=25)
            page.wait("!document.getElementById('over').checkVisibility()")
        page.wait("document.getElementById('state').textContent !== 'Playing'")
        page.wait("document.getElementById('over').checkVisibility()")
    assert int(page.text("#connections")) >= 2
    page.click("#stop")
    page.wait("document.getElementById('state').textContent === 'Stopped'")


def test_player_plays_flv_over_websocket(site, html, clip):
    needs_libraries(html)
    one = site()
    with one.publish("cam", clip("basic")):
        page = one.player("cam", "&schema=ws")
        assert page.value("document.getElementById('address').value") == f"ws://127.0.0.1:{one.live.ports['http']}/live/cam.flv"
        assert page.value("document.getElementById('way').value") == "ws-flv"
        wait_playing(page)
        assert_seen_and_heard(page)
        page.select("#way", "flv")
        wait_playing(page)
        assert_seen_and_heard(page)
        assert page.value("document.getElementById('address').value").startswith("http://")


def test_player_names_a_missing_library(site, html, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(html, bare)
    shutil.rmtree(bare / "players/js", ignore_errors=True)
    page = site(folder=bare).player("cam")
    page.wait("document.getElementById('state').textContent === 'Cannot play'")
    assert "mpegts.js" in page.text("#headline") and "npm" in page.text("#headline")


@pytest.mark.parametrize("query, address", [
    ("", "http://127.0.0.1:$http/live/livestream.flv"),
    ("server=10.0.0.5&port=1935&app=live&stream=livestream&vhost=10.0.0.5&autostart=true", "http://10.0.0.5:8080/live/livestream.flv"),
    ("server=10.0.0.5&httpPort=80&app=a/b&stream=x.m3u8", "http://10.0.0.5/a/b/x.m3u8"),
    ("schema=https&server=h&port=8443&stream=x", "https://h:8443/live/x.flv"),
    ("schema=wss&server=h&stream=x", "wss://h:8088/live/x.flv"),
    ("stream=a b%26c&vhost=v.example&token=t/1", "http://127.0.0.1:$http/live/a%20b%26c.flv?vhost=v.example&token=t%2F1"),
    ("vhost=__defaultVhost__&api=1985&eip=1.2.3.4", "http://127.0.0.1:$http/live/livestream.flv"),
    ("url=rtmp://127.0.0.1/live/cam?token=t", "http://127.0.0.1:$http/live/cam.flv?token=t"),
    ("url=rtmp://other:1935/live/cam", "http://other:8080/live/cam.flv"),
    ("url=https://x.example/a.m3u8", "https://x.example/a.m3u8"),
    ("server=evil/../x&port=99999", "http://127.0.0.1:$http/live/livestream.flv"),
])
def test_player_reads_its_query(site, query, address):
    one = site()
    code = f"import('/players/address.js').then((m) => m.addressOf(new URLSearchParams({query!r}), location))"
    assert one.open("/nginx.html").value(code) == address.replace("$http", str(one.live.ports["http"]))


@pytest.mark.parametrize("address", ["javascript:alert(1)//x.flv", "data:text/html,x.flv", "file:///etc/passwd.mp4", "ftp://h/x.flv", "nonsense"])
def test_player_plays_nothing_but_web_addresses(site, address):
    page = site().open(f"/players/srs_player.html?autostart=true&url={address}")
    page.wait("document.getElementById('state').textContent === 'Cannot play'")


def test_console_shows_streams_and_clients_and_kicks(site, clip):
    one = site()
    with one.publish("cam", clip("basic")):
        player = subprocess.Popen(["ffmpeg", "-v", "error", "-i", one.live.url("cam"), "-c", "copy", "-f", "null", "-"], stdin=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            page = one.console()
            page.wait("document.querySelectorAll('#clients tbody tr').length === 2")
            # The other table is of another request.
            page.wait("document.querySelector('#streams tbody th')?.textContent.trim() === 'live/cam'")
            page.wait("/H264 Main.*640×360/.test(document.querySelector('#streams').textContent)")
            assert "fmle-publish" in page.text("#clients") and "rtmp-play" in page.text("#clients")
            version = one.live.api("/api/v1/versions")["data"]["version"]
            assert version in page.text("#tiles") and version in page.text("#about")
            # The first interval of the server's history is over.
            page.wait("/^M[0-9]/.test(document.querySelector('.chart .line').getAttribute('d'))", 25)
            page.wait("/bps/.test(document.querySelector('.chart svg').getAttribute('aria-label'))")
            page.shot("console", whole=True)
            kick = "#clients tbody tr:has(td:text-is('rtmp-play')) button"
            page.click(kick)
            page.wait("document.getElementById('confirm').open")
            assert "rtmp-play" in page.text("#confirm-text")
            page.shot("console-kick")
            page.press("Escape")
            page.wait("!document.getElementById('confirm').open")
            time.sleep(0.5)
            assert player.poll() is None, "Escape must keep the client"
            page.click(kick)
            page.click("#confirm .danger")
            page.wait("document.querySelectorAll('#clients tbody tr').length === 1")
            assert "was kicked" in page.text("#clients-note")
            player.wait(20)
        finally:
            if player.poll() is None:
                player.kill()
                player.wait()


def sign_in(page, user: str | None, secret: str) -> None:
    page.wait("document.getElementById('sign-in').checkVisibility()")
    if user is not None:
        page.fill("#user", user)
    page.fill("#password", secret)
    page.press("Enter")


def test_console_shows_the_state_of_forwards(site, clip):
    one = site(conf=live_server.conf(f"{REMUX} forward {{ enabled on; destination 127.0.0.1:{free_port()}; }}"))
    with one.publish("cam", clip("basic")):
        page = one.console()
        page.wait("/0 of 1; rtmp:.*, (waiting|connecting), /.test(document.querySelector('#streams').textContent)")


def test_console_lists_the_warnings_about_the_conf(site):
    one = site(conf=live_server.conf(f"{REMUX} hds {{ enabled on; }}"))
    page = one.console()
    page.wait("[...document.querySelectorAll('#warnings-list li')].some((one) => one.textContent.includes('vhost.hds'))")
    assert page.is_shown("#warnings")
    one.live.write_conf(live_server.conf(REMUX))
    one.live.process.send_signal(signal.SIGHUP)
    page.wait("![...document.querySelectorAll('#warnings-list li')].some((one) => one.textContent.includes('vhost.hds'))")


@pytest.mark.parametrize("name", ["CONF_OPEN", "CONF_HTTPS"])
def test_each_conf_that_the_console_proposes_has_a_password(site, tmp_path, name):
    proposed = site().open("/console/").value(f"import('/console/advice.js').then((advice) => advice.{name})")
    (tmp_path / "conf").mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "conf/KEY.pem", "-out", "conf/CERT.pem"],
                   cwd=tmp_path, check=True, capture_output=True, timeout=60)
    conf = f"listen 127.0.0.1:$rtmp; daemon off; srs_log_tank console; pid $folder/srs.pid;\nvhost __defaultVhost__ {{ }}\n{proposed}\n"
    conf = conf.replace("listen  1985", "listen 127.0.0.1:$api").replace("listen 1990", "listen 127.0.0.1:$tls")
    if "$api" not in conf:
        conf = conf.replace("http_api {", "http_api { listen 127.0.0.1:$api;")
    live = live_server.LiveServer(tmp_path, conf)
    try:
        live.start(ready=False)
        wait_until(lambda: can_connect(live.ports["api"]), 20, live.log)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            live.api("/api/v1/versions")
        if "$tls" in conf:
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"https://127.0.0.1:{live.ports['tls']}/api/v1/versions", context=ssl._create_unverified_context(), timeout=10)
    finally:
        live.stop()


@pytest.mark.parametrize("place", ["page", "api"])
def test_console_signs_in(site, clip, place):
    """From the streaming port the API is another origin, on its own port it is the page's."""
    one = site()
    password(one.live)
    with one.publish("cam", clip("basic")):
        page = one.open("/console/") if place == "page" else one.open(f"/console/?site=127.0.0.1:{one.live.ports['http']}", base=one.api)
        page.wait("document.getElementById('sign-in').checkVisibility()")
        assert page.text("#sign-in-where") == one.api and page.value("document.activeElement.id") == "user"
        page.shot(f"console-sign-in-{place}")
        sign_in(page, "u", "wrong")
        page.wait("/Wrong user or password/.test(document.getElementById('sign-in-error').textContent)")
        assert not page.is_shown("#figures")
        page.shot(f"console-wrong-password-{place}")
        sign_in(page, "u", "p")
        page.wait("document.querySelectorAll('#streams tbody tr').length === 1")
        assert not page.is_shown("#sign-in") and page.text("#state") == "Connected"
        assert page.value("document.querySelector('#streams a').href").startswith(f"{one.origin}/players/stream.html?")
        # Of this tab, and nowhere in sight.
        page.value("window.isOld = Boolean(setTimeout(() => location.reload()))")
        page.wait("!window.isOld && document.querySelectorAll('#streams tbody tr').length === 1")
        assert "wrong" not in page.value("location.href") and page.value("document.cookie + JSON.stringify(localStorage)") == "{}"
        page.click("#sign-out")
        page.wait("document.getElementById('sign-in').checkVisibility()")
        assert not page.is_shown("#figures") and not page.is_shown("#sign-in-error")


def test_console_signs_in_with_a_token(site):
    one = site()
    password(one.live, "auth { enabled on; type bearer; token a-token; }")
    page = one.console()
    sign_in(page, None, "another")
    page.wait("/Wrong token/.test(document.getElementById('sign-in-error').textContent)")
    assert not page.is_shown("#user")
    sign_in(page, None, "a-token")
    page.wait("document.getElementById('figures').checkVisibility()")


def test_console_keeps_its_values_and_reports_a_lost_server(site):
    one = site()
    page = one.console()
    page.wait("document.getElementById('state').textContent === 'Connected'")
    one.live.stop()
    page.wait("document.getElementById('problem').checkVisibility()")
    assert page.is_shown("#tiles") and page.text("#state") == "No response"
    one.live.start()
    page.wait("document.getElementById('state').textContent === 'Connected' && !document.getElementById('problem').checkVisibility()", 15)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_pages_are_accessible_and_fit(site, clip, size, scheme):
    one = site()
    options = {"colorScheme": scheme, **(PHONE if size == "phone" else {})}
    with one.publish("cam", clip("basic")):
        pages = {"landing": one.landing(**options), "console": one.console(**options), "player": one.player("cam", **options)}
        pages["landing"].wait("document.querySelectorAll('.stream').length === 1")
        pages["console"].wait("document.querySelectorAll('#clients tbody tr').length >= 1")
        pages["player"].wait("!['Connecting', 'Stopped'].includes(document.getElementById('state').textContent)")
        for name in ("whep", "whip", "stream", "embed"):
            pages[name] = one.open(f"/players/{name}.html?stream=cam", **options)
        pages["publish"] = one.open("/publish.html?stream=cam", **options)
        pages["stream"].wait("document.querySelectorAll('#addresses code').length > 0 && document.querySelector('#hour').checkVisibility()")
        pages["publish"].wait("document.getElementById('facts').checkVisibility()")
        for name, page in pages.items():
            # A frame for other pages has no text of its own.
            assert name == "embed" or page.value(AUDIT) == [], name
            assert page.barriers() == [], name
            page.shot(f"{name}-{size}-{scheme}", whole=True)
        empty = one.open("/?site=127.0.0.1:1", **options)
        empty.wait("document.getElementById('unreachable').checkVisibility()")
        assert empty.value(AUDIT) == []
    for path in ("/nginx.html", "/404.html"):
        page = one.open(path, **options)
        assert page.value(AUDIT) == [] and page.barriers() == [], path


def test_a_keyboard_is_enough(site, clip):
    one = site()
    with one.publish("cam", clip("basic")):
        page = one.landing()
        page.wait("document.querySelectorAll('.stream').length === 1")
        page.press("Tab")
        assert page.value("document.activeElement.className") == "skip"
        page.press("Enter")
        page.press("Tab")
        assert page.value("document.activeElement.textContent") == "cam"
        page.press("Tab")
        assert page.value("document.activeElement.textContent") == "Play"
        time.sleep(2.5)  # A refresh of the list must not take the focus away.
        assert page.value("document.activeElement.textContent") == "Play"
        page.press("Enter")
        page.wait("location.pathname.endsWith('srs_player.html')")


def test_every_link_of_the_pages_leads_somewhere(site):
    one = site()
    goes_on = {"/live/livestream.html": "/players/srs_player.html"}
    for path in ("/", "/console/", "/publish.html", "/players/srs_player.html", "/players/stream.html", "/players/embed.html", "/nginx.html", "/404.html", *goes_on):
        page = one.open(path)
        page.wait(f"location.pathname === '{goes_on.get(path, path)}' && document.readyState === 'complete'")
        links = page.value("[...document.querySelectorAll('a[href], link[href], script[src]')].map((e) => e.href || e.src)")
        assert links
        for link in {link.split("#")[0] for link in links if link.startswith(one.origin)}:
            assert page.value(f"fetch({link!r}).then((answer) => answer.status)") == 200, f"{path} links to {link}"
