"""Closed captions: ffmpeg reads the same lines from every output, and HLS, DASH and the API announce them."""

import json
import re
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from caption_media import LINE_S, lines_in, make_captioned
from live_server import wait_until
from playback import FMP4, PLAYBACK, Playback
from players import FfmpegPublisher
from srt_stage import PATIENT, Sender, has_srt, srt_url

pytestmark = pytest.mark.skipif(not has_srt(), reason="this ffmpeg has no libsrt")
SECONDS, PLAYED_S = 6, 3  # A line of captions is decoded when the next one begins.
COMMON = "srt { enabled on; } rtsp { enabled on; } http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } "
COMMON += "hls { enabled on; hls_fragment 1; %s } "
FILES = "dash { enabled on; dash_fragment 1; dash_path $folder/html; } dvr { enabled on; dvr_path $folder/rec/[stream].flv; }"
ROOT = "srt_server { enabled on; listen 127.0.0.1:$srt; } rtsp_server { enabled on; listen 127.0.0.1:$rtsp; } "
ROOT += "vhost ll.test { %s }" % (COMMON % "hls_ll on; hls_use_fmp4 on; hls_path $folder/ll;")


@pytest.fixture(name="captioned", scope="module")
def fixture_captioned(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("captions")
    return make_captioned(folder, "h264", SECONDS, "flv")


def text_of(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def media_playlist(live, query: str = "", name: str = "cam") -> str:
    """The playlist that the master playlist names; empty before it exists."""
    base = f"http://127.0.0.1:{live.ports['http']}"
    try:
        return text_of(base + text_of(f"{base}/live/{name}.m3u8{query}").split()[-1])
    except urllib.error.HTTPError:
        return ""


def recorded(urls: dict[str, list[str]], folder: Path) -> dict[str, Path]:
    """Some seconds of each output, at the same time, without decoding."""
    files = {name: folder / f"{name}.mkv" for name in urls}
    running = {name: subprocess.Popen(["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", *options, "-t", str(PLAYED_S), "-map", "0:v", "-c", "copy",
                                       files[name]]) for name, options in urls.items()}
    try:
        for name, process in running.items():
            assert process.wait(60) == 0, name
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    return files


def test_captions_are_in_every_output_and_announced(server, captioned, tmp_path):
    live = server(COMMON % "hls_path $folder/hls;" + FILES, root=ROOT)
    edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{live.ports['rtmp']}; }} hls {{ enabled on; hls_fragment 1; hls_path $folder/hls; }}")
    http, ll = f"http://127.0.0.1:{live.ports['http']}/live/", "?vhost=ll.test"
    with FfmpegPublisher(live.url("cam"), captioned), Sender(srt_url(live, "#!::h=ll.test,r=live/cam,m=publish"), captioned):
        outputs = [http + "cam.m3u8", http + "cam.mpd", http + "cam.m3u8" + ll]
        wait_until(lambda: len([one for one in live.api("/api/v1/streams/")["streams"] if one["publish"]["active"]]) == 2, 30, "two streams")
        # ffmpeg begins three segments before the end, and does not follow the change when audio joins the first video of a transport stream.
        wait_until(lambda: all(media_playlist(live, query).count("EXTINF") >= 5 for query in ("", ll)), 40, "segments")
        master, mpd, ll_master = (text_of(url) for url in outputs)
        edge_master = text_of(f"http://127.0.0.1:{edge.ports['http']}/live/cam.m3u8")
        streams = live.api("/api/v1/streams/")["streams"]
        rtsp = ["-rtsp_transport", "tcp", "-i"]
        files = recorded({
            "rtmp": ["-i", live.url("cam")], "flv": ["-i", http + "cam.flv"], "hls": ["-i", outputs[0]], "dash": ["-i", outputs[1]],
            "srt": ["-i", srt_url(live, "#!::r=live/cam,m=request", **PATIENT)], "rtsp": [*rtsp, f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/cam"],
            "edge": ["-i", edge.url("cam")],
            # From MPEG-TS.
            "ll-rtmp": ["-i", live.url("cam") + ll], "ll-hls": ["-i", outputs[2]],
            "ll-srt": ["-i", srt_url(live, "#!::h=ll.test,r=live/cam,m=request", **PATIENT)],
        }, tmp_path)
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 20, "the recordings are closed")
    files["dvr"] = Path(live.folder) / "rec/cam.flv"
    wanted = {f"LINE {number:04}" for number in range(SECONDS // LINE_S)}
    for name, file in files.items():
        assert lines_in(file) and lines_in(file) <= wanted, name
    for text in (master, ll_master, edge_master):
        assert text.count("TYPE=CLOSED-CAPTIONS") == 2 and 'INSTREAM-ID="CC1"' in text and 'INSTREAM-ID="SERVICE1"' in text, text
        assert text.count('CLOSED-CAPTIONS="cc"') == text.count("#EXT-X-STREAM-INF")
    assert '<Accessibility schemeIdUri="urn:scte:dash:cc:cea-608:2015" value="CC1=und"/>' in mpd, mpd
    assert [[track.get("captions") for track in one["track_list"] if track["kind"] == "video"] for one in streams] == [[["CC1", "SERVICE1"]]] * 2


@pytest.mark.parametrize("codec", ["h264", pytest.param("hevc", marks=pytest.mark.long)])
def test_captions_are_in_recordings_and_in_hevc(server, tmp_path, codec):
    captioned = make_captioned(tmp_path, codec, SECONDS, "ts")
    live = server(COMMON % "hls_use_fmp4 on; hls_path $folder/hls;" + f"dvr {{ enabled on; {FMP4} }}", root=ROOT + PLAYBACK)
    http, library = f"http://127.0.0.1:{live.ports['http']}/live/", Playback(live)
    with Sender(srt_url(live, "#!::r=live/cam,m=publish"), captioned):
        wait_until(lambda: media_playlist(live).count("EXTINF") >= 5, 40, "segments")
        files = recorded({"hls": ["-i", http + "cam.m3u8"], "srt": ["-i", srt_url(live, "#!::r=live/cam,m=request", **PATIENT)],
                          "rtsp": ["-rtsp_transport", "tcp", "-i", f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/cam"]}, tmp_path)
    wait_until(lambda: not live.api("/api/v1/dvrs")["dvrs"], 20, "the recording is closed")
    (span,) = library.spans()
    files["fmp4"] = library.get(tmp_path / "part.fmp4", span["start"], PLAYED_S, form="fmp4")
    files["mp4"] = library.get(tmp_path / "part.mp4", span["start"], PLAYED_S)
    (files["dvr"],) = Path(live.folder / "rec/live").glob("cam.*.mp4")
    wanted = {f"LINE {number:04}" for number in range(SECONDS // LINE_S)}
    for name, file in files.items():
        assert lines_in(file) and lines_in(file) <= wanted, name


def post_subtitles(live, stream: str, text: str, query: str = "") -> tuple[int, dict]:
    request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/streams/{stream}/subtitles{query}", data=text.encode(), method="POST",
                                     headers={"Content-Type": "text/vtt"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def shown_in(live, name: str) -> list[tuple[str, int]]:
    """The text of the cues in each segment of a playlist of subtitles, with the number of the segment."""
    playlist = media_playlist(live, name=name)
    number = int((re.search(r"MEDIA-SEQUENCE:(\d+)", playlist) or [0, 0])[1])
    segments = [line for line in playlist.splitlines() if line and not line.startswith("#")]
    texts = [text_of(f"http://127.0.0.1:{live.ports['http']}/live/{segment}") for segment in segments]
    assert all(text.startswith("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:") for text in texts), texts
    return [(cue, number + i) for i, text in enumerate(texts) for cue in re.findall(r"--> \S+\n(.*)", text)]


def test_posted_cues_become_a_rendition_of_subtitles(server, captioned):
    live = server("hls { enabled on; hls_fragment 1; hls_path $folder/html; }")
    edge = server(f"cluster {{ mode remote; origin 127.0.0.1:{live.ports['rtmp']}; }} hls {{ enabled on; hls_fragment 1; hls_path $folder/html; }}")
    with FfmpegPublisher(live.url("cam"), captioned):
        wait_until(lambda: media_playlist(live).count("EXTINF") >= 1 and media_playlist(edge).count("EXTINF") >= 1, 40, "segments")
        (stream,) = live.api("/api/v1/streams/")["streams"]
        assert "SUBTITLES" not in text_of(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8")
        cues = "WEBVTT\n\n00:00.000 --> 00:03.000\n<b>three</b> &amp; more\n\n00:03.000 --> 00:03.200\nshort\n"
        assert post_subtitles(live, stream["id"], cues, "?language=en&delay=1")[1]["data"]["cues"] == 2
        assert post_subtitles(live, stream["id"], "1\n00:00.000 --> 00:01.000\nno WebVTT")[0] == 400
        assert post_subtitles(live, "vid-none", cues)[0] == 404
        for one in (live, edge):
            wait_until(lambda node=one: "short" in [text for text, _ in shown_in(node, "cam.text-en")], 40, "the last cue")
        shown = [shown_in(one, "cam.text-en") for one in (live, edge)]
        master = text_of(f"http://127.0.0.1:{live.ports['http']}/live/cam.m3u8")
        video = media_playlist(live)
    assert shown[0] == shown[1], "the edge has the same segments"
    assert 3 <= [text for text, _ in shown[0]].count("three &amp; more") <= 5 and [text for text, _ in shown[0]].count("short") <= 2
    assert re.search(r'TYPE=SUBTITLES,GROUP-ID="subs",NAME="en",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,URI="/live/cam\.text-en\.m3u8\?hls_ctx=', master), master
    assert 'SUBTITLES="subs"' in master and "#EXTM3U" in video
