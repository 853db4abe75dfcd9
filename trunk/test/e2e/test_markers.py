"""Markers of SCTE 35 and timed metadata: from a transport stream and over the API into every output, at the frame that they name."""

import contextlib
import json
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime
from pathlib import Path
from urllib.parse import urljoin

import pytest

import worker_stage
from cached_venv import python_with
from live_server import free_udp_ports, wait_until
from playback import FMP4, PLAYBACK, recording
from players import FfmpegPublisher
from rtmp_client import AUDIO, DATA, VIDEO, Player, RtmpClient, Tag, amf0, read_flv
from same_segments import kick_relays
from srt_stage import needs_tools, srt_url
from transport_stream import SrtSender, libsrt

HERE = Path(__file__).resolve().parent
FRAME_S, FIRST_S = 1 / 25, 1.48  # of ffmpeg's transport streams with two B-frames
SPEED = 1.25
CLIP_S, OUT_S, BACK_S = 14, 5, 9  # the break; segments of three and of two seconds do not end there by themselves
HLS = "hls { enabled on; hls_fragment 3; hls_window 60; hls_ctx off; hls_ts_ctx off; hls_cue_tags on; hls_path $folder/hls; }"
DASH = "dash { enabled on; dash_fragment 3; dash_update_period 1; dash_window_size 30; dash_path $folder/html; }"
EXPORTER = " exporter { enabled on; listen 127.0.0.1:$metrics; }"
WEB = "http_server { enabled on; listen 127.0.0.1:$http; dir $folder/html; }"
SCTE_PID, SENT_PID = 0x103, 0x1F4  # of the server, of the publisher's transport stream


def http_get(live, path: str) -> bytes:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['http']}/live/{path}", timeout=10) as answer:
            return answer.read()
    except urllib.error.HTTPError:
        return b""


def post_event(live, stream: str, body) -> tuple[int, dict]:
    request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/streams/{stream}/events", data=json.dumps(body).encode(), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def metrics_of(live) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['metrics']}/metrics", timeout=10) as answer:
        return answer.read().decode()


def make_clip(target: Path, *options: str) -> Path:
    """CLIP_S with a key frame each second."""
    subprocess.run(["ffmpeg", "-hide_banner", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i",
                    "sine=frequency=440:sample_rate=44100", "-t", str(CLIP_S), "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-keyint_min", "25",
                    "-sc_threshold", "0", "-c:a", "aac", *options, target], check=True, timeout=60)
    return target


@pytest.fixture(name="threefive", scope="module")
def fixture_threefive() -> Path:
    return python_with("scte35", HERE / "scte35/requirements.txt", "threefive")


@pytest.fixture(name="spliced", scope="module")
def fixture_spliced(threefive, tmp_path_factory) -> Path:
    """With the break."""
    folder = tmp_path_factory.mktemp("markers")
    make_clip(folder / "plain.ts", "-bf", "2", "-f", "mpegts")
    subprocess.run([threefive, HERE / "scte35/put_markers.py", folder / "plain.ts", folder / "spliced.ts", str(FIRST_S), f"7:out:{OUT_S}:4", f"7:in:{BACK_S}"], check=True,
                   timeout=60)
    return folder / "spliced.ts"


def section(threefive: Path, arguments: str) -> str:
    """In Base64, from a clock that is not the publisher's."""
    code = f"import base64\nfrom threefive.encode import mk_splice_insert\ncue = mk_splice_insert({arguments})\ncue.encode()\n"
    code += "print(base64.b64encode(cue.bites).decode())"
    return subprocess.run([threefive, "-c", code], check=True, capture_output=True, text=True, timeout=30).stdout.strip()


@pytest.fixture(name="cued", scope="module")
def fixture_cued(threefive, tmp_path_factory) -> list[Tag]:
    """The same break for RTMP, in two of the forms in which encoders send it, before the key frames."""
    tags = read_flv(make_clip(tmp_path_factory.mktemp("cued") / "plain.flv", "-bf", "0"))
    out, back = section(threefive, "7, pts=1000.0, duration=4.0, out=True"), section(threefive, "7, pts=1004.0, out=False")
    for time_ms, message in ((1000 * OUT_S, amf0("onSCTE35") + amf0({"type": "scte35", "data": out})),
                             (1000 * BACK_S, amf0("onCuePoint") + amf0({"name": "scte35", "type": "event", "parameters": {"cue": back}}))):
        at = next(i for i, tag in enumerate(tags) if tag.type == VIDEO and tag.timestamp >= time_ms)
        tags.insert(at, Tag(DATA, tags[at].timestamp, message))
    return tags


