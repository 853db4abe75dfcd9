"""LL-HLS and DASH: a segmented stream in small pieces costs requests. Both are compared with HLS of the same server and the same load program: its cost a
byte for the bytes, and the cost of a request for a playlist, measured by wrk, for the requests."""

import time
from dataclasses import dataclass
from statistics import median

import clients
from hls import wait_for_segments
from harness import BenchError, Lab
from plan import Plan, say
from report import Row
from rows.files import requests_of, start_wrk
from servers import Server, start_ours

STREAM = "bench"
PART_MS = 500
MODES = {"hls": "m3u8", "ll": "m3u8", "dash": "mpd"}
NAMES = {"ll": f"LL-HLS play, parts of {PART_MS} ms", "dash": "DASH play"}
SETTLE_S = 4


@dataclass
class Turn:
    cpu_s: float
    bytes: int
    requests: int
    seconds: float
    failed: int


def start_server(lab: Lab) -> Server:
    vhost = f"dash {{ enabled on; dash_fragment 2; dash_update_period 2; dash_timeshift 20; dash_path {lab.folder}/html; }}"
    return start_ours(lab, hls=True, hls_more=f"hls_ll on; hls_part {PART_MS};", vhost=vhost)


def idle_share(server: Server, seconds: float) -> float:
    """Of a core: the publisher and the segments, without players."""
    before = server.process.cpu_seconds()
    time.sleep(seconds)
    return (server.process.cpu_seconds() - before) / seconds


def play(lab: Lab, server: Server, mode: str, players: int, seconds: float, idle: float) -> Turn:
    load = lab.load("segment_load", mode=mode, port=server.http_port, path=f"/live/{STREAM}.{MODES[mode]}", clients=players, ramp=max(100, players // 2))
    load.wait_event("ready", 60)
    time.sleep(SETTLE_S)
    load.tell("mark")
    before = server.process.cpu_seconds()
    time.sleep(seconds)
    cpu = server.process.cpu_seconds() - before
    load.tell("report")
    got = load.wait_event("report", 30)
    if not got["window_requests"]:
        raise BenchError(f"{mode}: the players received nothing. {load.log_tail()}")
    load.stop()
    return Turn(max(0.0, cpu - idle * got["seconds"]), got["window_bytes"], got["window_requests"], got["seconds"], got["failed"])


def request_cost(server: Server) -> float:
    """The CPU seconds of a request for a playlist."""
    url = f"http://127.0.0.1:{server.http_port}/live/{STREAM}.m3u8"
    before = server.process.cpu_seconds()
    report = start_wrk(url, 2).communicate(timeout=30)[0]
    return (server.process.cpu_seconds() - before) / requests_of(url, report, 100)


def quotient(turn: Turn, hls: Turn, per_request: float) -> float:
    per_byte = max(0.0, hls.cpu_s - hls.requests * per_request) / hls.bytes
    return turn.cpu_s / (turn.bytes * per_byte + turn.requests * per_request)


def segments_rows(lab: Lab, plan: Plan) -> list[Row]:
    server = start_server(lab)
    publisher = clients.publishers(lab, server.port, STREAM)
    wait_for_segments(f"http://127.0.0.1:{server.http_port}/live/{STREAM}.m3u8")
    rows = []
    for players in plan.tls_players:
        turns: dict[str, list[Turn]] = {mode: [] for mode in MODES}
        costs = []
        for turn in range(plan.repeats):
            say(f"segments: {players} players, turn {turn + 1} of {plan.repeats}")
            idle = idle_share(server, 2)
            costs.append(request_cost(server))
            for mode in MODES:
                turns[mode].append(play(lab, server, mode, players, max(4.0, plan.seconds), idle))
        rows += [row for mode in NAMES for row in rows_of(f"{NAMES[mode]}, {players:,} players", turns[mode], turns["hls"], costs, plan)]
    publisher.stop()
    server.process.stop()
    return rows


def rows_of(work: str, turns: list[Turn], hls: list[Turn], costs: list[float], plan: Plan) -> list[Row]:
    pairs = [quotient(*each) for each in zip(turns, hls, costs)]
    failed = sum(turn.failed for turn in turns)
    requests = median(turn.requests / turn.seconds for turn in turns)
    note = (f"in the floor's column and the ratio: HLS's cost a byte and {median(costs) * 1e6:.1f} us for each of {requests:.0f} requests a second; "
            f"{median(turn.cpu_s / turn.requests for turn in turns) * 1e6:.1f} us of CPU a request in all")
    per_gb = [turn.cpu_s / turn.bytes * 1e9 for turn in turns]
    ratio = median(pairs)
    return [Row(work, "CPU-s/GB", median(per_gb), median(per_gb) / ratio, "-", ratio, "<= 1.2 x HLS and its requests", ratio <= 1.2 * plan.slack, note,
                {"turns": [turn.__dict__ for turn in turns], "hls": [turn.__dict__ for turn in hls]}, plan.command, pairs=pairs),
            Row(work, "players that failed", failed, target="none", met=failed == 0, command=plan.command)]
