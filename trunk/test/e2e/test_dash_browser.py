"""Low-latency DASH, a clock without the Internet, and a change of the picture's size, in dash.js in a headless Chromium."""

import shutil
import time

import pytest

import browser as browsers
from changed_size import filled, small_clip
from live_server import Stopwatch, wait_until
from players import FfmpegPublisher
from rtmp_client import Publisher, read_flv

DASH = "dash {{ enabled on; dash_fragment 2; dash_window_size 5; dash_path $folder/html; {} }}\n"
# stalls: [when it began, how long] in seconds, once it has played for a while; the last may still last.
PAGE = """<!DOCTYPE html><video id=video muted playsinline></video><script src="/dash.js"></script><script>
window.stalls = [];
window.errors = [];
window.frames = 0;
const now = () => performance.now() / 1000;
let since = 0, last = 0;
const look = () => {
    frames += 1;
    if (frames > 100 && now() - last > 0.5) stalls.push([now(), now() - last]);
    last = now();
    video.requestVideoFrameCallback(look);
};
video.requestVideoFrameCallback(look);
window.player = dashjs.MediaPlayer().create();
player.on('error', (one) => errors.push(String(one.error?.message ?? one.error)));
player.initialize(video, '/live/cam.mpd', true);
window.stalled = () => [...stalls, ...(frames > 100 && now() - last > 0.5 ? [[now(), now() - last]] : [])];
</script>"""


def open_page(chromium, live):
    html = live.folder / "html"
    wait_until(lambda: (html / "live/cam.mpd").exists(), 30, "an MPD")
    shutil.copy(browsers.install_modules() / "node_modules/dashjs/dist/modern/umd/dash.all.min.js", html / "dash.js")
    (html / "page.html").write_text(PAGE)
    return chromium.page().goto(f"http://127.0.0.1:{live.ports['http']}/page.html")


# Pages that load the MPD at other moments of a segment.
PAGES = 4


def play_without_stalls(live, chromium, clip, seconds: float) -> None:
    with FfmpegPublisher(live.url("cam"), clip):
        pages = []
        for _ in range(PAGES):
            pages.append(open_page(chromium, live))
            time.sleep(0.45)
        for page in pages:
            page.wait("frames > 100", 40)
        watch, at = Stopwatch(live, chromium.process.pid), pages[0].value("video.currentTime")
        wait_until(lambda: pages[0].value("video.currentTime") > at + seconds, seconds + 30, "media played", 0.5)
        waited = watch.waited()
        stalls = [page.value("stalled()") for page in pages]
        print(f"stalls [when, s]: {stalls}; latencies {[page.value('player.getCurrentLiveLatency()') for page in pages]} s; waited {waited:.1f} s for a CPU")
        # A player that has not learned of the next segment waits for seconds, again and again. A busy machine shows pictures late.
        assert all(sum(long_s for _, long_s in each if long_s > 1) <= 0.05 * seconds + waited for each in stalls)
        # No time server of the Internet is tried.
        assert [page.value("errors") + page.complaints() for page in pages] == [[]] * PAGES
        for page in pages:
            page.close()


def test_low_latency_plays_without_a_stall(server, clip, chromium):
    play_without_stalls(server(vhost=DASH.format("dash_ll on;")), chromium, clip("basic"), 40)


@pytest.mark.long
@pytest.mark.parametrize("run", range(3))
def test_low_latency_plays_ten_minutes(server, clip, chromium, run):  # pylint: disable=unused-argument
    play_without_stalls(server(vhost=DASH.format("dash_ll on;")), chromium, clip("basic"), 600)


@pytest.mark.parametrize("more", [pytest.param("", id="whole", marks=pytest.mark.long), pytest.param("dash_ll on;", id="low-latency")])
def test_one_publisher_changes_the_size(server, clip, chromium, tmp_path, more):
    """In mid-stream, on the same connection: with low latency, players wait for segments of the old period by then."""
    small = read_flv(small_clip(tmp_path))
    live = server(vhost=DASH.format("dash_fragment 1; " + more).replace("dash_fragment 2; ", ""))
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.tags = [tag for tag in publisher.tags if tag.timestamp < 8000]
    publisher.start()
    page = open_page(chromium, live)
    page.wait("frames > 50 && video.videoWidth == 640", 60)
    publisher.tags = filled(small, publisher.tags[-1].timestamp + 40)
    began = time.monotonic()
    page.wait("video.videoWidth == 320", 90)
    frames, at = page.value("[frames, video.currentTime]")
    page.wait(f"frames > {frames + 50} && video.currentTime > {at + 2}", 30)
    print(f"it plays {time.monotonic() - began:.1f} s after the order; errors {page.value('errors')}")
    assert publisher.error is None
    publisher.stop()
    page.close()


@pytest.mark.parametrize("more", [pytest.param("", id="whole", marks=pytest.mark.long), pytest.param("dash_ll on;", id="low-latency")])
def test_a_change_of_size_is_a_new_period(server, clip, chromium, tmp_path, more):
    small = small_clip(tmp_path)
    live = server(vhost=DASH.format("dash_update_period 1; dash_fragment 1; " + more).replace("dash_fragment 2; ", ""))
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        page = open_page(chromium, live)
        page.wait("frames > 50 && video.videoWidth == 640", 40)
    with FfmpegPublisher(live.url("cam"), small):
        began = time.monotonic()
        page.wait("video.videoWidth == 320", 60)
        frames, at = page.value("[frames, video.currentTime]")
        page.wait(f"frames > {frames + 50} && video.currentTime > {at + 2}", 30)
        print(f"it goes on {time.monotonic() - began:.1f} s after the change")
    page.close()