def paced(data: bytes, seconds: float):
    """Pieces of a datagram's size, over the time."""
    began = time.monotonic()
    for at in range(0, len(data), 1316):
        time.sleep(max(0.0, began + seconds * at / len(data) - time.monotonic()))
        yield data[at:at + 1316]


def send(file: Path, port: int, seconds: float) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as to:
        for piece in paced(file.read_bytes(), seconds):
            to.sendto(piece, ("127.0.0.1", port))


def call(file: Path, port: int, seconds: float) -> None:
    with SrtSender(port, "#!::r=live/cam,m=publish") as to:
        for piece in paced(file.read_bytes(), seconds):
            to.send(piece)
        to.wait_taken()


def publish(tags: list[Tag], port: int, seconds: float) -> None:
    """Over RTMP, once."""
    with RtmpClient(port) as client:
        client.publish("cam")
        began = time.monotonic()
        for tag in tags:
            time.sleep(max(0.0, began + tag.timestamp / 1000 / CLIP_S * seconds - time.monotonic()))
            client.send_message(tag.type, tag.payload, tag.timestamp)


@contextlib.contextmanager
def writing(command: list, into: Path):
    """A program writes a live stream into a file."""
    with open(into, "wb") as out, subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def player(live, path: str, into: Path):
    return writing(["curl", "-sN", f"http://127.0.0.1:{live.ports['http']}/live/{path}"], into)


def srt_player(live, into: Path):
    return writing(["srt-live-transmit", "-q", "-a:no", srt_url(live, "#!::r=live/cam,m=request", latency=1000), "file://con"], into)


class DataPlayer(Player):
    kept = (AUDIO, VIDEO, DATA)


@contextlib.contextmanager
def rtmp_player(live, messages: list):
    reader = DataPlayer(live.ports["rtmp"], "cam")
    reader.start()
    try:
        yield
    finally:
        messages += reader.stop()


def segments_of(playlist: str) -> list[tuple[datetime, float, str]]:
    """The date, the duration and the tags before each segment."""
    found, tags, date = [], "", None
    for line in playlist.splitlines():
        if line.startswith("#EXT-X-PROGRAM-DATE-TIME:"):
            date = datetime.fromisoformat(line.split(":", 1)[1].replace("Z", "+00:00"))
        elif line.startswith("#EXTINF:"):
            found.append((date, float(line[8:].split(",")[0]), tags))
            tags = ""
        elif line.startswith("#EXT-X-CUE"):
            tags += line
    return found


def attribute(line: str, name: str) -> str:
    return re.search(rf'{name}="?([^",]*)', line).group(1)


def splice_times(stream: bytes, pid: int) -> list[float]:
    """The times of the splice_insert messages in a transport stream, in its presentation times."""
    times = []
    for at in range(0, len(stream) - 187, 188):
        packet = stream[at:at + 188]
        if (packet[1] & 0x1F) << 8 | packet[2] != pid:
            continue
        start = 4 + (1 + packet[4] if packet[3] & 0x20 else 0)
        section = packet[start + 1:]
        assert section[0] == 0xFC and section[13] == 5
        adjustment, pts = (int.from_bytes(section[i:i + 5], "big") & 0x1FFFFFFFF for i in (4, 20))
        times.append((adjustment + pts) % 2**33 / 90_000)
    return times


def key_times(file: Path) -> list[float]:
    done = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", file],
                          capture_output=True, text=True, timeout=60, check=True)
    return [float(line.split(",")[0]) for line in done.stdout.splitlines() if ",K" in line]


CASTER = "stream_caster { enabled on; caster mpegts_over_udp; output rtmp://127.0.0.1/live/cam; listen %s; } " + WEB
SRT = "srt_server { enabled on; listen 127.0.0.1:$srt; } "
OUTPUTS = HLS + DASH + "srt { enabled on; } http_remux { enabled on; mount [vhost]/[app]/[stream].ts; }"


