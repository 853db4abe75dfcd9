"""HLS: players of sb_hls_load fetch a live stream's playlist and segments over kept connections, from our server's memory and, the same
files, from nginx with sendfile. Ours makes the segments meanwhile, for both."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
import time
from statistics import median

import clients
from harness import LOAD_CORE, BenchError, Lab, Process
from report import Row
from rows.files import beside
from servers import start_nginx_http, start_ours

STREAM = "bench"
FIRST_SEGMENTS = 4


def fetch(lab: Lab, process: Process, url: str, players: int, seconds: float) -> dict:
    """One turn of the players against one server: its CPU time, and what the load program says of it."""
    result = lab.folder / "hls-load.json"
    before = process.cpu_seconds()
    load = lab.start("sb_hls_load", [lab.tool("sb_hls_load"), "-c", players, "-r", url, "--ramp", max(100, players // 4), "--seconds", seconds, "--json", result],
                     LOAD_CORE)
    try:
        load.child.communicate(timeout=seconds + 60)
    except subprocess.TimeoutExpired:
        raise BenchError(f"sb_hls_load does not end. {load.log_tail()}") from None
    cpu = process.cpu_seconds() - before
    if not result.exists():
        raise BenchError(f"sb_hls_load measured nothing. {load.log_tail()}")
    said = json.loads(result.read_text())
    result.unlink()
    if not said["bytes_in"]:
        raise BenchError(f"{url}: sb_hls_load got nothing. {load.log_tail()}")
    said.pop("per_client", None)
    return {"cpu_s": cpu, "per_gb": cpu / (said["bytes_in"] / 1e9), "share": cpu / said["seconds"], **said}


def wait_for_segments(url: str, limit_s: float = 30) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.read().count(b"#EXTINF") >= FIRST_SEGMENTS:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)
    raise BenchError(f"{url} does not list {FIRST_SEGMENTS} segments within {limit_s:g} s")


def hls_rows(lab: Lab, plan) -> list[Row]:
    """Over HTTP, and over HTTPS with as many players as its target names."""
    server = start_ours(lab, hls=True, https=True)
    nginx = start_nginx_http(lab) if plan.with_nginx else None
    publisher = clients.publishers(lab, server.port, STREAM)
    places = {"ours": server} | ({"nginx": nginx} if nginx else {})
    for place in places.values():
        wait_for_segments(f"http://127.0.0.1:{place.http_port}/live/{STREAM}.m3u8")
    rows = []
    for scheme, players in [*(("http", players) for players in plan.hls_players), *(("https", players) for players in plan.tls_players)]:
        print(f"hls: {players} players over {scheme}", file=sys.stderr, flush=True)
        urls = {name: f"{scheme}://127.0.0.1:{place.https_port if scheme == 'https' else place.http_port}/live/{STREAM}.m3u8" for name, place in places.items()}
        turns: dict[str, list[dict]] = {name: [] for name in places}
        for _ in range(plan.repeats):
            for name, place in places.items():
                turns[name].append(fetch(lab, place.process, urls[name], players, 2 * plan.seconds))
        rows += rows_of_hls(f"{'HTTPS ' if scheme == 'https' else ''}HLS play, {players:,} players", turns, 0.9 if scheme == "https" else 0.8, plan)
    for process in (publisher, *(place.process for place in places.values())):
        process.stop()
    return rows


def rows_of_hls(work: str, turns: dict[str, list[dict]], limit: float, plan) -> list[Row]:
    share = {name: median(turn["share"] for turn in of) * 100 for name, of in turns.items()}
    lost = sum(turn["failed"] + turn["fragments_failed"] for turn in turns["ours"])
    row = beside(work, "CPU-s/GB", [turn["per_gb"] for turn in turns["ours"]], [turn["per_gb"] for turn in turns.get("nginx", [])], limit, plan,
                 "ours also receives the stream and writes the files that nginx sends")
    row.details = turns
    return [row,
            Row(work, "requests that failed", lost, target="none", met=lost == 0, command=plan.command),
            Row(work, "core used, %", share["ours"], "-", share.get("nginx", "-"), command=plan.command)]
