"""This build of the server beside another one, such as the one before a change: both at the same time on the server's core, each with its own load,
in the same windows, so that their ratio says what the change costs on a machine whose absolute figures say nothing. Which one starts first matters (a
build beside itself: up to 13 %), so each starts first in half of the runs, and the ratio is the geometric mean of the runs' medians. Not in the
default matrix. The other build's figure is in the floor's column."""

import math
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import clients
from delay import delay_turn
from harness import BenchError, Lab, Process
from hls import fetch, wait_for_segments
from report import Row
from servers import Server, start_ours
from whep import end_rtc, start_rtc, url_of, wait_until_joined
from windows import measure_windows

STREAM = "bench"
SETTLE_S = 4.0
LIMIT = 1.03
ORDERS = (False, True, False, True)  # Ours first? How the two servers' ticks fall is new in each run.
Figures = tuple[list[float], list[float]]  # ours, the other's


def builds(other: Path, ours_first: bool) -> tuple[Path | None, Path | None]:
    """In the order in which they start; None is ours."""
    return (None, other) if ours_first else (other, None)


@contextmanager
def both(lab: Lab, other: Path, ours_first: bool, **options):
    """Ours, then the other build, in whichever order they were started."""
    started = [start_ours(lab, build=build, **options) for build in builds(other, ours_first)]
    try:
        yield started if ours_first else started[::-1]
    finally:
        for server in started:
            server.process.stop()


def in_order(servers: list[Server], ours_first: bool, start) -> list:
    """What `start` gives for each server, begun in the order in which they were."""
    begun = [start(server) for server in (servers if ours_first else servers[::-1])]
    return begun if ours_first else begun[::-1]


def compared(work: str, measure: str, runs: list[Figures], plan, note: str = "") -> Row:
    """`runs`: as many with ours first as with the other."""
    ratios = [[a / b for a, b in zip(*run)] for run in runs]
    ratio = math.prod(median(of_run) for of_run in ratios) ** (1 / len(ratios))
    ours, other = ([figure for run in runs for figure in run[at]] for at in (0, 1))
    spread = "; ".join(f"{min(of_run):.3f} to {max(of_run):.3f}" for of_run in ratios)
    notes = [f"{ratio:.3f}; by run {spread}", *([note] if note else [])]
    return Row(f"pairs: {work}", measure, median(ours), median(other), "-", ratio, f"<= {LIMIT:.2f} x other", ratio <= LIMIT * plan.slack, "; ".join(notes),
               {"ours": ours, "other": other}, plan.command)


def windows_of(servers: list[Server], loads: list[Process], plan) -> Figures:
    ours, other = measure_windows([(server.process, load) for server, load in zip(servers, loads)], plan.repeats, plan.seconds)
    return [w.per_gb for w in ours], [w.per_gb for w in other]


def resident(servers: list[Server]) -> list[int]:
    return [server.process.resident_kib() for server in servers]


def grown(servers: list[Server], before: list[int], clients_each: int) -> Figures:
    ours, other = ([(now - then) / clients_each] for now, then in zip(resident(servers), before))
    return ours, other


def play(lab: Lab, other: Path, players: int, plan, mode: str, **options) -> list[Row]:
    name = {"rtmp": "RTMP", "flv": "HTTP-FLV", "https": "HTTPS-FLV"}[mode] + (" with min_latency" if options.get("min_latency") else "")
    work = f"{name} play, {players:,} players each"
    cpu, memory = [], []
    for ours_first in ORDERS:
        with both(lab, other, ours_first, https=mode == "https", **options) as servers:
            empty = resident(servers)
            loads = in_order(servers, ours_first, lambda server: clients.players(lab, server, players, STREAM, mode))
            publishers = in_order(servers, ours_first, lambda server: clients.publishers(lab, server.port, STREAM))
            time.sleep(SETTLE_S)
            cpu.append(windows_of(servers, loads, plan))
            memory.append(grown(servers, empty, players))
            for process in (*publishers, *loads):
                process.stop()
    return [compared(work, "CPU-s/GB", cpu, plan), compared(work, "memory a player, KiB", memory, plan, "with the stream's own")]


