"""Streams with several tracks of a kind (enhanced RTMP multitrack): two of audio and two of video by our own client."""

import json
import subprocess
import time
from pathlib import Path

from live_server import wait_until
from players import wait_playable
from rtc_offer import offer, post
from rtmp_client import AUDIO, DATA, VIDEO, Player, Publisher, Tag, read_flv
from test_rtc import ROOT, fixture_chromium, fixture_html, fixture_site  # noqa: F401 (fixtures)
from test_rtc_bridge import LISTEN, TO_RTC

WHEP = "/rtc/v1/whep/?app=live&stream=cam"
RECORDED = {"mp4": "dvr_path $folder/rec/mp4.mp4;", "fmp4": "dvr_path $folder/rec/fmp4.mp4; dvr_format fmp4;", "flv": "dvr_path $folder/rec/flv.flv;"}


def is_setup(tag: Tag) -> bool:
    return tag.payload[1] == 0


def enhanced_video(tag: Tag) -> bytes:
    """What follows the FourCC avc1: the configuration, or the composition time and the picture."""
    return tag.payload[5:] if is_setup(tag) else tag.payload[2:]


def many_pictures(first: Tag, second: Tag) -> bytes:
    """ManyTracks, with the track that players like best at the end."""
    kind = 0 if is_setup(first) else 1
    parts = b"".join(bytes([number]) + len(body).to_bytes(3, "big") + body
                     for number, body in ((1, enhanced_video(second)), (0, enhanced_video(first))))
    return bytes([0x80 | first.payload[0] & 0x70 | 6, 0x10 | kind]) + b"avc1" + parts


def second_sound(tag: Tag) -> bytes:
    """OneTrack."""
    return bytes([0x95, 0 if is_setup(tag) else 1]) + b"mp4a" + bytes([1]) + tag.payload[2:]


def two_of_each(first: Path, second: Path) -> list[Tag]:
    """Pictures in messages of two tracks, audio in messages of one: track 0 as ever, track 1 as a message of its own."""
    others = {kind: [tag for tag in read_flv(second) if tag.type == kind] for kind in (AUDIO, VIDEO)}
    taken = {AUDIO: 0, VIDEO: 0}
    tags = []
    for tag in read_flv(first):
        if tag.type == DATA:
            tags.append(tag)
            continue
        at, taken[tag.type] = taken[tag.type], taken[tag.type] + 1
        if at >= len(others[tag.type]):
            continue
        other = others[tag.type][at]
        assert is_setup(tag) == is_setup(other)
        if tag.type == VIDEO:
            tags.append(Tag(VIDEO, tag.timestamp, many_pictures(tag, other)))
        else:
            tags += [tag, Tag(AUDIO, tag.timestamp, second_sound(other))]
    return tags


def publisher_of(live, clip, stream: str = "cam") -> Publisher:
    publisher = Publisher(live.ports["rtmp"], stream, clip("basic"))
    publisher.tags = two_of_each(clip("basic"), clip("second"))
    publisher.start()
    return publisher


def probe(where, *more: str) -> list[dict]:
    command = ["ffprobe", "-v", "error", "-show_streams", *more, "-of", "json", str(where)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout)["streams"]


def heads(messages: list[bytes]) -> set[bytes]:
    """Packet type, FourCC and track of each message, without frame type."""
    return {message[:7] if message[0] & 0x0F in (5, 6) and message[0] & 0x90 else message[:5] for message in messages}


