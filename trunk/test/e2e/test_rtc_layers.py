"""WebRTC players of a stream in several qualities, each behind a link of its own: each gets the one that its link carries. The qualities are the
layers of a publisher with simulcast, or the renditions of a ladder."""

import time
import urllib.request

import pytest
import rtc_offer

from live_server import installed, wait_until
from players import FfmpegPublisher
from rtc_links import LADDER, Stage

pytestmark = pytest.mark.one_worker("the links stand before one port, and each worker has its own")

ON_DEMAND = LADDER.replace("enabled on; vpreset", "enabled on; on_demand on; vpreset")


@pytest.fixture(name="stage")
def fixture_stage(server, load):
    made = Stage(server, load)
    made.publish_layers()
    yield made
    made.close()


@pytest.fixture(name="ladder")
def fixture_ladder(server, load, clip):
    made = Stage(server, load, LADDER)
    made.publish_ladder(clip)
    yield made
    made.close()


def metric(live, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=30) as answer:
        lines = [line for line in answer.read().decode().splitlines() if line.startswith(name)]
    assert lines, name
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def test_each_player_has_the_layer_of_its_link(stage):
    for kbps in (300, 1000, 6000):
        stage.play(kbps)
    stage.play(6000, "&rendition=l1")
    stage.wait_for("l1", "l2", "l3", "l1")
    stage.links[2].bits_per_second = 300_000
    stage.wait_for("l1", "l2", "l1", "l1")
    assert metric(stage.live, 'millrace_rtc_layer_changes_total{reason="rise"}') >= 2
    assert metric(stage.live, "millrace_rtc_padding_bytes_total") > 0
    for result in stage.results():
        assert result["alive"] == 1 and result["failed"] == 0, result


def test_without_arrival_reports_a_player_has_the_layer_of_its_link_by_loss(stage):
    """It begins with the best one, and tries a better one again after 10 s, 20 s and more."""
    for kbps in (300, 6000):
        stage.play(kbps, "", "--no-twcc")
    stage.wait_for("l1", "l3")
    stage.links[1].bits_per_second = 300_000
    stage.wait_for("l1", "l1")
    assert all(client["rtc"]["loss"] is not None for client in stage.clients().values())
    for result in stage.results():
        assert result["alive"] == 1 and result["failed"] == 0, result


@pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")
def test_each_player_has_the_rendition_of_its_link(ladder):
    """Their key frames come when the publisher's do, up to 2.2 s apart."""
    for kbps in (160, 6000):
        ladder.play(kbps)
    ladder.play(6000, "&rendition=240p")
    ladder.wait_for("120p", "source", "240p")
    ladder.links[1].bits_per_second = 160_000
    ladder.wait_for("120p", "120p", "240p")
    for result in ladder.results():
        assert result["alive"] == 1 and result["failed"] == 0, result


@pytest.mark.skipif(not installed("ffmpeg"), reason="no ffmpeg")
def test_on_demand_a_player_starts_the_rendition_that_it_names(server, load, clip):
    stage = Stage(server, load, ON_DEMAND)
    try:
        stage.stack.enter_context(FfmpegPublisher(stage.live.url("cam"), clip("ladder")))
        wait_until(lambda: stage.streams()[0]["track_list"], 30, "it publishes")

        def ladder() -> dict:
            return stage.live.api("/api/v1/transcodes")["transcodes"][0]
        refused = rtc_offer.post(stage.live.ports["api"], "/rtc/v1/whep/?app=live&stream=cam&rendition=1080p", rtc_offer.offer("recvonly"))
        assert refused.status == 404 and "no rendition 1080p" in refused.body, refused.body
        assert ladder()["state"] == "idle" and ladder()["starts"] == 0, "a name that is not of the ladder starts nothing"
        stage.play(6000, "&rendition=240p")
        stage.wait_for("240p")
        assert ladder()["state"] == "running" and ladder()["starts"] == 1
        (result,) = stage.results()
        assert result["alive"] == 1 and result["failed"] == 0, result
    finally:
        stage.close()


@pytest.mark.long
@pytest.mark.alone
def test_ten_players_on_ten_links(stage):
    """Each is at the best layer that its link carries after 10 s; none stops for more than half a second, also when others change."""
    links = [(250, "l1"), (300, "l1"), (350, "l1"), (800, "l2"), (1000, "l2"), (1200, "l2"), (2400, "l3"), (3000, "l3"), (5000, "l3"), (8000, "l3")]
    begun = []
    for kbps, _ in links:
        stage.play(kbps)
        begun.append(time.monotonic())
    expected = [layer for _, layer in links]
    late = []
    for index, at in enumerate(begun):
        wait_until(lambda index=index: stage.layers()[index] == expected[index], 30, f"player {index} has {expected[index]}")
        late.append(time.monotonic() - at)
    print("seconds to the layer:", [round(one, 1) for one in late])
    time.sleep(max(0.0, begun[-1] + 10 - time.monotonic()))
    assert stage.layers() == expected, [client["rtc"] for client in stage.clients().values()]
    # One link gets worse: the others do not notice.
    before = {one: client["rtc"]["layer_changes"] for one, client in stage.clients().items()}
    stage.links[-1].bits_per_second = 300_000
    wait_until(lambda: stage.layers()[-1] == "l1", 20, "it falls")
    time.sleep(5)
    after = {one: client["rtc"]["layer_changes"] for one, client in stage.clients().items()}
    assert {one for one in before if before[one] != after[one]} == {stage.ids[-1]}, (before, after)
    results = stage.results()
    print("stalls:", [result["metrics"]["stalls"]["max"] for result in results])
    for result in results[:-1]:
        assert result["metrics"]["stalls"]["max"] == 0, result["metrics"]
