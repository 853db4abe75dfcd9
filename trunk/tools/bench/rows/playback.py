"""A recording by /get, to 200 kept connections at once: as plain MP4 with its index first, and as fragments. Beside it nginx sends the same movie as a file, at
the same time on the server's core."""

import json
import time
import urllib.request
from urllib.parse import urlencode

import clients
from harness import BenchError, Lab, wait_for_port
from plan import Plan, say
from report import Row
from rows.files import beside, counts_of, start_wrk
from servers import Server, start_nginx_http, start_ours

PLAYERS = 200
SECONDS = 20  # Of the recording.
LIMIT = 1.2  # Of nginx's time.
STREAM = "recorded"
DVR = "dvr {{ enabled on; dvr_format fmp4; dvr_path {folder}/rec/[app]/[stream].[timestamp].mp4; }}"


def spans_of(origin: str) -> list[dict]:
    try:
        with urllib.request.urlopen(f"{origin}/list?path=live/{STREAM}", timeout=10) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError:
        return []


def record(lab: Lab, server: Server, origin: str, seconds: float) -> str:
    """The address of a recording of so many seconds, without the format."""
    publisher = clients.publishers(lab, server.port, STREAM)
    end = time.monotonic() + seconds + 30
    while not (spans := spans_of(origin)) or spans[0]["duration"] < seconds:
        if time.monotonic() > end:
            raise BenchError(f"nothing is recorded: {spans}")
        time.sleep(0.2)
    clients.end(publisher)
    while list((lab.folder / "rec").rglob("*.tmp")):
        time.sleep(0.1)
    return f"{origin}/get?" + urlencode({"path": f"live/{STREAM}", "start": spans[0]["start"], "duration": seconds})


def cpu_per_gb(servers: list[Server], urls: list[str], seconds: float) -> list[float]:
    """The CPU seconds of each server per 10^9 bytes, of the same seconds."""
    before = [server.process.cpu_seconds() for server in servers]
    loads = [start_wrk(url, seconds, PLAYERS) for url in urls]
    reports = [load.communicate(timeout=seconds + 60)[0] for load in loads]
    cpu = [server.process.cpu_seconds() - then for server, then in zip(servers, before)]
    return [used / (counts_of(url, report)[1] / 1e9) for used, url, report in zip(cpu, urls, reports)]


def playback_rows(lab: Lab, plan: Plan) -> list[Row]:
    port = lab.port()
    ours = start_ours(lab, root=f"playback {{ enabled on; listen 127.0.0.1:{port}; }}", vhost=DVR.format(folder=lab.folder))
    wait_for_port(port, ours.process)
    address = record(lab, ours, f"http://127.0.0.1:{port}", 6 if plan.smoke else SECONDS)
    folder = lab.folder / "html"
    folder.mkdir(exist_ok=True)
    with urllib.request.urlopen(f"{address}&format=mp4", timeout=30) as answer:
        movie = answer.read()
    (folder / "movie.mp4").write_bytes(movie)
    nginx = [start_nginx_http(lab)] if plan.with_nginx else []
    rows = []
    for form, name in (("mp4", "plain MP4"), ("fmp4", "fragments")):
        say(f"playback: {name}, {len(movie) // 1000} kB")
        urls = [f"{address}&format={form}", *(f"http://127.0.0.1:{server.http_port}/movie.mp4" for server in nginx)]
        cpu_per_gb([ours, *nginx], urls, 1)  # The first read.
        turns = [cpu_per_gb([ours, *nginx], urls, max(2, plan.seconds / 2)) for _ in range(plan.repeats)]
        rows.append(beside(f"playback of a recording of {len(movie) / 1e6:.1f} MB as {name}, {PLAYERS} players", "CPU-s/GB",
                           [turn[0] for turn in turns], [turn[1] for turn in turns if len(turn) > 1], LIMIT, plan))
    for server in (ours, *nginx):
        server.process.stop()
    return rows
