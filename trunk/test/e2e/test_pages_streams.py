"""The page about a stream, the publishing help and the sharing of streams, in a real Chromium."""

import contextlib
import hashlib
import json
import subprocess
import time
import urllib.error
import urllib.request

import pytest

import certificates
import live_server
from live_server import wait_until
from page_site import AUDIT, REMUX, SRT_ROOT, fixture_site, needs_libraries, one_player, password  # noqa: F401
from rtmp_client import AUDIO, Publisher

pytestmark = pytest.mark.workers

EVERYTHING = live_server.conf(REMUX + "srt { enabled on; } hls { enabled on; hls_fragment 2; hls_path $folder/html; } "
                               "dvr { enabled on; dvr_path $folder/dvr/[stream].mp4; } rtsp { enabled on; }",
                               SRT_ROOT + "rtsp_server { enabled on; listen 127.0.0.1:$rtsp; }\n")


@contextlib.contextmanager
def ffmpeg_stream(one, name: str, *encoding: str):
    """A publisher that encodes: for streams with something to remark."""
    source = ["-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=44100"]
    command = ["ffmpeg", "-v", "error", *source, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", *encoding, "-c:a", "aac", "-f", "flv", one.live.url(name)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


class LateAudio(Publisher):
    """Sends each audio message 300 ms after the video of the same time. ffmpeg cannot: its muxer sorts packets by time."""

    def _publish(self) -> None:
        length = self.tags[-1].timestamp + 40
        messages = [(index * length + tag.timestamp, tag) for index in range(20) for tag in self.tags if index == 0 or not tag.is_setup()]
        started = time.monotonic()
        for due, at, tag in sorted(((at + 300 * (tag.type == AUDIO), at, tag) for at, tag in messages), key=lambda row: row[0]):
            if self._stopping.wait(max(0.0, started + due / 1000 - time.monotonic())):
                return self._say_goodbye()
            self.client.send_message(tag.type, tag.payload, at)


def test_the_page_of_a_stream_shows_it_and_kicks_its_viewers(site, html, clip):
    needs_libraries(html)
    one = site(conf=EVERYTHING)
    with one.publish("cam", clip("basic")), one_player(one.live.url("cam")):
        page = one.open("/players/stream.html?stream=cam")
        page.wait("document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames > 25")
        assert page.text("h1") == "cam" and page.text("#state") == "Live"
        page.wait("/H264 Main.*640×360.*AAC/.test(document.getElementById('facts').textContent)")
        page.wait("document.getElementById('healthy').textContent.includes('nothing wrong')")
        page.wait("/fmle-publish from 127.0.0.1/.test(document.getElementById('facts').textContent)")
        page.wait("document.querySelectorAll('#clients tbody tr').length >= 2")
        assert "Publishing began" in page.text("#events")
        page.wait("/cam.mp4.*recording/.test(document.getElementById('recordings').textContent)")
        assert page.text("[data-link=srt] code").startswith("srt://")
        assert page.text("[data-link=rtsp] code") == f"rtsp://127.0.0.1:{one.live.ports['rtsp']}/live/cam"
        page.wait("[...document.querySelectorAll('.chart .line')].every((line) => /^M/.test(line.getAttribute('d')))", 30)
        assert "RTMP 1" in page.value("[...document.querySelectorAll('.chart svg')].at(-1).getAttribute('aria-label')")
        page.shot("stream", whole=True)
        kick = "#clients tbody tr:has(td:text-is('rtmp-play')) button"
        page.click(kick)
        page.wait("document.getElementById('confirm').open")
        page.click("#confirm .danger")
        page.wait("/was kicked/.test(document.getElementById('clients-note').textContent)")
        page.wait("![...document.querySelectorAll('#clients tbody td')].some((cell) => cell.textContent === 'rtmp-play')")
        page.wait("/A player was disconnected: ?an operator has ended it/.test(document.getElementById('events').textContent.replace(/\\s+/g, ' '))")
    page.wait("document.getElementById('state').textContent === 'Not live'", 15)


def test_the_page_of_a_stream_without_the_api_shows_everybodys_part(site, clip):
    one = site()
    password(one.live)
    with one.publish("cam", clip("basic")):
        page = one.open("/players/stream.html?stream=cam")
        page.wait("document.getElementById('limited').checkVisibility()")
        assert "requires a password" in page.text("#limited-text") and not page.is_shown("#hour") and not page.is_shown("#viewers")
        page.wait("/H264 Main/.test(document.getElementById('facts').textContent)")
        page.shot("stream-without-api")
        page.click("#to-console")
        page.wait("document.getElementById('sign-in').checkVisibility()")
        page.fill("#user", "u")
        page.fill("#password", "p")
        page.press("Enter")
        page.wait("document.querySelectorAll('#streams tbody tr').length === 1")
        page.click("#streams tbody a")
        page.wait("document.querySelector('#hour')?.checkVisibility()")


def test_the_publish_page_says_what_is_wrong_with_the_stream(site, clip):
    rtc = "rtc_server { enabled on; listen 127.0.0.1:$rtc; candidate 127.0.0.1; }\n"
    one = site(conf=live_server.conf(REMUX + "srt { enabled on; } rtc { enabled on; rtmp_to_rtc on; }", SRT_ROOT + rtc))
    late = LateAudio(one.live.ports["rtmp"], "late", clip("basic"))
    late.start()  # its differences are known after 15 s, which pass during the other checks
    page = one.open("/publish.html")
    page.wait("document.getElementById('obs').checkVisibility()")
    assert page.text("#obs-server code") == one.live.url("")[:-1] and page.text("#obs-key code") == "livestream"
    page.fill("#name", "my-show")
    assert page.text("#obs-key code") == "my-show" and page.text("#ffmpeg-copy code").endswith(f"'{one.live.url('my-show')}'")
    assert page.text("#gst-srt code").count(f"srtsink uri='srt://127.0.0.1:{one.live.ports['udp']}?mode=caller' streamid='#!::r=live/my-show,m=publish'") == 1
    assert "stream=my-show" in page.text("#obs-whip code")
    page.fill("#name", "<b>")
    assert page.text("#obs-key code") == "livestream"
    page.fill("#name", "my-show")
    page.wait("/Waiting for the stream my-show/.test(document.getElementById('healthy').textContent)")
    page.shot("publish-waiting", whole=True)
    with ffmpeg_stream(one, "my-show", "-g", "125", "-bf", "2"):
        page.wait("/B-frames are left out for WebRTC/.test(document.getElementById('health').textContent)", 30)
        page.wait("/Key frames come every 5 s: players wait up to 5 s to start/.test(document.getElementById('health').textContent)", 30)
        assert page.text("#state") == "Live" and page.is_shown("#facts")
        page.shot("publish-checked", whole=True)
    page.fill("#name", "late")
    page.wait(r"/Audio is (2[5-9]|3[0-9])\d ms late: players wait for it/.test(document.getElementById('health').textContent)", 40)
    late.stop()


def has_element(name: str) -> bool:
    return live_server.installed("gst-inspect-1.0") and subprocess.run(["gst-inspect-1.0", name], capture_output=True, check=False).returncode == 0


@pytest.fixture(name="everything", scope="module")
def fixture_everything(tmp_path_factory):
    """A server with every way to publish."""
    key, cert = certificates.make_pair(tmp_path_factory.mktemp("certificate"), "localhost")
    tls = "".join(f"{name} {{ enabled on; listen 127.0.0.1:${name}; key {key}; cert {cert}; }}\n" for name in ("rtmps", "rtsps"))
    return EVERYTHING.replace("srt_server", tls + "srt_server", 1)


@pytest.mark.parametrize("width, scheme", [(320, "dark"), (1920, "light")], ids=["320", "1920"])
def test_the_publish_page_with_every_way_has_no_barriers(site, everything, width, scheme):
    page = site(conf=everything).open("/publish.html", viewport={"width": width, "height": 800}, colorScheme=scheme)
    page.wait("document.getElementById('ffmpeg-rtsps').checkVisibility()")
    assert page.barriers() == [] and page.value(AUDIT) == []
    page.shot(f"publish-all-{width}", whole=True)


@pytest.mark.parametrize("name", ["ffmpeg-copy", "ffmpeg-encode", "ffmpeg-rtmps", "ffmpeg-srt", "ffmpeg-rtsp", "ffmpeg-rtsps", "gst-rtmp", "gst-srt", "gst-rtsp"])
def test_the_commands_of_the_publish_page_work(site, everything, clip, name):
    if name.startswith("gst") and not has_element({"gst-rtsp": "rtspclientsink"}.get(name, "x264enc")):
        pytest.skip("no GStreamer")
    one = site(conf=everything)
    page = one.open("/publish.html?stream=mine")
    page.wait(f"document.getElementById('{name}').checkVisibility()")
    command = page.text(f"#{name} code").replace("FILE", str(clip("basic")))
    process = subprocess.Popen(["sh", "-c", f"exec {command}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: page.text("#state") == "Live" or process.poll() is not None, 20, "the stream")
        assert process.poll() is None, process.stderr.read()
        audio = "Opus" if name == "gst-rtsp" else "AAC LC"
        page.wait(f"/H264.*{audio}/s.test(document.getElementById('facts').textContent)", 20)
    finally:
        process.kill()
        process.wait()


def test_landing_has_a_picture_and_shares_a_stream(site, html, clip):
    needs_libraries(html)
    one = site(conf=EVERYTHING)
    with one.publish("cam", clip("basic")), one_player(one.live.url("cam")):
        page = one.landing()
        page.wait("document.querySelectorAll('.stream').length === 1")
        with urllib.request.urlopen(f"{one.origin}/api/v1/thumbnail/live/cam.jpg", timeout=10) as answer:
            assert answer.headers["Content-Type"] == "image/jpeg" and answer.read(2) == b"\xff\xd8"
        page.wait("document.querySelector('.thumbnail').naturalWidth === 480 && document.querySelector('.thumbnail').checkVisibility()")
        page.wait("/Viewers1 \\(RTMP\\)/.test(document.querySelector('.facts').textContent)")
        page.wait("/Live for\\d+ s/.test(document.querySelector('.facts').textContent)")
        page.click(".share summary")
        page.wait("document.querySelector('.qr path').getAttribute('d')?.length > 1000")
        link, embed = page.value("[...document.querySelectorAll('.share code')].map((one) => one.textContent)")
        assert link == f"{one.origin}/players/stream.html?app=live&stream=cam"
        assert page.value("document.querySelector('.qr').getAttribute('aria-label')") == f"QR code: {link}"
        page.shot("landing-share", whole=True)
        # As somebody's page has it.
        page.value(f"document.body.insertAdjacentHTML('beforeend', {json.dumps(embed)})")
        page.wait("document.querySelector('iframe').contentDocument?.querySelector('video')?.getVideoPlaybackQuality().totalVideoFrames > 25")
        page.click(".stream h2 a")
        page.wait("location.pathname.endsWith('/players/stream.html')")


# SHA-256 of the modules, as 0 and 1, by row; made with the package qrcode 8.2 of PyPI: QRCode(version, ERROR_CORRECT_M, mask_pattern) of QRData(text,
# MODE_8BIT_BYTE). The first half of each digest.
QR = {
    "HELLO": "32fbc389880456d584e32bdf2c313723",
    "http://127.0.0.1:8080/": "fac918627101d78d1aca5f2e041bf4fd",
    "https://live.example.com/players/stream.html?app=live&stream=caméra-1": "13e4a196be2f88204cbd861c9d498b91",
    "xxxxxxxxxxxxxx": "759a539d1bf7615205e1a93849e632b7",
    "xxxxxxxxxxxxxxx": "57ca9909926a18667eb9d416f07f747d",
    "ab" * 53: "49d37e81ae79136f8cd6681f26e2ddfb",
    "abc" * 60: "43cfafc8185cdb2893d95fa4d4c1ea32",
    "y" * 214: "94d89f3c1e1b124a40d70b8f6d63c1c4",
    "0123456789" * 45: "fdc89c1c29434150cbecae40919542cd",
    "z" * 666: "80f721de701d7a692df441dac2ae9b4f",
}


def test_qr_codes_are_those_of_another_encoder(site):
    page = site().open("/nginx.html")
    rows = page.value(f"import('/console/lib/qr.js').then(({{ qrCode }}) => {json.dumps(list(QR))}.map((text) => qrCode(text).map((row) => row.map(Number).join('')).join('')))")
    for (text, digest), modules in zip(QR.items(), rows):
        assert hashlib.sha256(modules.encode()).hexdigest()[:32] == digest, text
    assert page.value("import('/console/lib/qr.js').then(({ qrCode }) => qrCode('x'.repeat(667)))") is None


def test_thumbnails_follow_the_rules_of_the_list(site, clip):
    one = site(root=f"vhost refused.test {{ {REMUX} security {{ enabled on; deny play all; }} }}\n")
    with one.publish("cam?vhost=refused.test", clip("basic")):
        wait_until(lambda: one.live.api("/api/v1/streams/")["streams"], 15, "the stream is live")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{one.origin}/api/v1/thumbnail/live/cam.jpg?vhost=refused.test", timeout=10)
        with urllib.request.urlopen(f"{one.origin}/streams.json?stream=refused.test/live/cam", timeout=5) as answer:
            assert json.load(answer)["streams"] == []


def test_the_search_for_barriers_finds_one(site):
    """axe-core works here: the other tests expect that it finds nothing."""
    page = site().open("/nginx.html")
    assert page.barriers() == []
    page.value("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"/favicon.ico\"><button></button>')")
    assert sorted(found.split(":")[0] for found in page.barriers()) == ["button-name", "image-alt"]
