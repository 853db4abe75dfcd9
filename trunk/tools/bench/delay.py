"""The added delay: how long a frame takes from its publisher to the last of a hundred players, beside the floor and nginx."""

import sys
import time
from pathlib import Path
from statistics import median

import clients
from harness import SERVER_CORE, Lab
from report import Row
from servers import start_nginx, start_ours

STREAM = "bench"
DELAY_TURNS = 9
DELAY_TURN_S = 12
DELAY_PLAYERS = 100


def delay_turn(lab: Lab, name: str, seconds: float, build: Path | None = None) -> dict:
    """The publisher stamps each frame; the players join later, and frames count from two seconds after that."""
    if name == "floor":
        port = lab.port()
        process = lab.load("floor", SERVER_CORE, mode="relay", port=port, clients=DELAY_PLAYERS)
        process.wait_event("listening", 10)
        publisher = clients.raw_publishers(lab, port, stamp=True)
    else:
        server = start_ours(lab, min_latency=True, build=build) if name == "ours" else start_nginx(lab)
        process, port = server.process, server.port
        publisher = clients.publishers(lab, port, STREAM, stamp=True)
    time.sleep(2)
    players = clients.raw_players(lab, port, DELAY_PLAYERS, stamp=True) if name == "floor" else clients.players_that_look(lab, port, DELAY_PLAYERS, STREAM)
    time.sleep(2)
    for load in (publisher, players):
        load.tell("mark")
    time.sleep(seconds)
    published = clients.end(publisher)
    time.sleep(1)
    result = clients.end(players)
    process.stop()
    # A frame without a receiver has no delay. The two marks are not at the same moment: a frame may lie between them.
    result["frames_incomplete"] += max(0, published["stamps"] - 2 - result["frames"] - result["frames_incomplete"])
    return result


def delay_rows(lab: Lab, plan) -> list[Row]:
    """All alternate in short turns, and the median of the turns counts: other load on the core for some
    milliseconds determines the p99 of a single turn (1.3 to 15 ms for the floor itself)."""
    print("added delay: the last of 100 players", file=sys.stderr, flush=True)
    turns, seconds = (1, 10) if plan.smoke else (DELAY_TURNS, DELAY_TURN_S)
    names = ["ours", "floor"] + (["nginx"] if plan.with_nginx else [])
    results = [{name: delay_turn(lab, name, seconds) for name in names} for _ in range(turns)]

    def figure(name: str, key: str) -> float:
        return median(turn[name][key] for turn in results)

    rows = []
    for which, work in (("newest", "added delay, min_latency on, the last to join of 100"), ("slowest", "the same, the last of the 100 to receive it")):
        for quantile, limit in (("p50", 0.7), ("p99", 1.2)):
            key = f"{which}_ms_{quantile}"
            ratio = figure("ours", key) / max(0.001, figure("floor", key))
            judged = which == "newest"
            rows.append(Row(work, f"{quantile}, ms", figure("ours", key), figure("floor", key), figure("nginx", key) if plan.with_nginx else "-", ratio,
                            "<= 1.25 x floor" if judged else "", ratio <= 1.25 if judged and not plan.smoke else None,
                            f"the design's machine: {limit}" if judged and figure("ours", key) > limit else "", {} if rows else {"turns": results},
                            plan.command))
    incomplete = sum(turn["ours"]["frames_incomplete"] for turn in results)
    if incomplete:
        rows[0].note, rows[0].met = f"{incomplete} frames did not reach everybody", False
    return rows