def test_all_tracks_are_relayed(server, clip):
    live = server(vhost="hls { enabled on; hls_fragment 1; hls_path $folder/html; }")
    publisher = publisher_of(live, clip)
    wait_until(lambda: live.api("/api/v1/streams/")["streams"], 5, "the stream")
    time.sleep(1)
    late = Player(live.ports["rtmp"], "cam")
    late.start()
    time.sleep(2)
    late.stop()
    pictures = [message.payload for message in late.messages if message.type == VIDEO]
    audio_frames = [message.payload for message in late.messages if message.type == AUDIO]
    assert heads(pictures[:2]) == {b"\x90avc1", b"\x96\x00avc1\x01"}, "both configurations come first"
    assert heads(pictures[2:4]) == {b"\x91avc1", b"\x96\x01avc1\x01"}, "then both key frames"
    assert {audio[:7] if audio[0] == 0x95 else audio[:2] for audio in audio_frames[:2]} == {b"\xaf\x00", b"\x95\x00mp4a\x01"}
    first = [picture for picture in pictures[2:] if picture[0] & 0x0F != 6]
    second = [picture for picture in pictures[2:] if picture[0] & 0x0F == 6]
    assert len(first) > 40 and abs(len(first) - len(second)) <= 1
    sent = {enhanced_video(tag) for tag in read_flv(clip("second")) if tag.type == VIDEO}
    assert all(picture[7:] in sent for picture in second), "byte for byte"
    # Who knows no tracks gets one of each.
    url = f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8"
    wait_playable(url, 15)
    streams = {stream["codec_type"]: stream for stream in probe(url)}
    assert (streams["video"]["width"], streams["audio"]["channels"]) == (640, 2)
    stream = live.api("/api/v1/streams/")["streams"][0]
    assert stream["video"]["width"] == 640 and stream["frames"] < 25 * 60
    publisher.stop()
    assert publisher.error is None
    assert "dropped a broken" not in live.log() and "timestamp jump" not in live.log()


def test_all_tracks_are_recorded(server, clip, tmp_path):
    live = server(root="".join(f"vhost {name}.test {{ dvr {{ enabled on; {dvr} }} }}\n" for name, dvr in RECORDED.items()))
    publishers = [publisher_of(live, clip, f"cam?vhost={name}.test") for name in RECORDED]
    wait_until(lambda: [one["duration"] > 3 for one in live.api("/api/v1/dvrs")["dvrs"]] == [True] * 3, 15, "three seconds of each")
    for publisher in publishers:
        publisher.stop()
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 5, "the recordings are closed")
    folder = tmp_path / "server0" / "rec"
    for name in ("mp4", "fmp4"):
        streams = probe(folder / f"{name}.mp4", "-count_packets")
        assert [stream["codec_type"] for stream in streams].count("video") == 2, name
        assert sorted(stream["width"] for stream in streams if stream["codec_type"] == "video") == [320, 640]
        assert sorted(stream["channels"] for stream in streams if stream["codec_type"] == "audio") == [1, 2]
        assert streams[0].get("width") == 640, "the default pictures are the first"
        assert all(int(stream["nb_read_packets"]) > 70 for stream in streams)
        done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", str(folder / f"{name}.mp4"), "-map", "0", "-f", "null", "-"],
                              capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), name
    tags = read_flv(folder / "flv.flv")
    assert sum(tag.payload[:1] == b"\x95" for tag in tags) > 100
    assert sum(tag.payload[6:7] == b"\x01" and tag.payload[0] & 0x8F == 0x86 for tag in tags if tag.type == VIDEO) > 70


def test_chromium_plays_the_tracks_that_it_asks_for(site, clip):
    one = site(vhost=TO_RTC)
    publisher = publisher_of(one.live, clip)
    wait_until(lambda: one.live.api("/api/v1/streams/")["streams"], 5, "the stream")
    page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{one.live.ports['http']}/players/whip.html")
    for chosen, width in (("", 640), ("&video=1&audio=1", 320), ("&video=0&audio=1", 640)):
        heard = json.loads(page.value(LISTEN % ("cam" + chosen)))
        assert heard["video"]["frameWidth"] == width, chosen
        assert heard["video"]["framesDecoded"] > 50, heard["video"]
        assert heard["audio"]["totalAudioEnergy"] > 0.001, heard["audio"]
    publisher.stop()


def test_a_track_that_is_not_there_is_refused(server, clip):
    live = server(vhost=TO_RTC, root=ROOT)
    publisher = publisher_of(live, clip)
    wait_until(lambda: any(one["audio"] and one["video"] for one in live.api("/api/v1/streams/")["streams"]), 5, "the stream's tracks")
    answer = post(live.ports["api"], WHEP + "&audio=7", offer("recvonly"))
    assert answer.status == 404 and "no audio track 7" in answer.json()["message"], answer.body
    answer = post(live.ports["api"], WHEP + "&video=en", offer("recvonly"))
    assert answer.status == 400 and "the number of a track" in answer.json()["message"], answer.body
    assert post(live.ports["api"], WHEP + "&audio=1&video=1", offer("recvonly")).status == 201
    publisher.stop()
