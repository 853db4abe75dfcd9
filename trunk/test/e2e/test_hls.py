"""HLS: what is in the playlists and fragments, sessions, callbacks, keys, low latency, a killed server, a disk that takes nothing."""

import email.utils
import json
import re
import shutil
import statistics
import subprocess
import threading
import time
import urllib.request
import zlib
from pathlib import Path

import pytest

import hls_check
import live_server
import rtmp_client
from clips import find_new_ffmpeg
from hls_player import Player, update_complaints
from hook_server import HookServer
from live_server import wait_until
from play_check import own_times
from players import FfmpegPublisher

pytestmark = pytest.mark.workers

HLS = "hls {{ enabled on; hls_fragment 1; hls_window 12; hls_path $folder/html; {} }}\n"
VHOSTS = {"fmp4": "hls_use_fmp4 on;", "ll": "hls_ll on;",
          "keys": "hls_keys on; hls_fragments_per_key 2; hls_ctx off; hls_key_file [app]/[stream]-[seq].key;",
          "counted": "hls_dts_directly off;"}
# How much faster than real time: a fragment leaves its list only some seconds after it came, so that a test which got no CPU meanwhile still has it.
SPEED = 3
# Stream, clip, virtual host, speed.
STREAMS = [("cam", "bframes", "", SPEED), ("fmp4", "bframes", "fmp4", SPEED), ("keys", "basic", "keys", SPEED), ("ll", "basic", "ll", 1),
           ("counted", "basic", "counted", SPEED), ("audio", "audio", "", SPEED), ("video", "video", "", SPEED), ("mp3", "mp3", "", SPEED)]


def hls(more: str = "", rest: str = "") -> str:
    return HLS.format(more) + rest


class Publisher:
    """ffmpeg, faster than real time: fragments are made by media time."""

    def __init__(self, live, clip: Path, speed: float = SPEED, stream: str = "cam"):
        command = ["ffmpeg", "-nostdin", "-v", "error", "-readrate", str(speed), "-stream_loop", "-1", "-i", str(clip), "-c", "copy",
                   "-f", "flv", "-flvflags", "no_duration_filesize", live.url(stream)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def problems_of(media: bytes, folder: Path, suffix: str = ".ts", frames: float = 1) -> str:
    """What ffmpeg complains of when it decodes all of it, packets that go back in time, and gaps of more than a frame, or so many."""
    file = folder / ("all" + suffix)
    file.write_bytes(media)
    done = subprocess.run(["ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-i", file, *own_times(), "-f", "null", "-"],
                          capture_output=True, text=True, timeout=60, check=False)
    probed = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=stream_index,dts_time", "-of", "csv=p=0", file],
                            capture_output=True, text=True, timeout=60, check=True)
    complaints, times = done.stderr + probed.stderr, {}
    for line in probed.stdout.splitlines():
        index, dts = (line.split(",") + [""])[:2]
        if dts:  # side data has lines of its own
            times.setdefault(index, []).append(float(dts))
    for index, stamps in times.items():
        frame = statistics.median(b - a for a, b in zip(stamps, stamps[1:]))
        complaints += "".join(f"stream {index} goes from {a} to {b}\n" for a, b in zip(stamps, stamps[1:]) if not 0 < b - a < (frames + 1.05) * frame)
    return complaints


@pytest.fixture(name="live", scope="module")
def fixture_live(clip, tmp_path_factory, workers):  # pylint: disable=unused-argument
    """One server with every stream of STREAMS, which the tests that only look share."""
    vhosts = "".join(f"vhost {name}.test {{ {hls(more)} }}\n" for name, more in VHOSTS.items())
    one = live_server.LiveServer(tmp_path_factory.mktemp("hls") / "server", live_server.conf(hls(), vhosts)).start()
    publishers = [Publisher(one, clip(name), speed, f"{stream}?vhost={vhost}.test" if vhost else stream) for stream, name, vhost, speed in STREAMS]
    try:
        yield one
        for publisher in publishers:
            publisher.__exit__()
        one.stop()
    finally:
        for publisher in publishers:
            publisher.__exit__()
        one.kill()


