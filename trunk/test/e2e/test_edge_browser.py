"""A browser that plays from an edge, by WHEP and by hls.js, while its origin is killed or falls silent; each node has a network of its own."""

import signal
import time

import pytest

from edge_stage import LOW_LATENCY_HLS, PLAIN_HLS, Screen, Stage, longest_gap, run_with_browser, shown_by
from nodes import Node
from rtmp_client import Publisher
from test_rtc import fixture_html  # noqa: F401 (a fixture)

pytestmark = pytest.mark.long
PLACES = {"WHEP": "whep", "hls.js": PLAIN_HLS, "hls.js, low latency": LOW_LATENCY_HLS}
# hls.js says of its own accord that it waits, and that it steps over where one origin's pictures end and the other's begin.
HARMLESS = ("bufferStalledError", "bufferNudgeOnStall", "bufferSeekOverHole")


def pages_of(stage: Stage, html, edge: Node):
    screen = Screen(stage, html)
    return screen, {what: screen.open(edge, place) for what, place in PLACES.items()}


def errors_in(pages) -> dict[str, list[str]]:
    return {what: errors for what, page in pages.items() if (errors := [one for one in page.value("errors") if one not in HARMLESS])}


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
        time.sleep(8)
        waited, played_s = watch.waited() + browser_watch.waited(), time.time() - began
        played = {what: page.value("video.currentTime") - places[what] for what, page in pages.items()}
        gaps = {what: longest_gap([at for at in shown_by(page) if at > began - 0.5]) for what, page in pages.items()}
        print(f"the longest time of one picture, s: {gaps}; played of {played_s:.2f} s: {played}; for a CPU: {waited:.2f} s")
        assert errors_in(pages) == {}
        # Silence is twice what the edge has seen before.
        limit_s = (1.0 if how == signal.SIGKILL else 2.0 + 2 * max(one.longest_pause for one in publishers)) + waited
        assert max(gaps.values()) < limit_s, f"{gaps}, not {limit_s:.2f}"
        assert all(one > played_s - limit_s - 1 for one in played.values()), played


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "silent"])
def test_a_browser_stays_when_an_origin_goes(tmp_path, clip, html, how):
    run_with_browser(lose_an_origin, tmp_path, clip("basic"), html, how, limit_s=150)


def come_back_elsewhere(folder, clip, html) -> None:
    with Stage(folder, 3) as stage:
        first, second = stage.node(mortal=True), stage.node()
        publishers = stage.publish_both(first, clip)
        edge = stage.whole_edge(first, second)
        screen, pages = pages_of(stage, html, edge)
        time.sleep(3)
        first.process.kill()
        first.process.wait()
        for publisher in publishers:
            publisher.stop()
        time.sleep(4)
        again = [Publisher(second.ports["rtmp"], "cam", clip, app, host=second.host) for app in ("live", "plain")]
        back, watch, browser_watch = time.time(), stage.watch(second, edge), screen.watch()
        for publisher in again:
            publisher.start()
            stage.stack.callback(publisher.stop)
        time.sleep(8)
        waited = watch.waited() + browser_watch.waited()
        shown = {what: [at - back for at in shown_by(page) if at > back] for what, page in pages.items()}
        appended = {what: [at / 1000 - back for at, _ in page.value("appended") if at / 1000 > back] for what, page in pages.items()}
        print("first pictures", {what: all_[:3] for what, all_ in shown.items()}, "appended", {what: all_[:5] for what, all_ in appended.items()}, waited)


def test_a_browser_goes_on_when_the_publisher_is_back_at_another_origin(tmp_path, clip, html):
    run_with_browser(come_back_elsewhere, tmp_path, clip("basic"), html, limit_s=150)