def played(live, folder: Path, outputs, sender: threading.Thread) -> tuple[str, str]:
    """The playlist and the MPD of the whole break, which `sender` publishes; `outputs` start when the stream is there."""
    sender.start()
    wait_until(lambda: any(one["publish"]["active"] for one in live.api("/api/v1/streams/")["streams"]), 30, "the stream is published")
    with contextlib.ExitStack() as stack:
        for name, start in outputs.items():
            stack.enter_context(start(live, folder / name))
        sender.join()
        playlist = wait_until(lambda: (text := http_get(live, "cam.m3u8").decode()).count("EXTINF") >= 5 and text, 30, "five segments")
        mpd = wait_until(lambda: (text := http_get(live, "cam.mpd").decode()).count("<Event ") >= 2 and text, 30, "the events of the MPD")
    return playlist, mpd


def expect_cuts(playlist: str) -> None:
    """The segments are cut at the splices, and the dates of the break are theirs."""
    segments = segments_of(playlist)
    ends = [sum(duration for _, duration, _ in segments[:i]) for i in range(len(segments))]
    out, back = [line for line in playlist.splitlines() if line.startswith("#EXT-X-DATERANGE:")]
    assert attribute(out, "ID") == attribute(back, "ID") and attribute(out, "ID").startswith("7-")
    assert attribute(out, "SCTE35-OUT").startswith("0xFC") and attribute(back, "SCTE35-IN").startswith("0xFC")
    assert float(attribute(out, "PLANNED-DURATION")) == 4
    for line, name, at, tag in ((out, "START-DATE", OUT_S, "#EXT-X-CUE-OUT:4"), (back, "END-DATE", BACK_S, "#EXT-X-CUE-IN")):
        date = datetime.fromisoformat(attribute(line, name).replace("Z", "+00:00"))
        (i,) = [i for i, (begins, _, _) in enumerate(segments) if abs((begins - date).total_seconds()) < FRAME_S]
        assert abs(ends[i] - at) < FRAME_S and segments[i][2] == tag


def expect_the_break(playlist: str, mpd: str) -> None:
    expect_cuts(playlist)
    assert 'schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="1000"' in mpd
    times = [int(one) / 1000 for one in re.findall(r'<Event presentationTime="(\d+)"', mpd)]
    assert abs(times[1] - times[0] - 4) < FRAME_S and re.search(r'<Event presentationTime="\d+" duration="4000" id="7">', mpd)


def expect_sections(file: Path, pid: int) -> None:
    """They name the times of key frames, four seconds apart."""
    keys, splices = key_times(file), splice_times(file.read_bytes(), pid)
    assert len(splices) == 2 and abs(splices[1] - splices[0] - 4) < FRAME_S, splices
    assert all(min(abs(splice - key) for key in keys) < FRAME_S for splice in splices), (splices, keys)


@pytest.mark.parametrize("way", ["udp", pytest.param("srt", marks=[needs_tools, pytest.mark.skipif(not libsrt(), reason="no libsrt")])])
def test_a_break_in_a_transport_stream_is_in_every_output(server, spliced, tmp_path, way):
    port = free_udp_ports(1)
    live, library = recording(server, FMP4, PLAYBACK + CASTER % port + SRT, OUTPUTS)
    outputs = {"http.ts": lambda one, into: player(one, "cam.ts", into)}
    if way == "srt":
        outputs["srt.ts"] = srt_player
    sender = threading.Thread(target=send if way == "udp" else call, args=(spliced, port if way == "udp" else live.ports["srt"], CLIP_S / SPEED))
    expect_the_break(*played(live, tmp_path, outputs, sender))
    expect_sections(tmp_path / "http.ts", SCTE_PID)
    if way == "srt":
        expect_sections(tmp_path / "srt.ts", SENT_PID)
    # The recording, by itself and as the past of the stream.
    start = library.spans()[0]["start"]
    for where, query in (("/get", {"path": "live/cam", "format": "hls"}), ("/live/cam.m3u8", {"start": start})):
        expect_cuts(wait_until(lambda one=(where, query): "CUE-IN" in (text := library.ask(one[0], **one[1])[2].decode()) and text, 20, where))


