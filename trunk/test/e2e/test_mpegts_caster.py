"""MPEG transport streams over UDP, into a stream_caster: ffmpeg sends them plain, in RTP and to a multicast group, and they play by
everything, in step. Beside it: strangers, silence, and datagrams that are no transport stream."""

import concurrent.futures
import json
import random
import socket
import subprocess
import time

import play_check
import pytest
from live_server import Stopwatch, free_udp_ports, installed, wait_until
from transport_stream import CLIP_MS, STEP_MS

VHOST = "hls { enabled on; hls_fragment 2; hls_window 20; hls_path $folder/hls; }"
VHOST += " http_remux { enabled on; mount [vhost]/[app]/[stream].$kind; }"


class Sender:
    """ffmpeg sends a clip in real time, over and over. Use as a context: leaving it ends it."""

    def __init__(self, url: str, clip, options: str = "-c copy", muxer: str = "mpegts"):
        command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", str(clip), *options.split(),
                   "-f", muxer, url]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def to(port: int, host: str = "127.0.0.1", more: str = "") -> str:
    return f"udp://{host}:{port}?pkt_size=1316{more}"


def caster(listen: str, output: str = "rtmp://127.0.0.1/live/cam") -> str:
    return f"stream_caster {{ enabled on; caster mpegts_over_udp; output {output}; listen {listen}; }} http_server {{ enabled on; listen 127.0.0.1:$http; }}"


def start(server, listen: str, kind: str = "flv", **options):
    return server(VHOST.replace("$kind", kind), root=caster(listen, **options))


def is_published(live, stream: str = "cam") -> bool:
    return any(one["name"] == stream and one["publish"]["active"] for one in live.api("/api/v1/streams/")["streams"])


def wait_published(live, stream: str = "cam") -> None:
    wait_until(lambda: is_published(live, stream), 30, f"{stream} is published")


def http(live, path: str) -> str:
    return f"http://127.0.0.1:{live.ports['http']}/live/{path}"


def probed(url: str) -> list[str]:
    """Its codecs, in the order of the tracks."""
    done = subprocess.run(["ffprobe", "-v", "quiet", "-show_entries", "stream=codec_name", "-of", "json", url], capture_output=True, text=True,
                          timeout=40, check=False)
    return [one.get("codec_name", "unknown") for one in json.loads(done.stdout or "{}").get("streams", [])]


def hls(live) -> str:
    url = http(live, "cam.m3u8")
    wait_until(lambda: len(probed(url)) >= 2, 40, "the list has segments", 0.3)
    return url


def packets(source, seconds: float, folder) -> dict[str, dict[str, float]]:
    """By kind: the time in ms of each packet, by its checksum. As FLV has it, without parameter sets and delimiters."""
    file = folder / f"{random.getrandbits(60)}.flv"
    times: dict[str, dict[str, float]] = {"video": {}, "audio": {}}
    bare = ["-bsf:v", "filter_units=remove_types=6-9"]
    for command in (["-i", str(source), "-t", str(seconds), "-map", "0:v:0", "-map", "0:a:0", "-c", "copy", *bare, "-copyts", str(file)],
                    ["-copyts", "-i", str(file), "-map", "0:v:0", "-map", "0:a:0", "-c", "copy", "-f", "framecrc", "-"]):
        done = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *command], capture_output=True, text=True, timeout=seconds + 40, check=True)
    for line in done.stdout.splitlines():
        if not line.startswith("#"):
            track, _, shown, _, size, checksum = (word.strip() for word in line.split(",")[:6])
            times["video" if track == "0" else "audio"][size + checksum] = float(shown)
    return times


