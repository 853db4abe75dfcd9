"""Streams with several tracks of a kind (enhanced RTMP multitrack): two audio and two video tracks from our own client."""

import json
import shutil
import subprocess
import time
import urllib.request

import pytest

import browser
import hls_check
from live_server import wait_until
from players import wait_playable
from rtc_offer import offer, post
from rtc_site import LISTEN, ROOT, TO_RTC, fixture_site  # noqa: F401
from rtmp_client import AUDIO, KNOWS_TRACKS, VIDEO, Player, Publisher, read_flv
from track_streams import enhanced_video, two_of_each

pytestmark = pytest.mark.workers

SEGMENTS = "hls { enabled on; hls_fragment 1; hls_window 20; hls_path $folder/html; %s }\ndash { enabled on; dash_fragment 1; dash_window_size 12; dash_path $folder/html; }\n"
WHEP = "/rtc/v1/whep/?app=live&stream=cam"
RECORDED = {"mp4": "dvr_path $folder/rec/mp4.mp4;", "fmp4": "dvr_path $folder/rec/fmp4.mp4; dvr_format fmp4;", "flv": "dvr_path $folder/rec/flv.flv;"}


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
    live = server(vhost="hls { enabled on; hls_fragment 1; hls_path $folder/html; hls_use_fmp4 off; }")
    publisher = publisher_of(live, clip)
    wait_until(lambda: live.api("/api/v1/streams/")["streams"], 20, "the stream")
    time.sleep(1)
    late, other = Player(live.ports["rtmp"], "cam", capsEx=KNOWS_TRACKS), Player(live.ports["rtmp"], "cam")
    late.start()
    other.start()
    wait_until(lambda: sum(message.type == VIDEO for message in late.messages) > 150, 15, "three seconds of video")
    late.stop()
    other.stop()
    plain = {kind: [one.payload for one in other.messages if one.type == kind] for kind in (AUDIO, VIDEO)}
    assert len(plain[VIDEO]) > 60 and all(picture[0] & 0x0F != 6 for picture in plain[VIDEO]), "whoever announces no tracks gets the first of each kind"
    assert len(plain[AUDIO]) > 60 and all(sound[0] == 0xAF for sound in plain[AUDIO])
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
    # Outputs without track support carry one track of each kind.
    url = f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8"
    wait_playable(url, 40)
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
    wait_until(lambda: [one["duration"] > 3 for one in live.api("/api/v1/dvrs")["dvrs"]] == [True] * 3, 40, "three seconds of each")
    for publisher in publishers:
        publisher.stop()
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 20, "the recordings are closed")
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
    wait_until(lambda: one.live.api("/api/v1/streams/")["streams"], 20, "the stream")
    page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{one.live.ports['http']}/players/whip.html")
    # Without a choice the link decides, from the smallest one on.
    for chosen, widths in (("", (320, 640)), ("&video=1&audio=1", (320,)), ("&video=0&audio=1", (640,))):
        heard = json.loads(page.value(LISTEN % ("cam" + chosen)))
        assert heard["video"]["frameWidth"] in widths, chosen
        assert heard["video"]["framesDecoded"] > 50, heard["video"]
        assert heard["audio"]["totalAudioEnergy"] > 0.001, heard["audio"]
    publisher.stop()


def test_the_api_and_the_page_of_the_stream_list_all_tracks(site, clip):
    one = site()
    publisher = publisher_of(one.live, clip)

    def tracks():
        streams = one.live.api("/api/v1/streams/")["streams"]
        return streams and len(streams[0]["track_list"]) == 4 and streams[0]["track_list"]

    listed = {(track["kind"], track["id"]): track for track in wait_until(tracks, 20, "four tracks")}
    assert {key: track["default"] for key, track in listed.items()} == {("video", 0): True, ("video", 1): False, ("audio", 0): True, ("audio", 1): False}
    assert [listed["video", number]["video"]["width"] for number in (0, 1)] == [640, 320]
    assert [(listed["audio", number]["language"], listed["audio", number]["name"]) for number in (0, 1)] == [("en", ""), ("de", "Deutsch")]
    page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{one.live.ports['http']}/players/stream.html?stream=cam")
    page.wait("/audio 1.*AAC.*de, Deutsch/.test(document.getElementById('track-list').textContent.replace(/\\s+/g, ' '))")
    assert "video 1" in page.text("#track-list") and "320×" in page.text("#track-list")
    page.shot("stream-tracks", whole=True)
    publisher.stop()
    wait_until(lambda: not one.live.api("/api/v1/streams/")["streams"], 20, "the end of the stream")


