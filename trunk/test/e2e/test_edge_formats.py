"""Every format from every edge, each node with a network of its own: edges of one origin, a stream that is published on an edge, edges in a
row, a browser, recordings; and WebRTC that crosses nodes as it is."""

import time
from concurrent.futures import ThreadPoolExecutor

import own_network
import play_check
from aiortc_client import HERE as SECOND_CLIENT, Client
from cached_venv import python_with
from edge_stage import (DVR, LOW_LATENCY_HLS, PLAIN_HLS, RECEIVED, RTC, Screen, Stage, longest_gap, problems_of, run_with_browser, shown_by,
                        status_of, whep_problems)
from live_server import wait_until
from load_tools import Load
from nodes import Node

BROWSER_S = 4


def browser_problems(stage: Stage, html, first: Node, second: Node) -> list[str]:
    """WHEP from both, plain HLS from the first and low latency from the second, all at once."""
    screen = Screen(stage, html)
    pages = {f"{edge.host} {place}": screen.open(edge, place)
             for edge, place in ((first, "whep"), (second, "whep"), (first, PLAIN_HLS), (second, LOW_LATENCY_HLS))}
    began, watch, browser_watch = time.time(), stage.watch(first, second), screen.watch()
    places = {what: page.value("video.currentTime") for what, page in pages.items()}
    time.sleep(BROWSER_S)
    played = {what: page.value("video.currentTime") - places[what] for what, page in pages.items()}
    waited, problems = watch.waited() + browser_watch.waited(), []
    for what, page in pages.items():
        shown = [at for at in shown_by(page) if at > began]
        gap = longest_gap(shown)
        print(f"{what}: played {played[what]:.2f} s, {len(shown)} pictures, one for {gap:.2f} s at most; waited {waited:.2f} s for a CPU")
        if gap > 1 + waited or played[what] < BROWSER_S - 1 - waited:
            problems.append(f"{what}: played {played[what]:.2f} s, one picture for {gap:.2f} s")
        if what.endswith("whep"):
            lost, frames = page.value(RECEIVED)
            problems += [f"{what}: {frames} frames, lost packets {lost}"] if lost or frames < 25 * BROWSER_S else []
        else:
            # hls.js may begin shortly before its first frame, and reports that it skips this gap.
            errors = [one for one in page.value("errors") if one not in ("bufferStalledError", "bufferSeekOverHole")]
            pieces = page.value("video.buffered.length")
            problems += [f"{what}: {pieces} pieces in its buffer, errors {errors}"] if errors or pieces != 1 else []
        page.close()
    return problems


def pulled_once(edge: Node, watch) -> list[str]:
    """The streams that it pulls, each since its first call."""
    tries = {one["stream"]: one["origin"]["tries"] for one in edge.api("/api/v1/clusters")["data"]["pulls"]}
    # A second without media is a lost origin, and so much at once on a busy machine may make it one.
    assert set(tries.values()) == {1} or watch.waited() > 0.7, tries
    return sorted(tries)


def play_everything(folder, clip, html) -> None:
    with Stage(folder, 3) as stage:
        origin = stage.node()
        near, other = stage.whole_edge(origin, more=DVR), stage.whole_edge(origin)
        watch = stage.watch(origin, near, other)
        publisher, _ = stage.publish_both(origin, clip)
        assert problems_of(stage, near, other) == {}
        for edge in (near, other):
            assert pulled_once(edge, watch) == ["/live/cam", "plain.test/plain/cam"]
        assert browser_problems(stage, html, near, other) == []
        for edge in (near, other):
            # Streams without players may have ended.
            assert "/live/cam" in pulled_once(edge, watch)
        assert stage.recordings(publisher, near) == {}


def test_edges_serve_and_record_everything(tmp_path, clip, html):
    run_with_browser(play_everything, tmp_path, clip("basic"), html, limit_s=180)


def publish_on_an_edge(folder, clip) -> None:
    """The stream goes to the origin, and from there to another edge; on the first one it is a stream like any other."""
    with Stage(folder, 3) as stage:
        origin = stage.node(DVR)
        near, other = stage.whole_edge(origin), stage.whole_edge(origin, more=DVR)
        publisher, _ = stage.publish_both(near, clip)
        wait_until(lambda: len(origin.api("/api/v1/streams/")["streams"]) == 2, 10, "the streams at the origin")
        assert problems_of(stage, near, other) == {}
        assert play_check.play(origin.url("cam"), 3).problems() == []
        assert [client["relay"] for client in origin.api("/api/v1/clients/")["clients"] if client["type"] == "fmle-publish"] == [True, True]
        assert [node.api("/api/v1/clusters")["data"]["pushes"] for node in (near, other)] == [2, 0]
        assert stage.recordings(publisher, origin, other) == {}


def test_a_stream_published_on_an_edge_plays_on_every_node(tmp_path, clip):
    own_network.run(publish_on_an_edge, tmp_path, clip("basic"), limit_s=120)


