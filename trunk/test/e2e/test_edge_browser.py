"""A browser that plays from an edge, by WHEP and by hls.js, while its origin is killed or falls silent, and by dash.js; each node has a network of
its own."""

import signal
import time

import pytest

from edge_stage import (DASH, LOW_LATENCY_HLS, OUTPUTS, PLAIN_HLS, RTC, Screen, Stage, longest_gap, media_list, read_text, run_with_browser,
                        shown_by)
from live_server import wait_until
from nodes import Node
from rtmp_client import Publisher

pytestmark = pytest.mark.long
FRAGMENT_S = 2  # between key frames
PLACES = {"WHEP": "whep", "hls.js": PLAIN_HLS, "hls.js, low latency": LOW_LATENCY_HLS}
# hls.js reports that it waits, and that it skips the gap between the frames of the two origins.
HARMLESS = ("bufferStalledError", "bufferNudgeOnStall", "bufferSeekOverHole")


def pages_of(stage: Stage, html, edge: Node):
    screen = Screen(stage, html)
    return screen, {what: screen.open(edge, place) for what, place in PLACES.items()}


def errors_in(pages, *harmless: str) -> dict[str, list[str]]:
    return {what: errors for what, page in pages.items() if (errors := [one for one in page.value("errors") if one not in (*HARMLESS, *harmless)])}


def used_for(edge: Node, stream: str) -> str:
    return next(one["origin"]["url"] for one in edge.api("/api/v1/clusters")["data"]["pulls"] if one["stream"] == stream)


def lose_an_origin(folder, clip, html, how: int) -> None:
    """Both have the stream."""
    with Stage(folder, 3) as stage:
        origins = [stage.node(mortal=True), stage.node(mortal=True)]
        publishers = [publisher for origin in origins for publisher in stage.publish_both(origin, clip)]
        edge = stage.whole_edge(*origins)
        screen, pages = pages_of(stage, html, edge)
        time.sleep(3)
        used = next(origin for origin in origins if origin.url("cam").startswith(used_for(edge, "/live/cam")))
        other = next(origin for origin in origins if origin is not used)
        began, watch, browser_watch = time.time(), stage.watch(other, edge), screen.watch()
        places = {what: page.value("video.currentTime") for what, page in pages.items()}
        used.process.send_signal(how)
        time.sleep(3)
        waited = watch.waited() + browser_watch.waited()
        time.sleep(5)
        played_s = time.time() - began
        played = {what: page.value("video.currentTime") - places[what] for what, page in pages.items()}
        gaps = {what: longest_gap([at for at in shown_by(page) if at > began - 0.5]) for what, page in pages.items()}
        print(f"the longest time of one picture, s: {gaps}; played of {played_s:.2f} s: {played}; for a CPU: {waited:.2f} s")
        # Silence is twice what the edge has seen before.
        limit_s = (1.0 if how == signal.SIGKILL else 2.0 + 2 * max(one.longest_pause for one in publishers)) + waited
        assert max(gaps.values()) < limit_s, f"{gaps}, not {limit_s:.2f}"
        assert all(one > played_s - limit_s - 0.5 for one in played.values()), played
        assert errors_in(pages) == {}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "silent"])
def test_a_browser_stays_when_an_origin_goes(tmp_path, clip, html, how):
    run_with_browser(lose_an_origin, tmp_path, clip("basic"), html, how, limit_s=150)


def has_other(playlist: str, before: int) -> bool:
    """A part behind one discontinuity more than there were."""
    pieces = playlist.split("#EXT-X-DISCONTINUITY\n")
    return len(pieces) > before + 1 and "#EXT-X-PART:" in pieces[-1]


def first_of_other(page, loaded: int) -> float:
    """When hls.js showed the first picture of the other origin, which is behind a discontinuity that was not there before; 0 when it has not."""
    new = [media_s for count, media_s, _ in page.value("loaded") if count > loaded]
    return next(iter(shown_by(page, min(new) - 0.01)), 0) if new else 0