def publish(lab: Lab, other: Path, streams: int, plan, mr: bool) -> list[Row]:
    work = f"RTMP publish, {streams:,} streams each, mr {'on' if mr else 'off'}"
    cpu, memory = [], []
    for ours_first in ORDERS:
        with both(lab, other, ours_first, mr=mr) as servers:
            empty = resident(servers)
            loads = in_order(servers, ours_first, lambda server: clients.publishers(lab, server.port, "s", streams, max(100, streams // 2)))
            time.sleep(SETTLE_S)
            cpu.append(windows_of(servers, loads, plan))
            memory.append(grown(servers, empty, streams))
            for process in loads:
                process.stop()
    return [compared(work, "CPU-s/GB", cpu, plan), compared(work, "memory a publisher, KiB", memory, plan)]


def hls(lab: Lab, other: Path, players: int, plan) -> list[Row]:
    """In turns: sb_hls_load has no windows, and two of them want more than a core."""
    runs = []
    for ours_first in ORDERS:
        with both(lab, other, ours_first, hls=True) as servers:
            # A path of their own, as both write into one folder.
            publishers = [clients.publishers(lab, server.port, f"{STREAM}{at}") for at, server in enumerate(servers)]
            urls = [f"http://127.0.0.1:{server.http_port}/live/{STREAM}{at}.m3u8" for at, server in enumerate(servers)]
            for url in urls:
                wait_for_segments(url)

            def fetched(at: int) -> float:
                return fetch(lab, servers[at].process, urls[at], players, 2 * plan.seconds)["per_gb"]

            # Whoever is fetched from first after a pause pays for it: once without counting, then each one first in half of the turns.
            fetched(0)
            fetched(1)
            turns = []
            for turn in range(2 * plan.repeats):
                per_gb = {at: fetched(at) for at in ((0, 1) if turn % 2 == 0 else (1, 0))}
                turns.append((per_gb[0], per_gb[1]))
            runs.append(([ours for ours, _ in turns], [before for _, before in turns]))
            for process in publishers:
                process.stop()
    return [compared(f"HLS play, {players:,} players each", "CPU-s/GB", runs, plan)]


def whep(lab: Lab, other: Path, players: int, plan) -> list[Row]:
    """Both send the same stream to as many players for as long: CPU time is compared as it is."""
    runs = []
    for ours_first in ORDERS:
        with both(lab, other, ours_first, rtc=True) as servers:
            loads = in_order(servers, ours_first,
                             lambda server: start_rtc(lab, f"pairs{server.port}", url_of(server, "whep"), "-c", players, "--ramp", 200, "--skip-decryption"))
            for server, (load, _) in zip(servers, loads):
                wait_until_joined(server, players, load)
            publishers = in_order(servers, ours_first, lambda server: clients.publishers(lab, server.port, STREAM))
            time.sleep(2 * SETTLE_S)
            cpu: Figures = ([], [])
            for _ in range(plan.repeats):
                before = [server.process.cpu_seconds() for server in servers]
                time.sleep(plan.seconds)
                for at, server in enumerate(servers):
                    cpu[at].append((server.process.cpu_seconds() - before[at]) / plan.seconds * 100)
            runs.append(cpu)
            # One that sends less is no cheaper.
            failed = [end_rtc(*load)["failed"] for load in loads]
            if any(failed):
                raise BenchError(f"of {players} WHEP players each, {failed[0]} failed here and {failed[1]} at the other build")
            for process in publishers:
                process.stop()
    return [compared(f"WHEP play, {players:,} players each, that report arrivals", "core used, %", runs, plan)]


def delay(lab: Lab, other: Path, plan) -> list[Row]:
    """In turns: two at once would measure each other."""
    seconds = 10 if plan.smoke else 8
    runs = [[{build: delay_turn(lab, "ours", seconds, build) for build in builds(other, ours_first)} for _ in range(plan.repeats)]
            for ours_first in (ORDERS[:2] if plan.smoke else ORDERS)]
    rows = []
    for quantile in ("p50", "p99"):
        figures = [tuple([turn[build][f"newest_ms_{quantile}"] for turn in run] for build in (None, other)) for run in runs]
        rows.append(compared("added delay, min_latency on, the last to join of 100", f"{quantile}, ms", figures, plan))
    return rows


def measurements(lab: Lab, other: Path, plan) -> dict:
    """The rows by the names of --rows, in the order in which they run."""
    small = plan.smoke
    return {
        "rtmp": lambda: play(lab, other, 300 if small else 1250, plan, "rtmp"),
        "flv": lambda: play(lab, other, 300 if small else 1250, plan, "flv"),
        "https-flv": lambda: play(lab, other, 100 if small else 300, plan, "https"),
        "min-latency": lambda: play(lab, other, 150 if small else 500, plan, "rtmp", min_latency=True),
        "publish": lambda: publish(lab, other, 100 if small else 250, plan, False),
        "publish-mr": lambda: publish(lab, other, 100 if small else 250, plan, True),
        "hls": lambda: hls(lab, other, 100 if small else 1000, plan),
        "whep": lambda: whep(lab, other, 100 if small else 300, plan),
        "delay": lambda: delay(lab, other, plan),
    }


def chosen(measures: dict, names: list[str]) -> dict:
    """Those of `names`, all if it is empty; in their own order."""
    unknown = set(names) - set(measures)
    if unknown:
        raise BenchError(f"pairs: no row {', '.join(sorted(unknown))}; --rows takes {', '.join(measures)}")
    return {name: measure for name, measure in measures.items() if not names or name in names}


def pairs_rows(lab: Lab, plan) -> list[Row]:
    if not plan.builds:
        raise BenchError("pairs: beside which build? Name one with --build NAME=PATH")
    rows = []
    for name, other in plan.builds.items():
        for what, measure in chosen(measurements(lab, other, plan), plan.rows).items():
            print(f"pairs with {name}: {what}", file=sys.stderr, flush=True)
            found = measure()
            for row in found:
                print(f"  {row.measure}: {row.note}", file=sys.stderr, flush=True)
            rows += found
    return rows