def out_of_step_ms(source, played, folder) -> float:
    """How much the shift of audio differs from that of video, between the clip and what was played of it."""
    sent, got = packets(source, 20, folder), packets(played, 4, folder)
    shifts = {}
    for kind in ("video", "audio"):
        found = sorted((got[kind][key] - sent[kind][key]) % CLIP_MS for key in got[kind] if key in sent[kind])
        assert len(found) > 50, f"{len(found)} packets of {kind} of {len(got[kind])} are those of the clip"
        shifts[kind] = found[len(found) // 2]
    off = (shifts["video"] - shifts["audio"]) % CLIP_MS
    return min(off, CLIP_MS - off)


def beside(*calls) -> list:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return [one.result() for one in [pool.submit(call) for call in calls]]


def test_an_ffmpeg_transport_stream_plays_over_every_protocol_in_step(server, clip, tmp_path):
    port = free_udp_ports(1)
    live = start(server, f"127.0.0.1:{port}")
    source = clip("basic")
    with Sender(to(port), source):
        wait_published(live)
        urls = [live.url("cam"), http(live, "cam.flv"), hls(live)]
        played = beside(*(lambda url=url: play_check.play(url, 5) for url in urls),
                        *(lambda url=url: out_of_step_ms(source, url, tmp_path) for url in urls))
        client = next(one for one in live.api("/api/v1/clients/")["clients"] if one["publish"])
    assert [one.problems() for one in played[:3]] == [[], [], []]
    assert max(played[3:]) <= STEP_MS, played[3:]
    assert client["type"] == "fmle-publish" and client["ip"] == "127.0.0.1" and client["recv_bytes"] > 100_000


def test_rtp_and_hevc_and_two_audio_tracks_and_ac3_come_in_on_ports_of_their_own(server, clip):
    first = free_udp_ports(4)
    ports = [first, first + 1, first + 2, first + 3]
    rtp, hevc, two, ac3 = ports
    live = start(server, " ".join(f"127.0.0.1:{port}" for port in ports), kind="ts", output="rtmp://127.0.0.1/live/[port]")
    basic = clip("basic")
    with Sender(f"rtp://127.0.0.1:{rtp}?pkt_size=1316", basic, muxer="rtp_mpegts"), \
            Sender(to(hevc), basic, "-c:a copy -c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=50:bframes=0"), \
            Sender(to(two), basic, "-map 0:v -map 0:a -map 0:a -c copy"), \
            Sender(to(ac3), basic, "-c:v copy -c:a ac3 -b:a 192k"):
        for port in ports:
            wait_published(live, str(port))
        played = beside(*(lambda port=port: play_check.play(http(live, f"{port}.ts"), 4) for port in ports))
        codecs = [{played.video.codec, played.audio.codec} for played in played]
        tracks = live.log().count("pid=257, track=0"), live.log().count("pid=258, track=1")
    assert [one.problems() for one in played] == [[], [], [], []]
    assert codecs == [{"h264", "aac"}, {"hevc", "aac"}, {"h264", "aac"}, {"h264", "ac3"}]
    assert tracks == (4, 1)


def skip_without_multicast(group: str, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
            probe.sendto(b"x", (group, port))
        except OSError as why:
            pytest.skip(f"no multicast on loopback here: {why}")


def test_a_multicast_group_is_joined_with_its_sender(server, clip):
    port = free_udp_ports(1)
    skip_without_multicast("239.88.3.1", port)
    live = start(server, f"239.88.3.1@127.0.0.1:{port}/lo")
    with Sender(to(port, "239.88.3.1", "&localaddr=127.0.0.1&ttl=1"), clip("basic")):
        wait_published(live)
        assert play_check.play(http(live, "cam.flv"), 3).problems() == []


def packets_of_silence(count: int) -> bytes:
    """Null packets."""
    return (b"\x47\x1f\xff\x10" + bytes(184)) * count


def test_strangers_and_garbage_hurt_nothing_and_silence_ends_the_stream(server, clip):
    port = free_udp_ports(1)
    live = start(server, f"127.0.0.1:{port}")
    stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    random_bytes = random.Random(26)
    for size in (0, 1, 187, 188, 1316, 1400, 9000):
        stranger.sendto(random_bytes.randbytes(size), ("127.0.0.1", port))
    time.sleep(0.3)
    assert not is_published(live) and "client identified" not in live.log()
    sender = Sender(to(port), clip("basic"))
    try:
        wait_published(live)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            watched = pool.submit(play_check.play, http(live, "cam.flv"), 4)
            while not watched.done():
                stranger.sendto(random_bytes.randbytes(1316), ("127.0.0.1", port))
                stranger.sendto(packets_of_silence(7), ("127.0.0.1", port))
                time.sleep(0.02)
        assert watched.result().problems() == []
    finally:
        gone, watch = time.monotonic(), Stopwatch(live)
        sender.__exit__()
    wait_until(lambda: not is_published(live), 15, "the stream has ended")
    assert 2 < time.monotonic() - gone and watch.seconds() < 10
    live.wait_log("cleanup when unpublish, url=/live/cam")
    live.wait_log("another sender of cam is ignored")
    time.sleep(max(0, gone + 6 - time.monotonic()))
    with Sender(to(port), clip("basic")):
        wait_published(live)
    stranger.close()


@pytest.mark.skipif(not installed("gst-launch-1.0"), reason="no GStreamer (install-packages.sh players)")
def test_gstreamer_sends_plain_in_rtp_and_to_a_group(server, clip):
    first = free_udp_ports(3)
    ports = [first, first + 1, first + 2]
    skip_without_multicast("239.88.3.2", first + 2)
    live = start(server, f"127.0.0.1:{first} 127.0.0.1:{first + 1} 239.88.3.2@127.0.0.1:{first + 2}/lo", output="rtmp://127.0.0.1/live/[port]")
    line = f"filesrc location={clip('basic')} ! flvdemux name=d d.video ! queue ! h264parse ! mpegtsmux name=m alignment=7 d.audio ! queue ! aacparse ! m. m. "
    sinks = (f"! udpsink host=127.0.0.1 port={first}", f"! rtpmp2tpay ! udpsink host=127.0.0.1 port={first + 1}",
             f"! udpsink host=239.88.3.2 port={first + 2} bind-address=127.0.0.1 multicast-iface=lo")
    children = [subprocess.Popen(["gst-launch-1.0", "-q", *(line + sink).split()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL) for sink in sinks]
    try:
        for port in ports:
            wait_published(live, str(port))
        played = beside(*(lambda port=port: play_check.play(http(live, f"{port}.flv"), 3) for port in ports))
        assert [one.problems() for one in played] == [[], [], []]
    finally:
        for child in children:
            child.kill()
            child.wait()
