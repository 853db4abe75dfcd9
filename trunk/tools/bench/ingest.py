"""SRT publishers and transport streams over UDP: those of srt_floor.cpp, beside its loop that only reads as many datagrams, at each arrival or on
ticks as long as the server's. All alternate on the core."""

import json
import sys
import urllib.request
from pathlib import Path
from statistics import median

from harness import SERVER_CORE, BenchError, Lab
from report import Row
from servers import Server
from srt import Turn, free_ports, of_a_floor, start_with_srt, transport_stream, window

TIMES_FLOOR_MAX = 2.0
SRT_TICK_MS, UDP_TICK_MS = 40, 100  # A third of the usual latency; that of a caster.


def reading_floor(lab: Lab, streams: int, seconds: float, one_port: bool, ts: Path, kbps: float, tick_ms: int = 0) -> Turn:
    """Only reads from the same number of senders: datagrams like those of SRT on one socket, or transport packets on one socket each; at each arrival, or on ticks."""
    sockets = 1 if one_port else streams
    port = free_ports(lab, sockets)
    floor = lab.load("srt_floor", SERVER_CORE, mode="read", port=port, clients=sockets, tick_ms=tick_ms)
    floor.wait_event("listening", 10)
    load = lab.load("srt_floor", mode="udp", port=port, clients=streams, ts=ts, kbps=kbps, **({"one_port": True} if one_port else {}))
    load.wait_event("ready", 10)
    turn = window(floor, load, seconds, range(port, port + sockets))
    load.stop()
    floor.stop()
    return of_a_floor(turn)


def our_publish(lab: Lab, streams: int, seconds: float, ts: Path, kbps: float) -> Turn:
    server, port = start_with_srt(lab)
    load = lab.load("srt_floor", mode="publish", port=port, clients=streams, ts=ts, kbps=kbps)
    load.wait_event("ready", 60)
    turn = window(server.process, load, seconds, range(port, port + 1))
    check_published(server, streams)
    load.stop()
    server.process.stop()
    return turn


def our_caster(lab: Lab, streams: int, seconds: float, ts: Path, kbps: float) -> Turn:
    first = free_ports(lab, streams)
    server, _ = start_with_srt(lab, casters=[first + i for i in range(streams)])
    load = lab.load("srt_floor", mode="udp", port=first, clients=streams, ts=ts, kbps=kbps)
    load.wait_event("ready", 10)
    turn = window(server.process, load, seconds, range(first, first + streams))
    check_published(server, streams)
    load.stop()
    server.process.stop()
    return turn


def check_published(server: Server, streams: int) -> None:
    """Checks that all streams are published and have video; an unread stream would cost little."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.api_port}/api/v1/streams/?count={streams + 10}", timeout=5) as answer:
        found = json.load(answer)["streams"]
    good = sum(1 for one in found if one["publish"]["active"] and one["video"])
    if good != streams:
        raise BenchError(f"of {streams} streams {good} are published")


def rows_of(lab: Lab, streams: int, plan) -> list[Row]:
    print(f"ingest: {streams} SRT publishers; as many transport streams over UDP", file=sys.stderr, flush=True)
    ts, kbps = transport_stream(lab)
    turns_of: dict[str, list[Turn]] = {f"{kind}{loop}": [] for kind in ("srt", "udp") for loop in ("", " floor", " ticks")}
    for _ in range(plan.repeats):
        turns_of["srt"].append(our_publish(lab, streams, plan.seconds, ts, kbps))
        turns_of["srt floor"].append(reading_floor(lab, streams, plan.seconds, True, ts, kbps))
        turns_of["srt ticks"].append(reading_floor(lab, streams, plan.seconds, True, ts, kbps, SRT_TICK_MS))
        turns_of["udp"].append(our_caster(lab, streams, plan.seconds, ts, kbps))
        turns_of["udp floor"].append(reading_floor(lab, streams, plan.seconds, False, ts, kbps))
        turns_of["udp ticks"].append(reading_floor(lab, streams, plan.seconds, False, ts, kbps, UDP_TICK_MS))
    rows = []
    for kind, work in (("srt", f"SRT publish, {streams} x 2 Mbps"), ("udp", f"MPEG-TS over UDP in, {streams * 2} Mbps on {streams} ports")):
        turns, floors, on_ticks = turns_of[kind], turns_of[f"{kind} floor"], turns_of[f"{kind} ticks"]
        ratio, ratio_of_ticks = (median(a.per_gb / b.per_gb for a, b in zip(turns, some)) for some in (floors, on_ticks))
        share, missing = median(turn.cpu_s / turn.seconds for turn in turns), max(turn.missing for turn in turns)
        rows += [Row(work, "CPU-s/GB", median(turn.per_gb for turn in turns), median(turn.per_gb for turn in floors), "-", ratio,
                     f"<= {TIMES_FLOOR_MAX:.2f} x floor", ratio <= TIMES_FLOOR_MAX * plan.slack,
                     "the floor reads as many datagrams from as many sockets when they arrive, and does not look at them", command=plan.command,
                     details={"ours": [turn.__dict__ for turn in turns], "floor": [turn.__dict__ for turn in floors], "ticks": [turn.__dict__ for turn in on_ticks]}),
                 Row(work, "CPU-s/GB, floor on ticks", median(turn.per_gb for turn in turns), median(turn.per_gb for turn in on_ticks), "-", ratio_of_ticks,
                     note="the same loop, which reads on the server's ticks", command=plan.command),
                 Row(work, "core used, %", share * 100, command=plan.command),
                 Row(work, "lost on arrival", f"{missing} packets", target="nothing", met=missing == 0, command=plan.command)]
    return rows


def ingest_rows(lab: Lab, plan) -> list[Row]:
    return [row for streams in plan.srt_streams for row in rows_of(lab, streams, plan)]