def edges_in_a_row(folder, clip) -> None:
    # Longer than an edge waits for an answer.
    patience = "first_frame_timeout 6;"
    with Stage(folder, 4) as stage:
        row = [stage.node()]
        for _ in range(2):
            row.append(stage.edge(row[-1], options=patience))
        row.append(stage.whole_edge(row[-1], options=patience))
        stage.publish_both(row[0], clip)
        with ThreadPoolExecutor(1) as beside:
            asked = beside.submit(status_of, f"http://{row[-1].host}:{row[-1].ports['http']}/live/nothing.flv")
            assert problems_of(stage, row[-1]) == {}
            assert asked.result() == 404
        for node in row[:-1]:
            pulled = [client["url"] for client in node.api("/api/v1/clients/")["clients"] if client["type"] == "rtmp-play"]
            assert sorted(url for url in pulled if url != "/live/nothing") == ["/live/cam", "/plain/cam"]
        # That a stream is nowhere is not the fault of the edges between.
        assert [line for node in row for line in node.complaints() if "origin disconnected" in line and "/live/nothing" in line] == []
        # The first one becomes an edge of the last one.
        first, last = row[0], row[-1]
        first.stop()
        vhost = f"cluster {{ mode remote; origin {last.host}:{last.ports['rtmp']}; first_frame_timeout 2; }}"
        first.write_conf(first.conf_path.read_text().replace("vhost __defaultVhost__ {\n", f"vhost __defaultVhost__ {{ {vhost}\n"))
        first.start()
        player = stage.play(last, "other")
        assert player.status["level"] == "error", player.status
        wait_until(lambda: any("in a circle" in node.log() for node in row), 10, "a log says so")


def test_edges_in_a_row_and_in_a_circle(tmp_path, clip):
    own_network.run(edges_in_a_row, tmp_path, clip("basic"), limit_s=90)


KEEP = "rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; keep_opus on; pli_for_rtmp 1; }"


def carry_webrtc(folder, clip) -> None:
    """What a browser sends is what a browser gets: H.264 and Opus, over two hops of RTMP between."""
    with Stage(folder, 3) as stage:
        origin = stage.node(KEEP, RTC)
        near = stage.edge(origin, more=KEEP, root=RTC)
        far = stage.edge(near, more=KEEP, root=RTC)
        url = f"http://{origin.host}:{origin.ports['api']}/rtc/v1/whip/?app=live&stream=cam"
        publisher = Load(folder, "sb_rtc_load", "-c", 1, "-s", 0, "-r", url, "-i", clip, "--silence")
        stage.stack.callback(publisher.kill)
        wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 20, "the stream")
        with ThreadPoolExecutor(2) as at_once:
            assert list(at_once.map(whep_problems, (stage, stage), (far, near))) == [[], []]
        for node in (origin, near, far):
            stream = node.api("/api/v1/streams/")["streams"][0]
            assert (stream["video"]["codec"], stream["audio"]["codec"]) == ("H264", "Opus"), stream


def test_webrtc_comes_in_at_the_origin_and_goes_out_at_an_edge(tmp_path, clip):
    own_network.run(carry_webrtc, tmp_path, clip("basic"))


def is_piece(part: list, whole: list) -> bool:
    """In its order; what a client's own jitter buffer has dropped may be missing."""
    rest = iter(whole)
    return all(one in rest for one in part)


def carry_the_same_bytes(folder, aiortc) -> None:
    """Each slice of H.264 and each frame of Opus that comes out is one that went in, byte for byte: nothing was decoded and encoded again."""
    with Stage(folder, 3) as stage:
        origin = stage.node(KEEP, RTC)
        near = stage.edge(origin, more=KEEP, root=RTC)
        far = stage.edge(near, more=KEEP, root=RTC)
        address = "http://{0.host}:{0.ports[api]}/rtc/v1/{1}/?app=live&stream=cam"
        publisher = Client(aiortc, "whip", address.format(origin, "whip"), "H264")
        stage.stack.callback(publisher.kill)
        wait_until(lambda: any(one["publish"]["active"] for one in origin.api("/api/v1/streams/")["streams"]), 30, "it publishes")
        player = Client(aiortc, "whep", address.format(far, "whep"), "H264", 3)
        stage.stack.callback(player.kill)
        got, sent = player.result()["digests"], publisher.result()["digests"]
        for kind, least in (("video", 60), ("audio", 90)):
            assert len(got[kind]) > least and len(set(got[kind])) > least / 2, (kind, len(got[kind]), len(set(got[kind])))
            assert is_piece(got[kind], sent[kind]), f"{kind}: {len(set(got[kind]) - set(sent[kind]))} of {len(got[kind])} were never sent"


def test_from_whip_to_whep_nothing_is_transcoded(tmp_path):
    aiortc = python_with("aiortc", SECOND_CLIENT / "requirements.txt", "aiortc, the second WebRTC client,")
    own_network.run(carry_the_same_bytes, tmp_path, aiortc)