def test_a_track_that_is_not_there_is_refused(server, clip):
    live = server(vhost=TO_RTC, root=ROOT)
    publisher = publisher_of(live, clip)
    wait_until(lambda: any(one["audio"] and one["video"] for one in live.api("/api/v1/streams/")["streams"]), 20, "the stream's tracks")
    answer = post(live.ports["api"], WHEP + "&audio=7", offer("recvonly"))
    assert answer.status == 404 and "no audio track 7" in answer.json()["message"], answer.body
    answer = post(live.ports["api"], WHEP + "&video=en", offer("recvonly"))
    assert answer.status == 400 and "the number of a track" in answer.json()["message"], answer.body
    # The second audio track comes in a message of its own, after the first.
    wait_until(lambda: post(live.ports["api"], WHEP + "&audio=1&video=1", offer("recvonly")).status == 201, 5, "the second tracks")
    publisher.stop()


def get(live, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}{path}", timeout=20) as answer:
        return answer.read()


def lines_of(master: str) -> tuple[dict[str, str], list[str]]:
    """From the master playlist: the audio playlists by language, and the video playlists."""
    lines = master.splitlines()
    audio = {line.split('LANGUAGE="')[1].split('"')[0]: line.split('URI="')[1].split('"')[0] for line in lines if line.startswith("#EXT-X-MEDIA")}
    return audio, [line for line in lines if line and not line.startswith("#")]


def master_of(live, path: str = "/live/cam.m3u8") -> str:
    def look():
        try:
            text = get(live, path).decode()
        except OSError:
            return None
        return text if text.count("#EXT-X-MEDIA") == 2 and text.count("#EXT-X-STREAM-INF") == 2 else None
    return wait_until(look, 40, "a playlist of all tracks", 0.2)


def streams_of(url: str) -> dict[str, set]:
    streams = probe(url)
    return {"video": {one["width"] for one in streams if one["codec_type"] == "video"}, "audio": {one["channels"] for one in streams if one["codec_type"] == "audio"}}


def test_hls_and_dash_have_all_tracks(server, clip):
    live = server(vhost=SEGMENTS % "")
    publisher = publisher_of(live, clip)
    audio, video = lines_of(master_of(live))
    assert sorted(audio) == ["de", "en"] and len(video) == 2
    assert all(uri.startswith("/live/cam.") and "hls_ctx=" in uri for uri in [*audio.values(), *video])
    wait_until(lambda: len(hls_check.parse(get(live, video[0]).decode()).segments) >= 3, 30, "three segments")
    lists = {uri: hls_check.parse(get(live, uri).decode()) for uri in [*audio.values(), *video]}
    for uri, parsed in lists.items():
        assert hls_check.check(get(live, uri).decode()) == [], uri
        assert all(len(get(live, "/live/" + segment.uri)) > 2_000 for segment in parsed.segments), uri
    assert len({parsed.number("#EXT-X-MEDIA-SEQUENCE") for parsed in lists.values()}) <= 2, "the same numbers, or the next ones meanwhile"
    base = f"http://127.0.0.1:{live.ports['http']}"
    assert streams_of(base + "/live/cam.m3u8") == {"video": {640, 320}, "audio": {1, 2}}
    assert streams_of(base + "/live/cam.mpd") == {"video": {640, 320}, "audio": {1, 2}}
    folder = live.folder / "html/live"
    assert streams_of(folder / "cam.m3u8") == {"video": {640, 320}, "audio": {1, 2}}, "and on the disk"
    publisher.stop()
    assert not [line for line in live.complaints() if "HLS" in line or "DASH" in line]


def test_low_latency_and_keys_cover_all_tracks(server, clip):
    keys = "vhost keys.test { hls { enabled on; hls_fragment 1; hls_path $folder/html; hls_keys on; hls_ctx off; hls_m3u8_file k/[stream].m3u8; hls_fmp4_file k/[stream]-[seq].m4s; hls_init_file k/init.mp4; hls_ts_file k/[stream]-[seq].ts; hls_key_file k/[seq].key; } }\n"
    live = server(vhost=SEGMENTS % "hls_ll on;", root=keys)
    publishers = [publisher_of(live, clip), publisher_of(live, clip, "cam?vhost=keys.test")]
    audio, video = lines_of(master_of(live))
    for uri in [*audio.values(), *video]:
        playlist = wait_until(lambda uri=uri: "#EXT-X-PRELOAD-HINT" in (text := get(live, uri).decode()) and text.count("#EXT-X-PART:") > 5 and text, 30, "parts")
        assert hls_check.check(playlist) == [], uri
        parsed = hls_check.parse(playlist)
        assert len(get(live, "/live/" + parsed.hints[0]["URI"])) > 500, "the promised part is waited for"
        assert "#EXTM3U" in get(live, uri + f"&_HLS_msn={parsed.number('#EXT-X-MEDIA-SEQUENCE') + len(parsed.segments) + 1}&_HLS_part=0").decode()
    audio, video = lines_of(master_of(live, "/k/cam.m3u8?vhost=keys.test"))
    assert all(uri.endswith(".m3u8?vhost=keys.test") for uri in [*audio.values(), *video])
    base = f"http://127.0.0.1:{live.ports['http']}/k/"
    for uri in (audio["de"], video[1]):
        wait_until(lambda uri=uri: get(live, "/k/" + uri).decode().count("#EXTINF") >= 3, 30, "three segments")
        assert "METHOD=AES-128" in get(live, "/k/" + uri).decode()
        done = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-xerror", "-i", base + uri, "-t", "2", "-f", "null", "-"],
                              capture_output=True, text=True, timeout=30, check=False)
        assert (done.returncode, done.stderr) == (0, ""), uri
    for publisher in publishers:
        publisher.stop()


