"""Servers that pull a camera, the state of their ingests, and viewers of the stream."""

import concurrent.futures
import subprocess
import urllib.request
from pathlib import Path

import play_check
from camera import FPS, Camera
from live_server import wait_until
from rtsp_stage import start


def conf_of(url: str, name: str = "door", options: str = "") -> str:
    return (f'ingest {name} {{ enabled on; input {{ type stream; url "{url}"; {options} }} ffmpeg /bin/false; '
            f"engine {{ enabled off; output rtmp://127.0.0.1:[port]/live/{name}?vhost=[vhost]; }} }}")


def pull(server, camera: Camera, options: str = "transport tcp;", user: str = "", path: str = "/stream1", vhost: str = "", **more):
    return server_with(server, conf_of(camera.url(path, user), options=options) + vhost, **more)


def server_with(server, vhost: str, **more):
    return start(server, vhost=vhost, **more)


def ingest(live, name: str = "door") -> dict:
    return next(one for one in live.api("/api/v1/ingests?count=1000")["ingests"] if one["id"] == name)


def metrics_of(live) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['metrics']}/metrics", timeout=10) as answer:
        return answer.read().decode()


def memory_kib(live) -> int:
    return int(next(line.split()[1] for line in Path(f"/proc/{live.process.pid}/status").read_text().splitlines() if line.startswith("VmRSS")))


def wait_running(live, name: str = "door", limit_s: float = 30) -> dict:
    return wait_until(lambda: (one := ingest(live, name))["state"] == "running" and one["tracks"] and one, limit_s, lambda: f"runs: {ingest(live, name)}\n{live.log()[-3000:]}")


def wait_error(live, part: str, name: str = "door") -> dict:
    return wait_until(lambda: part in (one := ingest(live, name))["last_error"] and one, 30, lambda: f"{part}: {ingest(live, name)}")


def video_problems(url: str, seconds: float = 3) -> list:
    options = ["-rtsp_transport", "tcp"] if url.startswith("rtsp") else ["-analyzeduration", "1000000"]
    return play_check.play(url, seconds, want="v", options=options).problems("v", numbered=False)


def plays(live, name: str = "door") -> None:
    wait_running(live, name)
    assert video_problems(live.url(name)) == []


class Viewer:
    """ffmpeg plays a stream until it is told to end; its frames are counted as they come."""

    def __init__(self, url: str):
        command = ["ffmpeg", "-nostdin", "-v", "error", "-analyzeduration", "1000000", "-i", url, "-map", "0:v", "-c", "copy", "-f", "framecrc", "-flush_packets", "1", "-"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.frames = 0
        self._reader = concurrent.futures.ThreadPoolExecutor(1)
        self._reader.submit(self._read)

    def _read(self) -> None:
        for line in self.process.stdout:
            self.frames += not line.startswith("#")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(60)
        self._reader.shutdown()

    def wait_more(self, count: int = FPS, limit_s: float = 40) -> None:
        target = self.frames + count
        wait_until(lambda: self.frames >= target, limit_s, lambda: f"{count} more frames; ended={self.process.poll()}")
        assert self.process.poll() is None
