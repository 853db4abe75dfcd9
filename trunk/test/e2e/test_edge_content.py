"""What a relay carries: every track and message of a stream unchanged, SRT streams; and the response of an edge for a missing stream."""

import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

import play_check
from edge_stage import RTC, status_of
from edges import REMUX, edge_of
from fake_origin import http_of
from live_server import Stopwatch, wait_until
from rtc_offer import ask, offer
from rtmp_client import AUDIO, DATA, KNOWS_TRACKS, VIDEO, Message, Player, Publisher, Tag, amf0
from srt_stage import PATIENT, has_srt, publish, reject_code, srt_url, wait_published
from track_streams import two_of_each

needs_srt = pytest.mark.skipif(not has_srt(), reason="this ffmpeg has no libsrt")


class WholePlayer(Player):
    kept = (AUDIO, VIDEO, DATA)


# Unknown codecs: an ordinary message in E-RTMP, and one of another track.
UNKNOWN_VIDEO, UNKNOWN_TRACK = b"\x91zzzz" + bytes(20), b"\x96\x01yyyy\x07" + bytes(30)
CUE = amf0("onCuePoint") + amf0({"name": "ad", "time": 1.5})


def with_strangers(tags: list[Tag]) -> list[Tag]:
    """Twice a second."""
    result = []
    for number, tag in enumerate(tags):
        result.append(tag)
        if number % 60 == 59:
            result += [Tag(VIDEO, tag.timestamp, UNKNOWN_TRACK), Tag(DATA, tag.timestamp, CUE)]
    return result


def from_key_frame(messages: list[Message]) -> list[tuple]:
    """Type, beginning, length, hash and time of each."""
    first = next(index for index, one in enumerate(messages) if one.type == VIDEO and one.payload[0] == 0x91)
    return [(one.type, one.payload[:7], len(one.payload), zlib.crc32(one.payload), one.timestamp) for one in messages[first:]]


def assert_piece(part: list[tuple], whole: list[tuple], what: str) -> None:
    """Each message is the next one of the origin's, and their times are apart by one amount: each player's time begins at zero, where all data is."""
    begins = next(index for index, one in enumerate(whole) if one[:4] == part[0][:4])
    apart = whole[begins][4] - part[0][4]
    count = min(len(part), len(whole) - begins)
    assert count > 300, f"{what}: {count}"
    for index in range(count):
        *message, time_ms = whole[begins + index]
        assert part[index] == (*message, 0 if message[0] == DATA else time_ms - apart), f"{what}: {index} of {count}, {apart} ms apart: {part[index]}, not {whole[begins + index]}"


def test_every_track_and_message_crosses_edges_as_it_is(server, clip):
    """Over RTMP, over two edges in a row, and over HTTP-FLV."""
    origin = server(REMUX)
    near, by_http = server(edge_of(origin)), server(edge_of(http_of(origin)))
    nodes = {"origin": origin, "near": near, "far": server(edge_of(near)), "HTTP": by_http}
    publisher = Publisher(origin.ports["rtmp"], "cam", clip("basic"))
    publisher.tags = with_strangers(two_of_each(clip("basic"), clip("second")))
    publisher.start()
    wait_until(lambda: origin.api("/api/v1/streams/")["streams"], 20, "the stream")
    players = {}
    for name, node in nodes.items():
        players[name] = WholePlayer(node.ports["rtmp"], "cam", capsEx=KNOWS_TRACKS)
        players[name].start()
    wait_until(lambda: all(sum(one.payload == CUE for one in player.messages) > 4 for player in players.values()), 20, "what was published")
    publisher.stop()
    heads = {message.payload[:7] for message in players["origin"].messages}
    assert {b"\x96\x01avc1\x01", b"\x95\x01mp4a\x01", UNKNOWN_TRACK[:7], CUE[:7]} <= heads, heads
    whole, *parts = (from_key_frame(player.stop()) for player in players.values())
    for name, part in zip(list(nodes)[1:], parts):
        assert_piece(part, whole, name)


SRT_ROOT, SRT = "srt_server { enabled on; listen 127.0.0.1:$srt; }\n", " srt { enabled on; }"


@needs_srt
def test_srt_goes_in_at_one_edge_and_out_at_another(server, clip):
    origin = server()
    first, second = (server(edge_of(origin) + SRT, root=SRT_ROOT) for _ in range(2))
    with publish(first, clip("basic")):
        wait_published(origin)
        assert play_check.play(srt_url(second, "#!::r=live/cam,m=request", **PATIENT), 3).problems() == []
    assert [one["publish"]["active"] for one in second.api("/api/v1/streams/")["streams"]] == [True]


OUTPUTS = """ hls { enabled on; hls_fragment 1; hls_path $folder/html; } dash { enabled on; dash_fragment 1; dash_path $folder/html; }
    rtc { enabled on; rtmp_to_rtc on; }"""


@needs_srt
def test_each_protocol_has_words_for_no_stream(server):
    """All ask at once, each for a stream of its own, so that each waits for itself."""
    origin = server()
    edge = server(edge_of(origin, more="first_frame_timeout 1;") + OUTPUTS + SRT, root=SRT_ROOT + RTC)

    def by_rtmp() -> str:
        player = Player(edge.ports["rtmp"], "a")
        player.client.close()
        return player.status["code"]

    def by_whep() -> int:
        return ask(edge.ports["api"], "POST", "/rtc/v1/whep/?app=live&stream=b", offer("recvonly"), Content_Type="application/sdp").status

    def by_file(name: str) -> int:
        return status_of(f"{http_of(edge)}/live/{name}")

    asked = {"RTMP": by_rtmp, "WHEP": by_whep, "SRT": lambda: reject_code(edge, "#!::r=live/c,m=request")}
    asked |= {name: lambda name=name: by_file(name) for name in ("d.flv", "e.m3u8", "f.mpd")}
    watch, began = Stopwatch(origin, edge), time.monotonic()
    with ThreadPoolExecutor(len(asked)) as at_once:
        said = {name: at_once.submit(ask_it) for name, ask_it in asked.items()}
        said = {name: one.result() for name, one in said.items()}
    waited, took = time.monotonic() - began, watch.seconds()
    assert said == {"RTMP": "NetStream.Play.StreamNotFound", "WHEP": 404, "SRT": 1404, "d.flv": 404, "e.m3u8": 404, "f.mpd": 404}
    assert waited > 0.9 and took < 4, (waited, took)