@needs_tools
def test_a_break_in_messages_of_rtmp_is_in_every_output(server, cued, tmp_path):
    """RTMP players get the messages as they are, at the times of the key frames; the sections get the clock of the transport streams."""
    live = server(OUTPUTS, root=SRT + WEB)
    messages = []
    outputs = {"http.ts": lambda one, into: player(one, "cam.ts", into), "srt.ts": srt_player, "rtmp": lambda one, _: rtmp_player(one, messages)}
    expect_the_break(*played(live, tmp_path, outputs, threading.Thread(target=publish, args=(cued, live.ports["rtmp"], CLIP_S / SPEED))))
    for name in ("http.ts", "srt.ts"):
        expect_sections(tmp_path / name, SCTE_PID)
    keys = {one.timestamp for one in messages if one.is_key_frame()}
    cues = [one for one in messages if one.type == DATA and b"scte35" in one.payload]
    # The first message of a player that joins late has the time zero.
    apart = [min(abs(one.timestamp - key) for key in keys) / 1000 for one in cues]
    assert len(apart) == 2 and max(apart) <= FRAME_S, (apart, sorted(keys))


def described(playlist: str) -> tuple[list[str], dict[str, str]]:
    """The date ranges of a playlist, and the tags of each segment by its name."""
    ranges = [line for line in playlist.splitlines() if line.startswith("#EXT-X-DATERANGE:")]
    segments, tags = {}, []
    for line in playlist.splitlines():
        if line.startswith(("#EXT-X-CUE", "#EXT-X-GAP", "#EXT-X-PROGRAM-DATE-TIME")):
            tags.append(line)
        elif line and not line.startswith("#"):
            segments[line.split("?")[0]], tags = " ".join(tags), []
    return ranges, segments


@pytest.mark.parametrize("parts", [pytest.param("", id="segments", marks=pytest.mark.long), pytest.param("hls_ll on; hls_part 200;", id="parts")])
def test_edges_have_the_markers_of_their_origin(server, spliced, parts):
    """One edge from the beginning on, one that joins within the break, and one that joins when its end has been announced."""
    port = free_udp_ports(1)
    hls = HLS.replace("hls_path", parts + "hls_path")
    origin = server(hls + DASH, root=CASTER % port)
    edges = [server(f"cluster {{ mode remote; origin 127.0.0.1:{origin.ports['rtmp']}; }} {hls}{DASH}", root=WEB) for _ in range(3)]

    def listed(live) -> int:
        return http_get(live, "cam.m3u8").decode().count("#EXTINF")
    sender = threading.Thread(target=send, args=(spliced, port, CLIP_S / SPEED))
    sender.start()
    wait_until(lambda: any(one["publish"]["active"] for one in origin.api("/api/v1/streams/")["streams"]), 30, "the stream is published")
    for edge, count in zip(edges, (1, 2, 3)):
        wait_until(lambda wanted=count: listed(origin) >= wanted, 30, f"{count} segments", 0.02)
        kick_relays(origin)  # a connection that returns changes nothing
        http_get(edge, "cam.m3u8")
        http_get(edge, "cam.mpd")
    sender.join()
    wanted = wait_until(lambda: "END-DATE" in (text := http_get(origin, "cam.m3u8").decode()) and text.count("#EXTINF") >= 5 and text, 30, "the end of the break")
    ranges, segments = described(wanted)
    assert len({attribute(line, "ID") for line in ranges}) == 1 and sum("CUE-OUT:" in tags for tags in segments.values()) == 1, wanted
    newest = list(segments)[-1]
    for edge in edges:
        text = wait_until(lambda one=edge: newest in (text := http_get(one, "cam.m3u8").decode()) and text, 20, "the last segment at the edge")
        own_ranges, own = described(text)
        assert own_ranges == ranges, f"{wanted}\n{text}"
        assert own and own == {name: segments[name] for name in own}, f"{wanted}\n{text}"
    events = [re.findall(r"<Event .*", http_get(one, "cam.mpd").decode()) for one in (origin, *edges)]
    assert len(events[0]) == 2 and events == [events[0]] * 4


