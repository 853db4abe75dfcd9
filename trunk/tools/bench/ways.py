"""Ways to do the same thing that were tried beside the one we took (doc/adr/0017): how the kernel is given the bytes, and how much at
a time. Each variant runs at the same time as the way we took, on the same core, with as many players: their ratio is what counts. Not in the default
matrix, and without targets."""

import sys
import time
from statistics import median

import clients
from harness import SERVER_CORE, Lab, Process
from report import Row
from servers import WINDOW_MS, start_ours
from windows import measure_windows

STREAM = "bench"

# Options of the floor program, each beside the floor without any.
FLOORS: dict[str, dict] = {
    "the same again": {},
    "writev, headers and payloads apart": {"way": "writev"},
    "sendfile from a memory file": {"way": "sendfile"},
    "MSG_ZEROCOPY": {"way": "zerocopy"},
    "the run in huge pages": {"huge_pages": True},
    "socket buffers of 64 KiB": {"send_buffer": 65536},
    "socket buffers of 4 MiB": {"send_buffer": 4 << 20},
    "a turn each 100 ms": {"window_ms": 100},
    "a turn each 1,000 ms": {"window_ms": 1000},
    "turns every 1 ms": {"tick_ms": 1},
    "turns every 20 ms": {"tick_ms": 20},
    "everybody in one tick": {"tick_ms": WINDOW_MS},
}


def start_floor(lab: Lab, players: int, options: dict) -> tuple[Process, Process]:
    port = lab.port()
    floor = lab.load("floor", SERVER_CORE, mode="send", port=port, clients=players, clip=lab.clip, **({"window_ms": WINDOW_MS} | options))
    floor.wait_event("listening", 10)
    return floor, clients.raw_players(lab, port, players)


def start_server(lab: Lab, players: int, **options) -> tuple[Process, Process, Process]:
    server = start_ours(lab, **options)
    load = clients.players(lab, server, players, STREAM)
    return server.process, load, clients.publishers(lab, server.port, STREAM)


def compare(work: str, taken: tuple, other: tuple, plan) -> Row:
    """Both run already. A row whose figure is the variant's, and whose floor is the way we took."""
    time.sleep(3)
    windows = measure_windows([taken[:2], other[:2]], plan.repeats, plan.seconds)
    for process in reversed([*taken, *other]):
        process.stop()
    ratios = [b.per_gb / a.per_gb for a, b in zip(*windows)]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} windows"
    return Row(work, "CPU-s/GB, and the way we took", median(b.per_gb for b in windows[1]), median(a.per_gb for a in windows[0]), "-",
               median(ratios), "", None, spread, {"windows": [[w.__dict__ for w in of] for of in windows]}, plan.command)


def ways_rows(lab: Lab, plan) -> list[Row]:
    players = 200 if plan.smoke else 2000
    rows = []
    for name, options in FLOORS.items():
        print(f"ways: {name}, {players} players", file=sys.stderr, flush=True)
        rows.append(compare(f"bare loop: {name}", start_floor(lab, players, {}), start_floor(lab, players, options), plan))
    variants = {"the same again": {}, "io_uring off": {"io_uring": False}}
    for name, options in variants.items():
        print(f"ways: the server, {name}, {players} players", file=sys.stderr, flush=True)
        rows.append(compare(f"the server: {name}", start_server(lab, players), start_server(lab, players, **options), plan))
    return rows