def test_fragments_are_whole_and_join_without_a_gap(live, tmp_path):
    player = Player(live).join().wait()
    playlist = player.has(3)
    segments = hls_check.parse(playlist).segments
    assert segments[0].discontinuity == playlist.startswith("#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:0\n")
    assert not any(segment.discontinuity for segment in segments[1:])
    assert all(re.fullmatch(r"cam-\d+\.ts\?hls_ctx=[0-9a-z]{8}", segment.uri) for segment in segments)
    media = player.fragments(playlist)
    newest = live.folder / "html/live" / segments[-1].uri.split("?")[0]
    wait_until(newest.exists, 10, "a fragment on the disk")
    assert newest.read_bytes() == media[-1]
    window = wait_until(lambda: hls_check.parse(text := player.playlist()).number("#EXT-X-MEDIA-SEQUENCE") >= 2 and text, 30,
                        "fragments that leave the list")
    assert update_complaints(playlist, window) == []
    assert problems_of(b"".join(media), tmp_path) == ""
    assert abs(sum(segment.duration for segment in segments) - 2 * len(segments)) < 0.3
    assert len(hls_check.parse(window).segments) == 6
    left = (live.folder / "html/live/cam.m3u8").read_text()
    assert hls_check.check(left) == [] and "hls_ctx" not in left and "ENDLIST" not in left


def test_fragments_begin_with_tables_and_payload(server, clip):
    live = server(hls())
    player = Player(live)
    with FfmpegPublisher(live.url("cam"), clip("basic")):
        for media in player.join().wait().fragments(player.has(2)):
            assert [media[at + 3] & 0x10 for at in (0, 188, 376)] == [0x10] * 3


def test_playlists_say_when_media_was_made(server, clip):
    """Dates, independent segments, the first master's bandwidth, and directives that are not numbers."""
    live = server(hls())
    player, began = Player(live), time.time()
    with FfmpegPublisher(live.url("cam"), clip("bframes")):
        _, _, master = wait_until(lambda: (got := player.get(player.path))[0] == 200 and got, 20, "a master playlist")
        assert int(re.search(rb"BANDWIDTH=(\d+)", master)[1]) > 10_000, master
        playlist = player.join().wait().has(3)
        assert "#EXT-X-INDEPENDENT-SEGMENTS\n" in playlist
        segments = hls_check.parse(playlist).segments
        assert all(segment.date for segment in segments), playlist
        assert began - 1 < segments[0].date < time.time()
        assert all(abs(a.date + a.duration - b.date) < 0.003 for a, b in zip(segments, segments[1:])), playlist
        for query in ("_HLS_msn=abc", "_HLS_msn=-1", "_HLS_msn=1&_HLS_part=x"):
            assert player.get(f"{player.path}&{query}")[0] == 400, query
        for place in (player.path, "/live/" + segments[0].uri):
            with urllib.request.urlopen(player.base + place, timeout=5) as answer:
                assert answer.headers["Vary"].startswith("Origin")
                assert abs(email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp() - time.time()) < 30


def client_of(live, identity: str) -> dict | None:
    return next((client for client in live.api("/api/v1/clients/?count=100")["clients"] if client["id"] == identity), None)


@pytest.mark.workers(always=True)
def test_a_session_is_a_client_that_is_admitted_reported_and_kicked(server, clip):
    with HookServer() as hooks:
        urls = "".join(f"{name} {hooks.url('/' + name)}; " for name in ("on_play", "on_stop", "on_hls"))
        live = server(hls("", f"http_hooks {{ enabled on; {urls} on_hls_notify {hooks.url('/notify')}/[app]/[stream]/[ts_url]; }}\n")
                      .replace("$folder/html", "./html").replace("hls_window 12", "hls_window 60"))
        player = Player(live)
        assert player.get(player.path)[0] == 404  # before the publisher
        assert not live.api("/api/v1/clients/")["clients"] and not hooks.events
        with Publisher(live, clip("basic")):
            ctx = player.join().path.rsplit("=", 1)[1]
            told = hooks.wait_for("on_play").body
            assert (told["client_id"], told["stream"], told["stream_url"], told["app"]) == (ctx, "cam.m3u8", "/live/cam", "live")
            adopted = player.get("/live/cam.m3u8?hls_ctx=myownctx&token=1")[2].decode()
            assert "/live/cam.m3u8?hls_ctx=myownctx&token=1\n" in adopted
            player.fragments(player.has(2))
            fragment = hooks.wait_for("on_hls").body
            client = wait_until(lambda: (one := client_of(live, ctx)) and one["send_bytes"] > 10000 and one, 10, "what it was sent")
            assert client["type"] == "hls-play" and client["name"] == "cam.m3u8"
            request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/clients/{ctx}", method="DELETE")
            assert json.load(urllib.request.urlopen(request))["code"] == 0
            wait_until(lambda: player.get(player.path)[0] == 404, 10, "it is sent away by all workers")
            assert hooks.wait_for("on_stop").body["client_id"] == ctx
        assert (fragment["seq_no"], fragment["url"], fragment["m3u8_url"]) == (0, "cam-0.ts", "live/cam.m3u8")
        assert (fragment["file"], fragment["m3u8"]) == ("./html/live/cam-0.ts", "./html/live/cam.m3u8")  # as hls_path is written
        assert Path(fragment["cwd"], fragment["file"]).exists() and 1.5 < fragment["duration"] < 2.5


