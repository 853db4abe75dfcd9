"""Renditions of a ladder at an edge and at other workers: their names travel, and players get the one that they name or that their link carries."""

import pytest

from ladder_stage import OUTPUTS, SIZES, has_variants, heights, ladder, representations, segments_of
from live_server import wait_until
from players import FfmpegPublisher
from rtc_links import Stage
from worker_stage import WORKERS, clients, start

RTC = "rtc { enabled on; rtmp_to_rtc on; }"
RTC_ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; candidate 127.0.0.1; }"
RTSP, RTSP_ROOT = "rtsp { enabled on; }", "rtsp_server { enabled on; listen 127.0.0.1:$rtsp; }"
RUNGS = "rendition 240p { vbitrate 120; } rendition 120p { vbitrate 50; }"


def edge_of(server, origin, protocol: str):
    port = origin.ports["rtmp" if protocol == "rtmp" else "http"]
    cluster = f"cluster {{ mode remote; origin 127.0.0.1:{port}; protocol {protocol}; }}"
    return server(f"{cluster} {OUTPUTS} {RTC} {RTSP}", root=f"{RTC_ROOT} {RTSP_ROOT}")


def names_at(live) -> list[str]:
    streams = live.api("/api/v1/streams/")["streams"] or [{"track_list": []}]
    return sorted(one["name"] for one in streams[0]["track_list"] if one["name"])


class EdgeStage(Stage):
    """Players of an edge."""

    def __init__(self, edge, load):  # pylint: disable=super-init-not-called
        self.adopt(edge, load)


@pytest.mark.one_worker("the links stand before one port, and each worker has its own")
@pytest.mark.parametrize("protocol", ["rtmp", "flv"])
def test_players_at_an_edge(server, load, clip, protocol):
    """On demand: the first player of the edge starts the ladder of the origin."""
    remux = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
    origin = server(ladder("on_demand on;", RUNGS) + remux)
    edge = edge_of(server, origin, protocol)
    stage = EdgeStage(edge, load)
    try:
        with FfmpegPublisher(origin.url("cam"), clip("ladder")):
            wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 20, "it publishes")
            url = f"rtsp://127.0.0.1:{edge.ports['rtsp']}/live/cam?rendition="
            assert heights(url + "120p", "-rtsp_transport", "tcp") == ["120", "audio"]
            wait_until(lambda: names_at(edge) == ["120p", "240p"], 20, lambda: names_at(edge))
            for kbps in (160, 6000):
                stage.play(kbps)
            stage.play(6000, "&rendition=240p")
            stage.wait_for("120p", "source", "240p")
            for result in stage.results():
                assert result["alive"] == 1 and result["failed"] == 0, result
    finally:
        stage.close()


@pytest.mark.one_worker("the edge pulls from one port, and each worker has its own list")
@pytest.mark.parametrize("protocol, more", [("rtmp", ""), pytest.param("flv", "", marks=pytest.mark.long), pytest.param("rtmp", "on_demand on;", marks=pytest.mark.long)],
                         ids=["rtmp", "flv", "on demand"])
def test_an_edge_has_the_segments_of_all_variants(server, clip, protocol, more):
    """The same numbers and bytes as at the origin, again and again, in HLS; and the same representations in DASH."""
    origin = server(ladder(more) + "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }")
    edge = edge_of(server, origin, protocol)
    with FfmpegPublisher(origin.url("cam"), clip("ladder")):
        found = has_variants(edge, 3)
        assert [attributes["RESOLUTION"] for attributes, _ in found] == SIZES
        same: list[dict[int, bytes]] = [{} for _ in found]

        def compare() -> int:
            """The segments that both have, of the variant with the fewest."""
            theirs = has_variants(origin, 3)
            for (_, uri), (_, its_uri), known in zip(found, theirs, same):
                here, there = segments_of(edge, uri), segments_of(origin, its_uri)
                different = [number for number in here.keys() & there.keys() if here[number] != there[number]]
                assert different == [], (uri, different)
                known.update({number: here[number] for number in here.keys() & there.keys()})
            return min(len(one) for one in same)
        wait_until(lambda: compare() >= 3, 60, lambda: f"three segments of each and not {[sorted(one) for one in same]}; {edge.log()[-1500:]}")
        wait_until(lambda: representations(edge) == set(SIZES), 30, lambda: f"{representations(edge)}; {edge.log()[-1500:]}")
        numbers = sorted(set.intersection(*(set(one) for one in same)))
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "no segment is missing"
        assert edge.log().count("following the origin") <= 2, "one line of HLS and one of DASH"


def test_players_at_all_workers_have_the_rendition_that_they_name(server, load, clip):
    live = start(server, f"{RTC} ladder {{ enabled on; vpreset ultrafast; vthreads 1; {RUNGS} }}")
    with FfmpegPublisher(live.url("cam"), clip("ladder")):
        wait_until(lambda: names_at(live) == ["120p", "240p"], 40, lambda: names_at(live))
        url = f"http://127.0.0.1:{live.ports['api']}/rtc/v1/whep/?app=live&stream=cam&rendition=240p"
        players = []

        def shown() -> list[tuple]:
            return [(one["worker"], one["rtc"]["layer"]) for one in clients(live) if one["type"] == "rtc-play"]
        while len({worker for worker, _ in shown()}) < WORKERS:
            assert len(players) < 12, "connections do not spread"
            players.append(load("sb_rtc_load", "-c", 5, "-s", 0, "-r", url))
            wait_until(lambda: len(shown()) == 5 * len(players), 30, shown)
        wait_until(lambda: {layer for _, layer in shown()} == {"240p"}, 30, shown)
        for player in players:
            player.stop()
            result = player.result()
            assert result["alive"] == 5 and result["failed"] == 0, result
