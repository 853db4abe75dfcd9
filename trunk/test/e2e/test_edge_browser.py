"""A browser that plays from an edge, by hls.js and by WHEP, while its origin is killed."""

import shutil
import time

import pytest

from live_server import LiveServer, conf, wait_until
from players import FfmpegPublisher, wait_playable
from test_edge import edge_of, pulls_of
from test_rtc import fixture_chromium, fixture_html  # noqa: F401 (fixtures)
from test_rtc_network import OPEN
from test_same_segments import PAGE

OUTPUTS = "rtc { enabled on; rtmp_to_rtc on; } hls { enabled on; hls_fragment 1; hls_window 10; hls_path $folder/html; }"
ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; }\n"


@pytest.fixture(name="origins")
def fixture_origins(tmp_path):
    made = [LiveServer(tmp_path / name, conf()).start() for name in ("first", "second")]
    yield made
    for one in made:
        one.kill()
        one.assert_no_report()


def edge_with_pages(server, html, origins) -> LiveServer:
    edge = server(edge_of(*origins) + OUTPUTS, ROOT)
    shutil.copytree(html, edge.folder / "html", dirs_exist_ok=True)
    (edge.folder / "html" / "page.html").write_bytes(PAGE)
    return edge


class Screen:
    """Two pages of a browser: hls.js and WHEP."""

    def __init__(self, chromium, edge):
        http = f"http://127.0.0.1:{edge.ports['http']}"
        self.hls, self.whep = chromium.page().goto(f"{http}/page.html"), chromium.page().goto(f"{http}/players/address.js")
        self.hls.wait("video.currentTime > 0 && !video.paused", 30)
        assert self.whep.value(OPEN % {"kind": "whep"}) == 201
        wait_until(lambda: self.pictures() > 25, 15, "pictures by WHEP")

    def pictures(self) -> int:
        return self.whep.value("document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames")

    def hls_time(self) -> float:
        return self.hls.value("video.currentTime")

    def close(self) -> None:
        self.hls.close()
        self.whep.close()


@pytest.mark.long
def test_a_browser_does_not_notice_that_an_origin_is_killed(server, clip, chromium, html, origins):
    edge = edge_with_pages(server, html, origins)
    publishers = [FfmpegPublisher(origin.url("cam"), clip("basic")) for origin in origins]
    for origin in origins:
        wait_playable(origin.url("cam"))
    screen = Screen(chromium, edge)
    time.sleep(5)
    screen.whep.value("window.gap = 0")
    used = next(origin for origin in origins if pulls_of(origin))
    before, began = screen.hls_time(), time.monotonic()
    used.process.kill()
    time.sleep(12)
    played_s, passed_s = screen.hls_time() - before, time.monotonic() - began
    gap_ms, errors = screen.whep.value("gap"), screen.hls.value("errors")
    print(f"WHEP: the longest time of one picture is {gap_ms:.0f} ms; hls.js played {played_s:.1f} of {passed_s:.1f} s, errors {errors}")
    assert 0 < gap_ms < 2000, "by RTMP it is less than a second; decoding in software takes its time too"
    assert played_s > passed_s - 2, "by a buffer of three segments"
    assert [one for one in errors if one not in ("bufferStalledError", "bufferNudgeOnStall")] == []
    screen.close()
    for one in publishers:
        one.kill()


@pytest.mark.long
def test_a_browser_goes_on_when_the_publisher_is_back_at_another_origin(server, clip, chromium, html, origins):
    edge = edge_with_pages(server, html, origins)
    first, second = origins
    publisher = FfmpegPublisher(first.url("cam"), clip("basic"))
    wait_playable(first.url("cam"))
    screen = Screen(chromium, edge)
    time.sleep(5)
    first.process.kill()
    first.process.wait()
    publisher.kill()
    time.sleep(2)
    seen, before = screen.pictures(), screen.hls_time()
    with FfmpegPublisher(second.url("cam"), clip("basic")):
        wait_until(lambda: second.api("/api/v1/streams/")["streams"], 10, "the publisher is back", 0.02)
        back = time.monotonic()
        wait_until(lambda: screen.pictures() > seen + 1, 10, "pictures by WHEP", 0.02)
        took_s = time.monotonic() - back
        wait_until(lambda: screen.hls_time() > before + 5, 15, "hls.js goes on")
        print(f"WHEP: pictures {took_s:.2f} s after the publisher was back; hls.js: five seconds more after {time.monotonic() - back:.1f} s")
        assert took_s < 1.0
        screen.close()