def test_encrypted_segments_decrypt_with_their_keys(live):
    player = Player(live, "/live/keys.m3u8?vhost=keys.test").wait()
    playlist = player.has(3)
    assert playlist.count("#EXT-X-KEY:METHOD=AES-128,URI=\"keys-") >= 2
    done = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-xerror", "-i", player.base + player.path, "-t", "4", "-f", "null", "-"],
                          capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def numbers_of(playlist: str) -> list[int]:
    return [int(re.search(r"-(\d+)\.(?:ts|m4s)", segment.uri)[1]) for segment in hls_check.parse(playlist).segments]


@pytest.mark.parametrize("form", ["", "hls_ll on; hls_use_fmp4 on;"], ids=["ts", "low_latency"])
def test_after_a_kill_the_list_continues_and_listed_segments_exist(server, clip, form):
    live = server(hls(form))
    on_disk = live.folder / "html/live/cam.m3u8"
    for _ in range(2):
        with Publisher(live, clip("basic")):
            before = numbers_of(on_disk.read_text())[-1] if on_disk.exists() else -1
            wait_until(lambda: on_disk.exists() and numbers_of(on_disk.read_text())[-1] >= before + 2, 30, "two segments on the disk")
            time.sleep(0.1)
            live.kill()  # in the middle of the next
        left = on_disk.read_text()
        assert hls_check.check(left) == []
        segments = hls_check.parse(left).segments
        assert all((on_disk.parent / segment.uri).stat().st_size > 10_000 for segment in segments if not segment.gap)
        live.start()
    with Publisher(live, clip("basic")):
        player = Player(live).join().wait()
        wait_until(lambda: numbers_of(player.playlist())[-1] >= numbers_of(left)[-1] + 2, 30, "new segments")
        after = player.playlist()
        loaded = [player.get("/live/" + segment.uri) for segment in hls_check.parse(after).segments if not segment.gap]
    assert update_complaints(left, after) == []
    numbers = numbers_of(after)
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    begins = numbers_of(left)[-1] + (2 if form else 1)  # parts of the first were served
    broken = [number for number, segment in zip(numbers, hls_check.parse(after).segments) if segment.discontinuity]
    assert begins in broken and not any(number > begins for number in broken), (begins, broken)
    assert all(status == 200 and len(body) > 10_000 for status, _, body in loaded)


@pytest.mark.workers(always=True)
def test_a_disk_that_takes_nothing_stops_no_player(server, clip, tmp_path):
    live = server("hls { enabled on; hls_fragment 1; hls_path /dev/full/html; }\n")
    with Publisher(live, clip("basic")):
        player = Player(live).join()
        player.fragments(player.has(2))
    wait_until(lambda: any("3004" in line for line in live.complaints()), 10, "a complaint")
    live.assert_alive()