def come_back_elsewhere(folder, clip, html) -> None:
    with Stage(folder, 3) as stage:
        first, second = stage.node(mortal=True), stage.node()
        publishers = stage.publish_both(first, clip)
        edge = stage.whole_edge(first, second)
        screen, pages = pages_of(stage, html, edge)
        playlist = media_list(edge, LOW_LATENCY_HLS)
        time.sleep(3)
        first.process.kill()
        first.process.wait()
        for publisher in publishers:
            publisher.stop()
        time.sleep(2.5)
        loaded = {what: max((one for one, _, _ in page.value("loaded")), default=0) for what, page in pages.items()}
        before = read_text(playlist).count("#EXT-X-DISCONTINUITY\n")
        again = [Publisher(second.ports["rtmp"], "cam", clip, app, host=second.host) for app in ("live", "plain")]
        back, watch, browser_watch = time.time(), stage.watch(second, edge), screen.watch()
        for publisher in again:
            publisher.start()
            stage.stack.callback(publisher.stop)
        wait_until(lambda: has_other(read_text(playlist), before), 20, "a part of the other origin's", 0.02)
        took = {"a part": (time.time() - back, 1.0, watch.waited())}
        first = wait_until(lambda: next((at for at in shown_by(pages["WHEP"]) if at > back), 0), 20, "pictures by WHEP")
        took["WHEP"] = (first - back, 1.0, watch.waited() + browser_watch.waited())
        # hls.js waits 1.6 s for a list with a new part, and asks once a second after that, and plays what was left; for a list of fragments it asks once
        # in a fragment.
        for what, limit_s in (("hls.js, low latency", 1.0 + 1.0 + 0.5), ("hls.js", 1.0 + FRAGMENT_S + FRAGMENT_S)):
            first = wait_until(lambda one=what: first_of_other(pages[one], loaded[one]), 20, f"pictures by {what}")
            took[what] = (first - back, limit_s, watch.waited() + browser_watch.waited())
        print("after the publisher was back [s, at most, waited for a CPU]:", took)
        assert [what for what, (one, limit_s, waited) in took.items() if one > limit_s + waited] == [], took
        # While there was nothing to list, requests for the next part were not answered in time.
        assert errors_in(pages, "levelLoadTimeOut") == {}


def test_a_browser_continues_when_the_publisher_returns_at_another_origin(tmp_path, clip, html):
    run_with_browser(come_back_elsewhere, tmp_path, clip("basic"), html, limit_s=150)


def play_by_dash_js(folder, clip, html) -> None:
    """At the origin, and at an edge of an edge; and on after the origin was killed and is back."""
    with Stage(folder, 3) as stage:
        origin = stage.node(OUTPUTS, RTC, mortal=True)
        far = stage.whole_edge(stage.edge(origin))
        publisher = stage.publish(origin, clip)
        screen = Screen(stage, html)
        pages = {what: screen.open(node, DASH) for what, node in (("origin", origin), ("far", far))}
        time.sleep(3)  # it may seek to where it wants to be
        watch, browser_watch, began = stage.watch(origin, far), screen.watch(), time.time()
        places = {what: page.value("video.currentTime") for what, page in pages.items()}
        time.sleep(8)
        played = {what: page.value("video.currentTime") - places[what] for what, page in pages.items()}
        gaps = {what: longest_gap([at for at in shown_by(page) if at > began]) for what, page in pages.items()}
        waited = watch.waited() + browser_watch.waited()
        print(f"played of 8 s: {played}, the longest time of one picture, s: {gaps}; for a CPU: {waited:.2f} s")
        assert min(played.values()) > 7 - waited and max(gaps.values()) < 1 + waited
        assert errors_in(pages) == {}
        places = {what: page.value("video.currentTime") for what, page in pages.items()}
        origin.process.kill()
        origin.process.wait()
        publisher.stop()
        origin.start()
        stage.publish(origin, clip)
        back = time.time()
        for what, page in pages.items():
            # Behind all that was listed before.
            wait_until(lambda page=page, what=what: shown_by(page, places[what] + 13), 40, f"pictures of the new publisher at {what}")
        print(f"{time.time() - back:.1f} s after the publisher is back both go on")


def test_dash_js_plays_from_an_edge_and_from_its_origin(tmp_path, clip, html):
    run_with_browser(play_by_dash_js, tmp_path, clip("basic"), html, limit_s=150)
