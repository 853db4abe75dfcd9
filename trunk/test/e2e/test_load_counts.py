"""The byte counts of the load programs match the kernel's within 2 %: /proc/net/dev of a network of their own."""

import signal
import subprocess
import time
from contextlib import ExitStack

import pytest

import own_network
from live_server import LiveServer, conf, wait_until
from load_tools import Load, Nginx

VHOST = """
    http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
    min_latency on;
    hls { enabled on; hls_fragment 1; hls_window 10; }
    rtc { enabled on; rtmp_to_rtc on; }
"""
ROOT = "rtc_server { enabled on; listen 127.0.0.1:$udp; }"
SECONDS = 3


class Bench:
    """A server, ours or nginx, and what the load programs beside it have counted so far."""

    def __init__(self, stack: ExitStack, folder, peer: str):
        self.stack, self.folder, self.counted = stack, folder, 0
        if peer == "nginx":
            nginx = Nginx(folder / "nginx")
            stack.callback(nginx.stop)
            self.rtmp, self.http, self.api, self.html = nginx.rtmp, nginx.http, 0, nginx.folder / "html"
        else:
            live = LiveServer(folder / "server", conf(VHOST, ROOT)).start()
            stack.callback(live.kill)
            self.rtmp, self.http, self.api, self.html = live.ports["rtmp"], live.ports["http"], live.ports["api"], live.folder / "html"
            self.html.mkdir(exist_ok=True)

    def load(self, name: str, *arguments) -> Load:
        one = Load(self.folder, name, *arguments)
        self.stack.callback(one.kill)
        return one

    def count(self, one: Load) -> dict:
        result = one.result()
        assert result["failed"] == 0, one.log
        self.counted += result["bytes_in"] + result["bytes_out"]
        return result

    def publisher(self, clip) -> Load:
        return self.load("sb_rtmp_publish", "-c", 1, "-s", 0, "-r", f"rtmp://127.0.0.1:{self.rtmp}/live/cam", "-i", clip)


def play(bench: Bench, clip, name: str, url: str) -> None:
    before = own_network.loopback_payload()
    publisher = bench.publisher(clip)
    wait_until(lambda: own_network.loopback_payload() - before > 100_000, 20, "it publishes")
    players = bench.load(name, "-c", 10, "-s", 0, "-r", url.format(rtmp=bench.rtmp, http=bench.http, api=bench.api))
    time.sleep(SECONDS)
    # The publisher pauses first: what was sent is also read, however busy the machine is.
    publisher.process.send_signal(signal.SIGSTOP)
    own_network.wait_until_quiet()
    players.stop()
    bench.count(players)
    publisher.process.send_signal(signal.SIGCONT)
    publisher.stop()
    bench.count(publisher)


def publish(bench: Bench, clip) -> None:
    many = bench.load("sb_rtmp_publish", "-c", 20, "-s", 0, "-r", f"rtmp://127.0.0.1:{bench.rtmp}/live/cam_{{i}}", "-i", clip)
    time.sleep(SECONDS)
    many.stop()
    bench.count(many)


def live_hls(bench: Bench, clip) -> None:
    publisher = bench.publisher(clip)
    wait_until(lambda: list((bench.folder / "server").rglob("cam.m3u8")), 30, "a playlist")
    url = f"http://127.0.0.1:{bench.http}/live/cam.m3u8"
    result = bench.count(bench.load("sb_hls_load", "-c", 10, "-s", 0, "-r", url, "--seconds", SECONDS))
    assert result["fragments"] >= 10
    publisher.stop()
    bench.count(publisher)


def files(bench: Bench, clip) -> None:
    (bench.html / "page").write_bytes(b"x" * 300_000)
    bench.count(bench.load("sb_http_load", "-c", 5, "-t", 4, "-s", 0, "-r", f"http://127.0.0.1:{bench.http}/page"))
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", clip, "-c", "copy", "-f", "hls", "-hls_time", "2", "-hls_list_size", "0",
                    bench.html / "vod.m3u8"], check=True)
    bench.count(bench.load("sb_hls_load", "-o", "-c", 3, "-t", 2, "-s", 0, "-d", 0, "-r", f"http://127.0.0.1:{bench.http}/vod.m3u8"))


FLV = "127.0.0.1:{http}/live/cam.flv"
WHEP = "http://127.0.0.1:{api}/rtc/v1/whep/?app=live&stream=cam"
CASES = {
    "ours-rtmp": ("ours", play, "sb_rtmp_load", "rtmp://127.0.0.1:{rtmp}/live/cam"),
    "ours-rtmp-fast": ("ours", play, "sb_rtmp_load_fast", "rtmp://127.0.0.1:{rtmp}/live/cam"),
    "ours-flv": ("ours", play, "sb_flv_load", "http://" + FLV),
    "ours-websocket": ("ours", play, "sb_flv_load", "ws://" + FLV),
    "ours-whep": ("ours", play, "sb_rtc_load", WHEP),
    "ours-publish": ("ours", publish),
    "ours-hls": ("ours", live_hls),
    "ours-files": ("ours", files),
    "nginx-rtmp": ("nginx", play, "sb_rtmp_load", "rtmp://127.0.0.1:{rtmp}/live/cam"),
    "nginx-publish": ("nginx", publish),
    "nginx-files": ("nginx", files),
}


def run_case(folder, clip, peer: str, step, *words) -> None:
    with ExitStack() as stack:
        bench = Bench(stack, folder, peer)
        header = own_network.UDP_HEADER_BYTES if WHEP in words else own_network.HEADER_BYTES
        before = own_network.loopback_payload(header)
        step(bench, clip, *words)
        # What is under way arrives.
        wait_until(lambda: own_network.loopback_payload(header) - before >= bench.counted * 0.98, 10, "what was counted was carried")
        carried = own_network.loopback_payload(header) - before
    again = own_network.segments_sent_again() * 65536
    print(f"counted {bench.counted}, carried {carried}, at most {again} of it twice: {carried / bench.counted:.4f}")
    assert bench.counted > 2_000_000, "enough for a percentage"
    assert 0.98 * bench.counted < carried < 1.02 * bench.counted + again


@pytest.mark.parametrize("case", CASES)
def test_counts_are_the_kernels(case, clip, tmp_path):
    own_network.run(run_case, tmp_path, clip("fat"), *CASES[case])