@pytest.mark.one_worker("a worker does not know what another one writes")
def test_virtual_hosts_with_the_same_files_have_no_media_of_each_other(server, clip):
    closed = f"vhost closed.test {{ security {{ enabled on; allow publish all; deny play all; }}\n{hls()} }}\n"
    live = server(hls(), closed)
    said = "HLS of the virtual hosts closed.test and __defaultVhost__ goes into the same files"
    wait_until(lambda: any(said in line for line in live.complaints()), 10, said)
    with Publisher(live, clip("basic"), stream="cam?vhost=closed.test"):
        live.wait_log("HLS closed.test/live/cam: fragments of")
        fragment = wait_until(lambda: sorted((live.folder / "html/live").glob("cam-*.ts")), 30, "a fragment on the disk")[0].name
        with Publisher(live, clip("video")):
            live.wait_log("HLS /live/cam is not made for this publisher: ")
            open_host, closed_host = Player(live), Player(live, "/live/cam.m3u8?vhost=closed.test")
            assert [open_host.get(path)[0] for path in ("/live/cam.m3u8", f"/live/{fragment}", f"/live/./{fragment}?hls_ctx=x")] == [404] * 3
            assert closed_host.get(closed_host.path)[0] == 403
    said = "html/live/cam.m3u8 belongs to the HLS of closed.test/live/cam"
    wait_until(lambda: any(said in line for line in live.complaints()), 10, said)


def test_low_latency_parts_come_as_they_are_asked_for(live):
    player = Player(live, "/live/ll.m3u8?vhost=ll.test").join().wait()
    playlist, waits = player.playlist(), []
    for _ in range(8):
        parsed = hls_check.parse(playlist)
        hint = parsed.hints[0]["URI"]
        number, part = (int(word) for word in re.match(r"ll-(\d+)\.(\d+)\.ts", hint).groups())
        began = time.monotonic()
        fetched = []
        loader = threading.Thread(target=lambda uri=hint: fetched.append(player.get("/live/" + uri)))
        loader.start()
        later = player.playlist(f"&_HLS_msn={number}&_HLS_part={part}")
        waits.append(time.monotonic() - began)
        loader.join()
        status, kind, body = fetched[0]
        assert (status, kind) == (200, "video/MP2T") and body[0] == 0x47
        assert hint in [entry[0] for segment in [*hls_check.parse(later).segments, hls_check.parse(later).open]
                        for entry in segment.parts], hint
        assert hls_check.check_update(playlist, later) == []
        playlist = later
    assert player.get(player.path + "&_HLS_msn=1000")[0] == 400
    # One of them may have had to wait for a CPU.
    assert max(waits) < 0.6 + 2 and sorted(waits)[-2] < 0.6 and 0.1 < statistics.median(waits) < 0.3, waits
    delta = player.playlist("&_HLS_skip=YES")
    assert hls_check.check_update(delta, player.playlist()) == []


def first_dts(part: bytes) -> float:
    """Of the first picture in a transport stream, in seconds."""
    for at in range(0, len(part), 188):
        packet = part[at:at + 188]
        if packet[1] & 0x5F == 0x41 and packet[2] == 0:  # a unit of the pictures begins
            body = packet[4 + (1 + packet[4] if packet[3] & 0x20 else 0):]
            stamp = body[14:19] if body[7] & 0x40 else body[9:14]
            return ((stamp[0] >> 1 & 7) << 30 | stamp[1] << 22 | stamp[2] >> 1 << 15 | stamp[3] << 7 | stamp[4] >> 1) / 90_000
    raise AssertionError("a part without video")


def test_a_part_is_there_when_its_last_frame_is_over(live, clip):
    """From when a part's first picture was sent to when the part can be had: its duration, and at most 50 ms."""
    publisher = rtmp_client.Publisher(live.ports["rtmp"], "lag?vhost=ll.test", clip("basic"))
    publisher.start()
    try:
        player = Player(live, "/live/lag.m3u8?vhost=ll.test").join().wait()
        times = {tag.timestamp: (tag.type, zlib.crc32(tag.payload)) for tag in publisher.tags if tag.type == rtmp_client.VIDEO and not tag.is_setup()}
        zero = first_dts(player.get("/live/lag-0.0.ts?vhost=ll.test")[2]) - min(times) / 1000
        added = []
        for _ in range(12):
            parsed = hls_check.parse(player.playlist())
            hint = parsed.hints[0]["URI"]
            number, part = (int(word) for word in re.match(r"lag-(\d+)\.(\d+)\.ts", hint).groups())
            watch = live_server.Stopwatch(live)
            later = hls_check.parse(player.playlist(f"&_HLS_msn={number}&_HLS_part={part}"))
            there = time.monotonic() - watch.waited()
            duration = next(entry[1] for segment in [*later.segments, later.open] for entry in segment.parts if entry[0] == hint)
            began = round((first_dts(player.get("/live/" + hint)[2]) - zero) * 1000)
            added.append(there - publisher.sent_at[times[began]] - duration)
    finally:
        publisher.stop()
    assert statistics.median(added) < 0.05, added


