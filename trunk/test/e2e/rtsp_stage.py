"""RTSP: servers, publishers, players, and a client of sockets for requests that no program sends."""

import socket
import subprocess
import tempfile

import play_check
from live_server import wait_until

ROOT = "rtsp_server { enabled on; listen 127.0.0.1:$rtsp; %s } exporter { enabled on; listen 127.0.0.1:$metrics; }"
VHOST = "rtsp { enabled on; %s } hls { enabled on; hls_fragment 2; hls_window 20; hls_path $folder/hls; }"
VHOST += " http_remux { enabled on; mount [vhost]/[app]/[stream].flv; } %s"


def start(server, root: str = "", rtsp: str = "", vhost: str = "", **options):
    return server(VHOST % (rtsp, vhost), root=ROOT % root, **options)


def rtsp_url(live, stream: str = "cam", query: str = "") -> str:
    return f"rtsp://127.0.0.1:{live.ports['rtsp']}/live/{stream}{query}"


class Publisher:
    """ffmpeg publishes a clip in real time, over and over. Use as a context: leaving it ends it."""

    def __init__(self, url: str, clip, transport: str = "tcp", options: str = "-c copy", program: str = "ffmpeg"):
        self.log = tempfile.TemporaryFile()
        command = [program, "-nostdin", "-hide_banner", "-loglevel", "warning", "-re", "-stream_loop", "-1", "-i", str(clip), *options.split(),
                   "-rtsp_transport", transport, "-f", "rtsp", url]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")


def play(url: str, seconds: float = 5, transport: str = "tcp", **more) -> play_check.Playback:
    return play_check.play(url, seconds, options=["-rtsp_transport", transport], **more)


def streams(live) -> dict:
    return {one["name"]: one for one in live.api("/api/v1/streams/")["streams"] if one["publish"]["active"]}


def wait_published(live, stream: str = "cam") -> None:
    wait_until(lambda: stream in streams(live) and streams(live)[stream]["video"], 30, f"{stream} is published with video")


def clients(live, kind: str) -> list[dict]:
    return [one for one in live.api("/api/v1/clients/")["clients"] if one["type"] == kind]


class Client:
    """A client that sends what it is told. Its responses are read one by one; interleaved frames are skipped, and counted."""

    def __init__(self, live):
        self.socket = socket.create_connection(("127.0.0.1", live.ports["rtsp"]), timeout=15)
        self.input = b""
        self.sequence = 0
        self.frames = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _need(self, count: int) -> None:
        while len(self.input) < count:
            self._read()

    def _read(self) -> None:
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the server has closed the connection")
        self.input += piece

    def skip_frame(self) -> None:
        self._need(4)
        assert self.input[0] == ord("$"), self.input[:100]
        length = 4 + int.from_bytes(self.input[2:4], "big")
        self._need(length)
        self.input = self.input[length:]
        self.frames += 1

    def response(self) -> tuple[int, dict, str]:
        self._need(1)
        while self.input[0] == ord("$"):
            self.skip_frame()
            self._need(1)
        while b"\r\n\r\n" not in self.input:
            self._read()
        head, self.input = self.input.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        length = int(headers.get("content-length", 0))
        self._need(length)
        body, self.input = self.input[:length], self.input[length:]
        return int(lines[0].split(" ")[1]), headers, body.decode()

    def request(self, method: str, url: str, body: str = "", **headers) -> tuple[int, dict, str]:
        self.sequence += 1
        lines = [f"{method} {url} RTSP/1.0", f"CSeq: {self.sequence}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        status, got, text = self.response()
        assert got["cseq"] == str(self.sequence)
        return status, got, text

    def play(self, url: str, transport: str = "RTP/AVP/TCP;unicast;interleaved=0-1") -> dict:
        """Plays the first track; returns the headers of the response to PLAY."""
        status, headers, _ = self.request("DESCRIBE", url, Accept="application/sdp")
        assert status == 200, status
        status, got, _ = self.request("SETUP", headers["content-base"] + "trackID=0", Transport=transport)
        assert status == 200, status
        status, headers, _ = self.request("PLAY", url, Session=got["session"].split(";")[0])
        assert status == 200, status
        return headers
