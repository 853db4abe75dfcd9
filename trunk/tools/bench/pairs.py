"""This build of the server beside another one, such as the one before a change: both at the same time on the server's core, each with its own load,
in the same windows, so that their ratio says what the change costs on a machine whose absolute figures say nothing. Not in the default matrix.
The other build's figure is in the floor's column."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import clients
from delay import delay_turn
from harness import Lab, Process
from hls import Fetch, wait_for_segments
from report import Row
from servers import Server, start_ours
from whep import joined, start_rtc, url_of
from windows import measure_windows

STREAM = "bench"
SETTLE_S = 4.0
LIMIT = 1.03
# Windows are longer than the load's cadence, and twice as many as elsewhere: a pair is cheap.
WINDOWS = 2


@contextmanager
def both(lab: Lab, other: Path, **options):
    """First the other build, then ours."""
    servers = [start_ours(lab, build=other, **options), start_ours(lab, **options)]
    try:
        yield servers
    finally:
        for server in servers:
            server.process.stop()


def compared(work: str, measure: str, ours: list[float], other: list[float], plan, note: str = "") -> Row:
    ratios = [a / b for a, b in zip(ours, other)]
    ratio = median(ratios)
    notes = [f"{min(ratios):.3f} to {max(ratios):.3f} in {len(ratios)} pairs, median {ratio:.3f}", *([note] if note else [])]
    return Row(f"pairs: {work}", measure, median(ours), median(other), "-", ratio, f"<= {LIMIT:.2f} x other", ratio <= LIMIT * plan.slack, "; ".join(notes),
               {"ours": ours, "other": other}, plan.command)


def cpu_rows(work: str, pairs: list[tuple[Process, Process]], plan) -> list[Row]:
    other, ours = measure_windows(pairs, WINDOWS * plan.repeats, plan.seconds)
    return [compared(work, "CPU-s/GB", [w.per_gb for w in ours], [w.per_gb for w in other], plan)]


def play(lab: Lab, other: Path, players: int, plan, mode: str, **options) -> list[Row]:
    name = {"rtmp": "RTMP", "flv": "HTTP-FLV", "https": "HTTPS-FLV"}[mode] + (" with min_latency" if options.get("min_latency") else "")
    work = f"{name} play, {players:,} players each"
    with both(lab, other, https=mode == "https", **options) as servers:
        empty = [server.process.resident_kib() for server in servers]
        loads = [clients.players(lab, server, players, STREAM, mode) for server in servers]
        publishers = [clients.publishers(lab, server.port, STREAM) for server in servers]
        time.sleep(SETTLE_S)
        rows = cpu_rows(work, [(server.process, load) for server, load in zip(servers, loads)], plan)
        grown = [server.process.resident_kib() - before for server, before in zip(servers, empty)]
        rows.append(compared(work, "memory a player, KiB", [grown[1] / players], [grown[0] / players], plan, "with the stream's own"))
        for process in (*publishers, *loads):
            process.stop()
    return rows


def publish(lab: Lab, other: Path, streams: int, plan, mr: bool) -> list[Row]:
    work = f"RTMP publish, {streams:,} streams each, mr {'on' if mr else 'off'}"
    with both(lab, other, mr=mr) as servers:
        empty = [server.process.resident_kib() for server in servers]
        publishers = [clients.publishers(lab, server.port, "s", streams, max(100, streams // 2)) for server in servers]
        time.sleep(SETTLE_S)
        rows = cpu_rows(work, [(server.process, load) for server, load in zip(servers, publishers)], plan)
        grown = [server.process.resident_kib() - before for server, before in zip(servers, empty)]
        rows.append(compared(work, "memory a publisher, KiB", [grown[1] / streams], [grown[0] / streams], plan))
        for process in publishers:
            process.stop()
    return rows


def hls(lab: Lab, other: Path, players: int, plan) -> list[Row]:
    """Each window is a run of the players of its own: sb_hls_load has no windows."""
    with both(lab, other, hls=True) as servers:
        # A path of their own, as both write into one folder.
        publishers = [clients.publishers(lab, server.port, f"{STREAM}{at}") for at, server in enumerate(servers)]
        urls = [f"http://127.0.0.1:{server.http_port}/live/{STREAM}{at}.m3u8" for at, server in enumerate(servers)]
        for url in urls:
            wait_for_segments(url)
        per_gb: list[list[float]] = [[], []]
        for _ in range(WINDOWS * plan.repeats):
            before = [server.process.cpu_seconds() for server in servers]
            fetches = [Fetch(lab, url, players, 2 * plan.seconds) for url in urls]
            for fetch in fetches:
                fetch.wait()
            for at, fetch in enumerate(fetches):
                per_gb[at].append((servers[at].process.cpu_seconds() - before[at]) / (fetch.figures()["bytes_in"] / 1e9))
        for process in publishers:
            process.stop()
    return [compared(f"HLS play, {players:,} players each", "CPU-s/GB", per_gb[1], per_gb[0], plan)]


def wait_until_joined(server: Server, players: int, limit_s: float = 30) -> None:
    deadline = time.monotonic() + limit_s
    while not joined(server, players) and time.monotonic() < deadline:
        time.sleep(0.1)


def whep(lab: Lab, other: Path, players: int, plan) -> list[Row]:
    """Both send the same stream to as many players for as long: CPU time is compared as it is."""
    with both(lab, other, rtc=True) as servers:
        loads = [start_rtc(lab, f"pairs{at}", url_of(server, "whep"), "-c", players, "--ramp", 200, "--skip-decryption") for at, server in enumerate(servers)]
        for server in servers:
            wait_until_joined(server, players)
        publishers = [clients.publishers(lab, server.port, STREAM) for server in servers]
        time.sleep(2 * SETTLE_S)
        cpu: list[list[float]] = [[], []]
        for _ in range(WINDOWS * plan.repeats):
            before = [server.process.cpu_seconds() for server in servers]
            time.sleep(plan.seconds)
            for at, server in enumerate(servers):
                cpu[at].append((server.process.cpu_seconds() - before[at]) / plan.seconds * 100)
        for load, _ in loads:
            load.stop()
        for process in publishers:
            process.stop()
    return [compared(f"WHEP play, {players:,} players each, that report arrivals", "core used, %", cpu[1], cpu[0], plan)]


def delay(lab: Lab, other: Path, plan) -> list[Row]:
    """In turns: two at once would measure each other."""
    turns, seconds = (1, 10) if plan.smoke else (3 * plan.repeats, 8)
    results = [[delay_turn(lab, "ours", seconds, build) for build in (None, other)] for _ in range(turns)]
    rows = []
    for quantile in ("p50", "p99"):
        ours, before = ([turn[at][f"newest_ms_{quantile}"] for turn in results] for at in (0, 1))
        rows.append(compared("added delay, min_latency on, the last to join of 100", f"{quantile}, ms", ours, before, plan))
    return rows


def pairs_rows(lab: Lab, plan) -> list[Row]:
    small = plan.smoke
    rows = []
    for name, other in plan.builds.items():
        for what, measure in {
            "RTMP": lambda: play(lab, other, 300 if small else 1250, plan, "rtmp"),
            "HTTP-FLV": lambda: play(lab, other, 300 if small else 1250, plan, "flv"),
            "HTTPS-FLV": lambda: play(lab, other, 100 if small else 300, plan, "https"),
            "min_latency": lambda: play(lab, other, 150 if small else 500, plan, "rtmp", min_latency=True),
            "publish, mr off": lambda: publish(lab, other, 100 if small else 250, plan, False),
            "publish, mr on": lambda: publish(lab, other, 100 if small else 250, plan, True),
            "HLS": lambda: hls(lab, other, 100 if small else 1000, plan),
            "WHEP": lambda: whep(lab, other, 100 if small else 300, plan),
            "delay": lambda: delay(lab, other, plan),
        }.items():
            print(f"pairs with {name}: {what}", file=sys.stderr, flush=True)
            rows += measure()
    return rows
