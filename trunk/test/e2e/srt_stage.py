"""SRT: servers, senders and clients; skips where ffmpeg has no libsrt."""

import contextlib
import struct
import subprocess

import pytest

from every_form import beside, http  # noqa: F401
from live_server import installed, wait_until
from transport_stream import SrtSender, libsrt, srt_address

ROOT = "srt_server { enabled on; listen 127.0.0.1:$srt; %s } exporter { enabled on; listen 127.0.0.1:$metrics; }"
VHOST = "srt { enabled on; %s } hls { enabled on; hls_fragment 2; hls_window 20; hls_path $folder/hls; }"
VHOST += " http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
SECRET = "the-passphrase-of-tests"


def has_srt(ffmpeg: str = "ffmpeg") -> bool:
    done = subprocess.run([ffmpeg, "-hide_banner", "-protocols"], capture_output=True, text=True, check=False)
    return " srt\n" in done.stdout


pytestmark = [pytest.mark.workers, pytest.mark.skipif(not installed("ffmpeg") or not has_srt(), reason="this ffmpeg has no libsrt")]
needs_tools = pytest.mark.skipif(not installed("srt-live-transmit"), reason="no srt-live-transmit (package srt-tools)")


def start(server, root: str = "", vhost: str = "", more: str = ""):
    return server(VHOST % vhost + more, root=ROOT % root)


# For players in ffmpeg. With the usual 120 ms a busy machine makes it late by itself, and what is late is dropped.
PATIENT = {"latency": 2_000_000}


def srt_url(live, stream_id: str, port: int | None = None, **options) -> str:
    """For ffmpeg, whose times are microseconds."""
    query = "".join(f"&{name}={value}" for name, value in options.items())
    return f"srt://127.0.0.1:{port or live.ports['srt']}?streamid={stream_id}{query}"


class Sender:
    """ffmpeg publishes a clip in real time, over and over. Use as a context: leaving it ends it."""

    def __init__(self, url: str, clip, options: str = "-c copy"):
        command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "info", "-re", "-stream_loop", "-1", "-i", str(clip), *options.split(),
                   "-f", "mpegts", url]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ended(self, limit_s: float = 30) -> str:
        """Waits for its end and returns its output."""
        return self.process.communicate(timeout=limit_s)[1]


def beside_player(stack: contextlib.ExitStack, url: str) -> subprocess.Popen:
    """ffmpeg takes a stream until it ends, or the stack does."""
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-i", url, "-c", "copy", "-f", "null", "-"]
    player = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(player.wait)
    stack.callback(player.kill)
    return player


def publish(live, clip, stream: str = "cam", options: str = "-c copy", **more) -> Sender:
    return Sender(srt_url(live, f"#!::r=live/{stream},m=publish", **more), clip, options)


def streams(live) -> dict:
    return {one["name"]: one for one in live.api("/api/v1/streams/")["streams"] if one["publish"]["active"]}


def wait_published(live, stream: str = "cam") -> None:
    wait_until(lambda: stream in streams(live), 30, f"{stream} is published")


def client(live, kind: str) -> dict:
    return wait_until(lambda: next((one for one in live.api("/api/v1/clients/")["clients"] if one["type"] == kind), None), 20, kind)


def reject_code(live, stream_id: str) -> int:
    """The reject reason that a libsrt client receives."""
    library, text, stream_id_option = libsrt() or pytest.skip("no libsrt"), stream_id.encode(), SrtSender.STREAM_ID
    connect_timeout_option, address = 36, srt_address("127.0.0.1", live.ports["srt"])
    one = library.srt_create_socket()
    try:
        # The usual three seconds may be over before a busy machine lets the server answer.
        assert library.srt_setsockflag(one, connect_timeout_option, struct.pack("=i", 15_000), 4) == 0
        assert library.srt_setsockflag(one, stream_id_option, text, len(text)) == 0
        assert library.srt_connect(one, address, len(address)) == -1, "it was accepted"
        return library.srt_getrejectreason(one)
    finally:
        library.srt_close(one)
