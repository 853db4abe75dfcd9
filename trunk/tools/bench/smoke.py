"""The short run that guards a change: the CPU time of this build beside the floor, compared with the ratio that is stored for this kind of machine.

One build differs from itself, for these reasons. The ticks of server and floor keep the phase in which they started, and the one that wakes first pays for
the core's wake-up: so the floor's ticks vary (run.hpp), server and floor start anew in each of six runs, and each starts first in half of them. A floor that
reads at each arrival reads one or twenty messages a wake-up, as the core is free or not: here it reads on ticks, as a server does. A floor that
takes turns with the server sees another machine: here both are always measured in the same window. CPU time is the processes' own, never the clock's.
"""

import json
import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import clients
from harness import SERVER_CORE, Lab, Process
from plan import Plan, say
from play import STREAM, memory_row, play, rows_of_delivery, start_floor
from report import Row
from servers import WINDOW_MS, start_ours
from windows import measure_windows

STORED = Path(__file__).resolve().parent / "smoke_ratios.json"
TOLERANCE = 1.10
RUNS = 6
WINDOW_S = 2.1  # Six turns of the players.
SETTLE_S = 1.0
PLAYERS = {"rtmp": 1000, "flv": 1000, "https": 300}
STREAMS = 200


@dataclass
class Run:
    ours_first: bool
    ratio: float
    share: float  # Delivered by the floor, of the expected bytes.
    failed: int


def in_turn(first: bool, ours, floor) -> tuple:
    """Calls both, ours first or last; returns their results in the order ours, floor."""
    if first:
        return ours(), floor()
    last = floor()
    return ours(), last


def one_window(lab: Lab, pairs: list[tuple[Process, Process]], clients_each: int) -> tuple[float, float]:
    """The ratio, and the floor's bytes of those expected."""
    (ours,), (floor,) = measure_windows(pairs, 1, WINDOW_S)
    return ours.per_gb / floor.per_gb, floor.bytes / (clients_each * lab.facts_of_clip()["kbps"] * 125 * floor.seconds)


def play_run(lab: Lab, mode: str, ours_first: bool) -> Run:
    players = PLAYERS[mode]

    def start_server() -> tuple:
        server = start_ours(lab, https=mode == "https")
        return server, clients.players(lab, server, players, STREAM, mode)

    (server, load), (floor, floor_load) = in_turn(ours_first, start_server, lambda: start_floor(lab, players, WINDOW_MS, mode == "https"))
    publisher = clients.publishers(lab, server.port, STREAM)
    time.sleep(SETTLE_S)
    ratio, share = one_window(lab, [(server.process, load), (floor, floor_load)], players)
    publisher.stop()
    failed = clients.end(load)["failed"]
    for process in (floor_load, floor, server.process):
        process.stop()
    return Run(ours_first, ratio, share, failed)


def publish_run(lab: Lab, ours_first: bool) -> Run:
    ramp = STREAMS

    def start_server() -> tuple:
        server = start_ours(lab)
        return server.process, clients.publishers(lab, server.port, "s", STREAMS, ramp)

    def start_reader() -> tuple:
        port = lab.port()
        floor = lab.load("floor", SERVER_CORE, mode="read", port=port, clients=STREAMS, read_tick_ms=5)
        floor.wait_event("listening", 10)
        return floor, clients.raw_publishers(lab, port, STREAMS, ramp)

    (process, load), (floor, floor_load) = in_turn(ours_first, start_server, start_reader)
    time.sleep(SETTLE_S)
    ratio, share = one_window(lab, [(process, load), (floor, floor_load)], STREAMS)
    failed = clients.end(load)["failed"]
    for child in (floor_load, floor, process):
        child.stop()
    return Run(ours_first, ratio, share, failed)


MEASURES = {
    "RTMP play": lambda lab, first: play_run(lab, "rtmp", first),
    "HTTP-FLV play": lambda lab, first: play_run(lab, "flv", first),
    "HTTPS-FLV play": lambda lab, first: play_run(lab, "https", first),
    "RTMP publish": publish_run,
}


def stored_of(kind: str) -> dict:
    return json.loads(STORED.read_text()).get(kind, {}) if STORED.exists() else {}


def middle(runs: list[Run]) -> float:
    """The geometric mean of two medians: of the runs in which ours started first, and of the others."""
    medians = [median(run.ratio for run in runs if run.ours_first is first) for first in (True, False)]
    return math.sqrt(medians[0] * medians[1])


def judged(work: str, runs: list[Run], stored: dict | None, kind: str, command: str) -> Row:
    """`stored`: this row of this kind of machine; a kind without one is reported and never fails."""
    ratio = middle(runs)
    target, met, notes = "", None, []
    if stored:
        limit = stored["ratio"] * TOLERANCE
        target, met = f"<= {limit:.2f}, 1.10 x the stored {stored['ratio']:.2f}", ratio <= limit
    else:
        notes.append(f"no ratio of this row is stored for {kind}: reported, not judged")
    if median(run.share for run in runs) < 0.95:
        notes.append("the floor itself did not deliver: the machine was too busy to judge")
        met = None
    failed = sum(run.failed for run in runs)
    if failed:
        notes.append(f"{failed} clients failed")
        met = False
    return Row(work, "CPU a byte, x floor", ratio, 1.0, "-", ratio, target, met, "; ".join(notes), {"runs": [run.__dict__ for run in runs]}, command,
               pairs=[run.ratio for run in runs])


def smoke_rows(lab: Lab, plan: Plan) -> list[Row]:
    stored = stored_of(plan.machine)
    figures: dict[str, list[Run]] = {work: [] for work in MEASURES}
    for at in range(RUNS):
        for work, measure in MEASURES.items():
            say(f"smoke: {work}, run {at + 1} of {RUNS}")
            figures[work].append(measure(lab, at % 2 == 0))
    return [judged(work, runs, stored.get(work), plan.machine, plan.command) for work, runs in figures.items()] + delivery_rows(lab, plan)


def delivery_rows(lab: Lab, plan: Plan) -> list[Row]:
    """What holds on every machine: every byte arrives, in time, and a player's memory is bounded."""
    say("smoke: delivery and memory")
    server = start_ours(lab)
    result = play(lab, server, PLAYERS["rtmp"], replace(plan, repeats=1, seconds=2), None)
    server.process.stop()
    work = f"RTMP play, {PLAYERS['rtmp']:,} players"
    return [*rows_of_delivery(work, result, plan), memory_row(work, result, None, PLAYERS["rtmp"], plan)]


def keep(rows: list[Row], kind: str, date: str) -> None:
    """Adds a smoke run to the file of stored ratios: a row's ratio is the geometric mean of its runs there, beside their smallest and largest."""
    everything = json.loads(STORED.read_text()) if STORED.exists() else {}
    for row in rows:
        if row.measure != "CPU a byte, x floor":
            continue
        entry = everything.setdefault(kind, {}).setdefault(row.work, {"runs": []})
        entry["runs"] = [*entry["runs"], round(row.ratio, 3)]
        entry["ratio"] = round(math.prod(entry["runs"]) ** (1 / len(entry["runs"])), 3)
        entry["spread"] = [min(entry["runs"]), max(entry["runs"])]
        entry["date"] = date
    STORED.write_text(json.dumps(everything, indent=1) + "\n")
