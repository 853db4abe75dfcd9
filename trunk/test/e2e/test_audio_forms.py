"""AAC in forms that RTMP does not have: in ADTS, or without its sequence header."""

import subprocess

import pytest

from http_streams import AUDIO
from live_server import wait_until
from rtmp_client import Publisher, Tag

HLS = "hls { enabled on; hls_fragment 1; hls_window 20; hls_path $folder/html; }"


def with_adts(tags: list[Tag]) -> list[Tag]:
    """AAC frames with ADTS headers."""
    index, channels, out = 4, 2, []
    for tag in tags:
        body = tag.payload
        if tag.type == AUDIO and body[1] == 0:
            config = int.from_bytes(body[2:4], "big")
            index, channels = config >> 7 & 15, config >> 3 & 15
        elif tag.type == AUDIO:
            size = len(body) - 2 + 7
            head = bytes([0xFF, 0xF1, 0x40 | index << 2 | channels >> 2, (channels & 3) << 6 | size >> 11, size >> 3 & 255,
                          (size & 7) << 5 | 31, 0xFC])
            body = body[:2] + head + body[2:]
        out.append(Tag(tag.type, tag.timestamp, body))
    return out


def without_header(tags: list[Tag]) -> list[Tag]:
    return [tag for tag in tags if not (tag.type == AUDIO and tag.payload[1] == 0)]


def publish(live, path, form) -> Publisher:
    publisher = Publisher(live.ports["rtmp"], "cam", path)
    publisher.tags = form(publisher.tags)
    publisher.start()
    return publisher


def stream_of(live) -> dict:
    return live.api("/api/v1/streams/")["streams"][0]


@pytest.mark.parametrize("form", [with_adts, lambda tags: without_header(with_adts(tags))], ids=["with a header", "without a header"])
def test_adts_inside_rtmp_is_audio_everywhere(server, clip, form):
    live = server(HLS)
    publisher = publish(live, clip("basic"), form)
    folder = live.folder / "html" / "live"
    segments = wait_until(lambda: len(found := sorted(folder.glob("cam-*.ts"))) > 2 and found, 20, "segments of HLS")
    audio = wait_until(lambda: stream_of(live)["audio"], 5, "the audio in the API")
    publisher.stop()
    assert audio == {"codec": "AAC", "sample_rate": 44100, "channel": 2, "profile": "LC"}
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", segments[1], "-map", "0:a", "-f", "s16le", "-"], capture_output=True, timeout=30)
    assert done.stderr.decode() == ""
    assert len(done.stdout) > 44100 * 4 * 0.5, "seconds of sound"
    live.wait_log("arrives in ADTS or LATM")


def test_aac_without_a_header_is_reported(server, clip):
    live = server(HLS)
    publisher = publish(live, clip("basic"), without_header)
    live.wait_log("has no sequence header")
    assert stream_of(live)["audio"]["problem"] == "AAC without a sequence header"
    publisher.stop()