def test_events_reach_the_players_of_all_workers(server, clip):
    """Whichever worker receives the requests, and wherever the publisher is."""
    live = worker_stage.start(server, HLS.replace("hls_fragment 3", "hls_fragment 1"))
    live.wait_log(f"{worker_stage.WORKERS} workers serve", 20)
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
        wait_until(lambda: any(one["publish"]["active"] for one in worker_stage.streams(live)), 30, "the stream")
        players = worker_stage.players_on_all(live, kind=DataPlayer)
        wait_until(lambda: all(worker_stage.videos(one) > 0 for one in players), 30, "all players have media")
        for number in range(6):
            (stream,) = worker_stage.streams(live)
            status, answer = post_event(live, stream["id"], {"name": f"onSong{number}", "data": {"title": "Nocturne"}})
            assert status == 200, answer
            assert post_event(live, stream["id"], {"cue": "out", "id": number + 1, "duration": 1})[0] == 200
        names = [f"onSong{number}".encode() for number in range(6)]

        def missing() -> list:
            return [(i, name) for i, one in enumerate(players) for name in names if not any(name in message.payload for message in one.messages)]
        wait_until(lambda: not missing(), 20, missing)
        wanted = [f'DATERANGE:ID="{number + 1}-' for number in range(6)]
        for _ in range(4 * worker_stage.WORKERS):
            wait_until(lambda: all(one in http_get(live, "cam.m3u8").decode() for one in wanted), 30, "the breaks are in the playlist")
        for one in players:
            one.stop()


def test_events_of_the_api_are_in_every_output(server, clip, tmp_path):
    live, library = recording(server, FMP4, PLAYBACK + WEB, HLS + DASH + "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }")
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
        (stream,) = wait_until(lambda: [one for one in live.api("/api/v1/streams/")["streams"] if one["publish"]["active"]], 30, "the stream")
        with player(live, "cam.flv", tmp_path / "played.flv"):
            wait_until(lambda: (tmp_path / "played.flv").exists() and (tmp_path / "played.flv").stat().st_size > 10_000, 30, "the player has media")
            assert post_event(live, stream["id"], {"text": "Good evening", "duration": 3, "language": "en"})[1]["data"]["kind"] == "text"
            assert post_event(live, stream["id"], {"name": "onSong", "data": {"title": "Nocturne"}})[1]["data"]["kind"] == "id3"
            assert post_event(live, stream["id"], {"cue": "out", "id": 9, "duration": 2})[1]["data"]["kind"] == "scte35"
            assert post_event(live, stream["id"], {"cue": "off"})[0] == 400
            assert post_event(live, "vid-none", {"cue": "in"})[0] == 404

            def tagged():
                playlist = http_get(live, "cam.m3u8").decode()
                names = [line for line in playlist.splitlines() if line.endswith(".ts")]
                return "DATERANGE:ID=\"9-" in playlist and [data for name in names if b"Nocturne" in (data := http_get(live, name))]
            (segment,) = wait_until(tagged, 40, "a segment with the tag")
            (tmp_path / "tagged.ts").write_bytes(segment)
            mpd = wait_until(lambda: (text := http_get(live, "cam.mpd").decode()) and "<Event " in text and text, 30, "the MPD")
        assert "https://aomedia.org/emsg/ID3" in mpd
        number = int(re.search(r'startNumber="(\d+)"', mpd).group(1))
        pieces = [http_get(live, f"cam/video-{number + i}.m4s") for i in range(mpd.count("<S "))]
        assert any(b"emsg" in piece and b"Nocturne" in piece for piece in pieces)
        # The recording in progress: its playlists, and excerpts of it.
        def recorded(where: str, **query) -> bool:
            text = library.ask(where, **query)[2].decode()
            is_marked = 'DATERANGE:ID="9-' in text and ",SCTE35-OUT=0xFC" in text
            return is_marked and any(b"Nocturne" in library.read(line) for line in text.splitlines() if line.startswith("/get"))
        wait_until(lambda: recorded("/get", path="live/cam", format="media"), 20, "the recording has both")
        wait_until(lambda: recorded("/live/cam.m3u8", start=library.spans()[0]["start"]), 20, "the stream's past has both")
        status, _, excerpt = library.ask("/get", path="live/cam")
        assert status == 200 and b"Nocturne" in excerpt and b"urn:scte:scte35:2013:bin" in excerpt
        assert b"urn:millrace:subtitle\0en\0Good evening" in excerpt
        # Playlists of the recording have the line as a rendition.
        past = {"path": "live/cam", "format": "hls"}, {"start": -600}
        for where, query in zip(("/get", "/live/cam.m3u8"), past):
            master = library.ask(where, **query)[2].decode()
            subtitles = re.search(r'TYPE=SUBTITLES,GROUP-ID="subs",NAME="en",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,URI="([^"]+)"', master)[1]
            texts, media = (library.read(urljoin(where, one)).decode() for one in (subtitles, master.splitlines()[-1]))
            assert 'SUBTITLES="subs"' in master and 0 < texts.count("#EXTINF") <= media.count("#EXTINF") and "format=segment" in media
            assert any(b"Good evening" in library.read(line) for line in texts.splitlines() if line.startswith("/get.vtt"))
    codecs = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", tmp_path / "tagged.ts"], capture_output=True,
                            text=True, timeout=30, check=True).stdout.split()
    assert "timed_id3" in codecs
    assert b"onSong" in (tmp_path / "played.flv").read_bytes() and b"onScte35" in (tmp_path / "played.flv").read_bytes()