PAGE = """<!DOCTYPE html><video id=video muted playsinline></video><script src="/players/js/hls.js"></script><script src="/dash.js"></script>"""
PLAY_HLS = """(() => { window.loaded = new Set(); window.hls = new Hls({startLevel: 0, liveSyncDurationCount: 2});
    hls.on(Hls.Events.FRAG_BUFFERED, (_, data) => loaded.add(data.frag.relurl.replace(/cam-[0-9]+[.]|[.]m4s.*/g, '')));
    hls.loadSource('/live/cam.m3u8'); hls.attachMedia(video); video.play(); return true; })()"""
PLAY_DASH = """(() => { window.player = dashjs.MediaPlayer().create(); player.updateSettings({streaming: {abr: {autoSwitchBitrate: {video: false}}}});
    window.loaded = new Set(); player.on('fragmentLoadingCompleted', one => loaded.add(one.request.representation.id));
    player.initialize(video, '/live/cam.mpd', true); return true; })()"""
DECODED = "video.getVideoPlaybackQuality().totalVideoFrames"


def plays_on(page) -> None:
    before, heard = page.value(DECODED), page.value("video.webkitAudioDecodedByteCount")
    page.wait(f"{DECODED} > {before + 25} && video.webkitAudioDecodedByteCount > {heard + 1000}", 30)


def open_page(site, clip):
    one = site(vhost=SEGMENTS % "")
    (one.live.folder / "html/tracks.html").write_text(PAGE)
    shutil.copy(browser.install_modules() / "node_modules/dashjs/dist/modern/umd/dash.all.min.js", one.live.folder / "html/dash.js")
    publisher = publisher_of(one.live, clip)
    master_of(one.live)
    page = one.open("whip.html", "x").goto(f"http://127.0.0.1:{one.live.ports['http']}/tracks.html")
    return page, publisher


def test_chromium_plays_each_track_by_hls(site, clip):
    page, publisher = open_page(site, clip)
    assert page.value(PLAY_HLS)
    page.wait("hls.levels.length == 2 && hls.audioTracks.length == 2", 30)
    assert page.value("hls.audioTracks.map(track => track.lang).join()") == "en,de"
    widths = page.value("hls.levels.map(level => level.width).join()").split(",")
    assert sorted(widths) == ["320", "640"]
    plays_on(page)
    for level in (1, 0):
        page.value(f"(() => {{ hls.currentLevel = {level}; return true; }})()")
        page.wait(f"video.videoWidth == {widths[level]}", 30)
        plays_on(page)
    page.value("(() => { hls.audioTrack = 1; return true; })()")
    page.wait("loaded.has('audio-1')", 30)
    plays_on(page)
    assert page.value("[...loaded].sort().join()") == "audio,audio-1,video,video-1"
    publisher.stop()


def test_chromium_plays_each_track_by_dash(site, clip):
    page, publisher = open_page(site, clip)
    wait_until(lambda: get_or_none(page), 30, "an MPD")
    assert page.value(PLAY_DASH)
    page.wait("video.videoWidth > 0 && !video.paused", 30)
    assert page.value("player.getTracksFor('audio').map(track => track.lang).join()") == "en,de"
    widths = page.value("player.getRepresentationsByType('video').map(one => one.width).join()").split(",")
    assert sorted(widths) == ["320", "640"]
    plays_on(page)
    for index in (1, 0):
        page.value(f"(() => {{ player.setRepresentationForTypeByIndex('video', {index}); return true; }})()")
        page.wait(f"video.videoWidth == {widths[index]}", 30)
        plays_on(page)
    page.value("(() => { player.setCurrentTrack(player.getTracksFor('audio')[1]); return true; })()")
    page.wait("loaded.has('audio-1')", 30)
    plays_on(page)
    publisher.stop()


def get_or_none(page):
    return page.value("fetch('/live/cam.mpd').then(answer => answer.ok)")