def test_fmp4_fragments_decode(live, tmp_path):
    player = Player(live, "/live/fmp4.m3u8?vhost=fmp4.test").join().wait()
    segments = hls_check.parse(player.has(3)).segments
    assert {hls_check.without_query(segment.map) for segment in segments} == {"fmp4/init.mp4"}
    media = [player.get("/live/" + uri) for uri in [segments[0].map, *(segment.uri for segment in segments)]]
    master = player.get("/live/fmp4.m3u8?vhost=fmp4.test")[2].decode()
    assert 'CODECS="avc1.' in master and ",mp4a.40.2" in master and "RESOLUTION=640x360" in master
    assert {kind for _, kind, _ in media[1:]} == {"video/iso.segment"}
    assert problems_of(b"".join(body for _, _, body in media), tmp_path, ".mp4") == ""


@pytest.mark.parametrize("name", ["audio", "video", "mp3"])
def test_one_kind_alone_and_mp3_are_carried(live, tmp_path, name):
    player = Player(live, f"/live/{name}.m3u8").join().wait()
    # Where the clip begins anew, the publisher leaves out what its longer kind has more.
    assert problems_of(b"".join(player.fragments(player.has(2))), tmp_path, frames=3) == ""


def test_counted_audio_has_no_gap_of_a_tick(live, tmp_path):
    player = Player(live, "/live/counted.m3u8?vhost=counted.test").join().wait()
    (tmp_path / "all.ts").write_bytes(b"".join(player.fragments(player.has(3))))
    probed = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "packet=pts", "-of", "csv=p=0", tmp_path / "all.ts"],
                            capture_output=True, text=True, timeout=30, check=True)
    times = [int(word.strip(",")) for word in probed.stdout.split() if word.strip(",").isdigit()]
    steps = [b - a for a, b in zip(times, times[1:])]
    odd = [step for step in steps if step not in (2089, 2090)]  # 1024 samples at 44,100 Hz; whole milliseconds are 2070 and 2160
    assert len(steps) > 100 and len(odd) <= 2, odd  # where the clip begins anew


def test_the_container_follows_the_codec(server, clip, tmp_path):
    """AV1 and Opus in fMP4 by default; with `off` the log names the dropped tracks. Then H.264 under AV1's name."""
    live = server(hls(), f"vhost off.test {{ {hls('hls_use_fmp4 off; hls_m3u8_file off/[stream].m3u8; hls_ts_file off/[stream]-[seq].ts;')} }}\n")
    new, av1, opus = find_new_ffmpeg() or "ffmpeg", clip("av1"), clip("opus")
    with FfmpegPublisher(live.url("cam"), av1, ffmpeg=new, speed=4), FfmpegPublisher(live.url("opus"), opus, ffmpeg=new, speed=4), \
            FfmpegPublisher(live.url("cam?vhost=off.test"), av1, ffmpeg=new, speed=4):
        for stream, codec in (("cam", "av1"), ("opus", "opus")):
            player = Player(live, f"/live/{stream}.m3u8").join().wait()
            segments = hls_check.parse(player.has(2)).segments
            assert {hls_check.without_query(segment.map) for segment in segments} == {f"{stream}/init.mp4"}
            media = b"".join(player.get("/live/" + uri)[2] for uri in [segments[0].map, *(segment.uri for segment in segments)])
            assert problems_of(media, tmp_path, ".mp4") == ""
            probed = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", tmp_path / "all.mp4"],
                                    capture_output=True, text=True, timeout=30, check=True)
            assert codec in probed.stdout.split(), probed.stdout
        wait_until(lambda: (live.folder / "html/off/cam.m3u8").exists(), 30, "audio in MPEG-TS")
    live.wait_log("is left out")
    said = [line for line in live.log().splitlines() if "is left out" in line]
    assert len(said) == 1 and "AV1 is left out, MPEG-TS cannot carry it; hls_use_fmp4 auto would" in said[0], said
    last = numbers_of((live.folder / "html/live/cam.m3u8").read_text())[-1]
    with Publisher(live, clip("basic")):
        player = Player(live).join().wait()
        wait_until(lambda: numbers_of(player.playlist())[-1] > last, 30, "fragments of H.264")
        assert all(".m4s" in segment.uri and segment.map for segment in hls_check.parse(player.playlist()).segments)