def test_events_of_a_recording_in_flv_are_in_excerpts(server, clip):
    """They are script data in the file, and event messages in /get."""
    live, library = recording(server, "dvr_path $folder/rec/[app]/[stream].[timestamp].flv;", PLAYBACK + EXPORTER)
    with FfmpegPublisher(live.url("cam"), clip("basic"), speed=1):
        (stream,) = wait_until(lambda: [one for one in live.api("/api/v1/streams/")["streams"] if one["publish"]["active"]], 30, "the stream")
        wait_until(lambda: [one for one in live.api("/api/v1/dvrs")["dvrs"] if one["bytes"] > 20_000], 30, "it is recorded")
        assert post_event(live, stream["id"], {"name": "onSong", "data": {"title": "Nocturne"}})[0] == 200
        assert post_event(live, stream["id"], {"text": "Good evening", "duration": 3, "language": "en"})[0] == 200
        assert post_event(live, stream["id"], {"cue": "out", "id": 9, "duration": 2, "delay": 0.1})[0] == 200
        counted = 'events_total{kind="scte35",result="accepted"} 1'
        wait_until(lambda: "millrace_dvr_" + counted in metrics_of(live), 20, "the events are recorded")
    wait_until(library.spans, 30, "the recording")
    status, _, excerpt = library.ask("/get", path="live/cam")
    assert status == 200 and b"Nocturne" in excerpt and b"urn:scte:scte35:2013:bin" in excerpt and b"onMetaData" not in excerpt
    assert b"urn:millrace:subtitle\0en\0Good evening" in excerpt


def test_one_event_more_than_the_limits_is_dropped_and_counted(server, clip):
    """32 markers in a playlist and in an MPD, 512 lines of subtitles."""
    live = server(HLS + DASH, root=WEB + EXPORTER)

    def counted(family: str, kind: str) -> tuple[int, int]:
        text = metrics_of(live)
        found = [re.search(rf'^millrace_{family}_events_total{{kind="{kind}",result="{result}"}} (\d+)$', text, re.M) for result in ("accepted", "dropped")]
        return int(found[0][1]), int(found[1][1])

    def post_cues(stream: str, count: int) -> None:
        text = "WEBVTT\n\n" + "08:20.000 --> 08:21.000\nline\n\n" * count
        request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/streams/{stream}/subtitles", data=text.encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        (stream,) = wait_until(lambda: [one for one in live.api("/api/v1/streams/")["streams"] if one["publish"]["active"]], 30, "the stream")
        wait_until(lambda: "#EXTINF" in http_get(live, "cam.m3u8").decode() and http_get(live, "cam.mpd"), 30, "segments")
        for number in range(32):
            assert post_event(live, stream["id"], {"cue": "out", "id": number + 1, "delay": 1 + number})[0] == 200
        for _ in range(2):
            post_cues(stream["id"], 256)
        for family, kind, count in (("hls", "scte35", 32), ("dash", "scte35", 32), ("hls", "text", 512), ("dash", "text", 0)):
            wait_until(lambda one=(family, kind, count): counted(one[0], one[1]) == (one[2], 0), 20, lambda one=(family, kind): f"{one}: {counted(*one)}")
        assert "dropping" not in live.log()
        post_event(live, stream["id"], {"cue": "out", "id": 100, "delay": 60})
        post_cues(stream["id"], 1)
        for family, kind, wanted in (("hls", "scte35", (33, 1)), ("dash", "scte35", (33, 1)), ("hls", "text", (512, 1))):
            wait_until(lambda one=(family, kind, wanted): counted(one[0], one[1]) == one[2], 20, lambda one=(family, kind): f"{one}: {counted(*one)}")
        assert len(re.findall("HLS .*dropping markers or lines of subtitles: a playlist has at most 32 markers", live.log())) == 1
        assert len(re.findall("DASH .*dropping the oldest markers: an MPD has at most 32", live.log())) == 1