@pytest.mark.long
@pytest.mark.parametrize("name, form", [("hevc", "ts"), ("opus", "ts"), ("hevc", "fmp4"), ("av1", "fmp4"), ("opus", "fmp4"), ("mp3", "fmp4")])
def test_other_codecs_decode(server, clip, tmp_path, name, form):
    """Enhanced RTMP's codecs in segments, read by ffmpeg of the distribution."""
    live = server(hls(f"hls_use_fmp4 {'on' if form == 'fmp4' else 'off'};"))
    path = clip(name)
    with FfmpegPublisher(live.url("cam"), path, ffmpeg=find_new_ffmpeg() or "ffmpeg", speed=4):
        player = Player(live).join().wait()
        segments = hls_check.parse(player.has(3)).segments
        media = [player.get("/live/" + uri)[2] for uri in [segments[0].map] * (form == "fmp4") + [segment.uri for segment in segments]]
        master = player.get("/live/cam.m3u8")[2].decode()
    suffix = ".mp4" if form == "fmp4" else ".ts"
    assert problems_of(b"".join(media), tmp_path, suffix) == ""
    probed = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", tmp_path / ("all" + suffix)],
                            capture_output=True, text=True, timeout=30, check=True)
    assert name in probed.stdout.replace("\n", " "), probed.stdout
    assert {"hevc": "hvc1.", "av1": "av01.", "opus": "opus", "mp3": "mp4a"}[name] in master, master


@pytest.mark.long
def test_ten_minutes_have_no_fault(server, clip, tmp_path):
    """Times and counters over ten minutes of segments, and every picture decoded; published thirty times as fast."""
    live = server("hls { enabled on; hls_fragment 10; hls_window 600; hls_path $folder/html; }\n")
    with Publisher(live, clip("bframes"), speed=30):
        player = Player(live).join().wait()
        playlist = wait_until(lambda: len(hls_check.parse(text := player.playlist()).segments) >= 60 and text, 60, "ten minutes of segments", 1)
        media = b"".join(player.fragments(playlist))
    segments = hls_check.parse(playlist).segments
    assert sum(segment.duration for segment in segments) > 599
    assert ts_faults(media) == []
    assert problems_of(media, tmp_path) == ""
    if shutil.which("tsreport"):
        said = subprocess.run(["tsreport", "-b", "-err", "stdout", tmp_path / "all.ts"], capture_output=True, text=True, timeout=120, check=False)
        assert said.returncode == 0 and not re.search(r"###|!!!|discontinuit", said.stdout + said.stderr, re.I), said.stdout[-2000:]


def ts_faults(media: bytes) -> list[str]:
    """Continuity counters that jump, clock references that go back or are more than 100 ms apart."""
    faults, counters, clock = [], {}, None
    for at in range(0, len(media), 188):
        packet = media[at:at + 188]
        pid, counter = (packet[1] & 0x1F) << 8 | packet[2], packet[3] & 0x0F
        if packet[3] & 0x10:
            if pid in counters and counter != (counters[pid] + 1) % 16:
                faults.append(f"PID {pid:#x} counts {counter} behind {counters[pid]} in packet {at // 188}")
            counters[pid] = counter
        if packet[3] & 0x20 and packet[4] and packet[5] & 0x10:
            ticks = int.from_bytes(packet[6:10], "big") << 1 | packet[10] >> 7
            if clock is not None and not 0 <= ticks - clock <= 9_000:
                faults.append(f"the clock goes from {clock} to {ticks} in packet {at // 188}")
            clock = ticks
    return faults
