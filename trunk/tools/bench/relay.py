"""The relay: what a hop from an origin to an edge adds to the delay, how long the first player of a stream waits on an edge, what a pull costs, and
a thousand of them. Origin and edge share the server core. Beside each figure stands that of a player at the origin, measured at the same
time or in turns with it."""

import json
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

import clients
from harness import LOAD_CORE, BenchError, Lab, Process
from report import Row
from servers import Server, start_ours

STREAM = "bench"
HOP_TURNS, HOP_TURN_S = 5, 12
COST_STREAMS = 100
MANY_STREAMS = 1000
# Pulls go on without players for longer than any measurement, so that no player's cost is in theirs.
LINGER_S = 600


def start_edge(lab: Lab, origin: Server, min_latency: bool = True) -> Server:
    return start_ours(lab, min_latency=min_latency, cluster=f"cluster {{ mode remote; origin 127.0.0.1:{origin.port}; linger {LINGER_S}; }}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def relay_rows(lab: Lab, plan) -> list[Row]:
    return hop_rows(lab, plan) + join_rows(lab, plan) + cost_rows(lab, plan) + many_rows(lab, plan)


def hop_turn(lab: Lab, seconds: float) -> dict[str, dict]:
    """One player at the origin and one at the edge, of the same publisher at the same time."""
    origin = start_ours(lab, min_latency=True)
    edge = start_edge(lab, origin)
    publisher = clients.publishers(lab, origin.port, STREAM, stamp=True)
    time.sleep(1)
    loads = {name: clients.players_that_look(lab, server.port, 1, STREAM) for name, server in (("origin", origin), ("edge", edge))}
    time.sleep(2)
    for load in (publisher, *loads.values()):
        load.tell("mark")
    time.sleep(seconds)
    published = clients.end(publisher)
    time.sleep(0.5)
    results = {name: clients.end(load) for name, load in loads.items()}
    for result in results.values():
        # The marks are not one moment: a frame may lie between them.
        result["frames_incomplete"] += max(0, published["stamps"] - 2 - result["frames"] - result["frames_incomplete"])
    for server in (edge, origin):
        server.process.stop()
    return results


def hop_rows(lab: Lab, plan) -> list[Row]:
    say("relay: what a hop adds")
    turns, seconds = (1, 6) if plan.smoke else (HOP_TURNS, HOP_TURN_S)
    results = [hop_turn(lab, seconds) for _ in range(turns)]
    lost = sum(turn["edge"]["frames_incomplete"] for turn in results)
    rows = []
    for quantile, limit in (("p50", 0.5), ("p99", 2.0)):
        key = f"newest_ms_{quantile}"
        direct, through = (median(turn[name][key] for turn in results) for name in ("origin", "edge"))
        added = median(turn["edge"][key] - turn["origin"][key] for turn in results)
        rows.append(Row("a relay hop, min_latency on", f"added {quantile}, ms", added, target=f"<= {limit}",
                        met=lost == 0 and added <= limit * plan.slack,
                        note=f"to a player at the edge {through:.2f}, at the origin {direct:.2f}" + (f"; {lost} frames did not arrive" if lost else ""),
                        details={} if rows else {"turns": results}, command=plan.command))
    return rows


def join_times(lab: Lab, server: Server, streams: int) -> dict:
    """Each player is the first of its stream, ten a second; percentiles of the time from its beginning to its first frame."""
    result = lab.folder / "join.json"
    load = lab.start("sb_rtmp_load", [lab.tool("sb_rtmp_load"), "-c", streams, "-r", f"rtmp://127.0.0.1:{server.port}/live/s{{i}}", "-t", 1, "--ramp", 10,
                                      "--seconds", streams / 10 + 2, "--json", result], LOAD_CORE)
    try:
        load.child.communicate(timeout=streams / 10 + 40)
    except subprocess.TimeoutExpired:
        raise BenchError(f"sb_rtmp_load does not end. {load.log_tail()}") from None
    said = json.loads(result.read_text())
    result.unlink()
    return said["metrics"]["first_frame_ms"]


def join_rows(lab: Lab, plan) -> list[Row]:
    streams = 20 if plan.smoke else 50
    say(f"relay: {streams} cold joins")
    origin = start_ours(lab, min_latency=True)
    publishers = clients.publishers(lab, origin.port, "s", streams, 50)
    time.sleep(3)  # Every stream has a GOP to begin with.
    turns = []
    for _ in range(1 if plan.smoke else plan.repeats):
        edge = start_edge(lab, origin)
        turns.append({"edge": join_times(lab, edge, streams), "origin": join_times(lab, origin, streams)})
        edge.process.stop()
    for process in (publishers, origin.process):
        process.stop()
    missing = sum(streams - turn["edge"]["count"] for turn in turns)
    rows = []
    for quantile in ("p50", "p99"):
        cold, direct = (median(turn[name][quantile] for turn in turns) for name in ("edge", "origin"))
        rows.append(Row(f"a cold join on an edge, {streams} streams", f"first frame {quantile}, ms", cold, target="<= 50",
                        met=missing == 0 and cold <= 50 * plan.slack, note=f"at the origin {direct:.2f}" + (f"; {missing} did not play" if missing else ""),
                        details={} if rows else {"turns": turns}, command=plan.command))
    return rows


def pulls_of(edge: Server) -> list[dict]:
    with urllib.request.urlopen(f"http://127.0.0.1:{edge.api_port}/api/v1/clusters", timeout=10) as answer:
        return json.load(answer)["data"]["pulls"]


def start_pulls(lab: Lab, edge: Server, streams: int, ramp: float) -> None:
    """Players begin the pulls and leave; the pulls stay."""
    load = clients.start(lab, "sb_rtmp_load_fast", f"rtmp://127.0.0.1:{edge.port}/live/s{{i}}", streams, ramp)
    load.wait_event("ready", 60 + streams / ramp)
    ended = clients.end(load)
    states = [pull["origin"]["state"] for pull in pulls_of(edge)]
    if ended["failed"] or states != ["playing"] * streams:
        raise BenchError(f"{ended['failed']} of {streams} players failed; {states.count('playing')} of {len(states)} pulls play: {load.log_path.read_text()[-500:]}")


@dataclass
class Costs:
    """Seconds of CPU over the same window."""
    origin: float  # Publishers, and another node that pulls them all.
    edge: float  # That node.
    played: float  # Publishers, and a player of each.
    published: float  # Publishers alone.
    seconds: float

    @property
    def pull(self) -> float:
        return self.origin - self.published + self.edge

    @property
    def direct(self) -> float:
        """A player at the origin, and a publisher as the edge would have it: (played - published) + published."""
        return self.played


def cost_windows(lab: Lab, plan, streams: int, min_latency: bool) -> list[Costs]:
    origin, played, published = (start_ours(lab, min_latency=min_latency) for _ in range(3))
    edge = start_edge(lab, origin, min_latency)
    servers = (origin, edge, played, published)
    publishers = [clients.publishers(lab, server.port, "s", streams, 100) for server in (origin, played, published)]
    players = clients.start(lab, "sb_rtmp_load_fast", f"rtmp://127.0.0.1:{played.port}/live/s{{i}}", streams, 100)
    players.wait_event("ready", 60)
    start_pulls(lab, edge, streams, 100)
    time.sleep(3)
    windows = []
    for _ in range(plan.repeats):
        before, began = [server.process.cpu_seconds() for server in servers], time.monotonic()
        time.sleep(plan.seconds)
        used = [server.process.cpu_seconds() - cpu for server, cpu in zip(servers, before)]
        windows.append(Costs(*used, seconds=time.monotonic() - began))
    if len(pulls_of(edge)) != streams:
        raise BenchError("pulls have ended meanwhile")
    for process in (players, *publishers, *(server.process for server in reversed(servers))):
        process.stop()
    return windows


def cost_rows(lab: Lab, plan) -> list[Row]:
    streams = COST_STREAMS // 2 if plan.smoke else COST_STREAMS
    rows = []
    for min_latency in (True, False):
        say(f"relay: the cost of {streams} pulls, min_latency {'on' if min_latency else 'off'}")
        windows = cost_windows(lab, plan, streams, min_latency)
        ratio = median(window.pull / window.direct for window in windows)

        def each(name: str, of: list[Costs] = windows) -> float:
            return median(getattr(window, name) / window.seconds for window in of) / streams * 100

        work = f"a pull, {streams} streams, " + ("min_latency on" if min_latency else "players' writes merged")
        note = f"% of a core: at the origin {each('origin') - each('published'):.3f}, on the edge {each('edge'):.3f}; a player {each('played') - each('published'):.3f}, " \
               f"a publisher {each('published'):.3f}" + ("" if min_latency else "; packets go to the edge every 50 ms, to players every 350 ms")
        rows.append(Row(work, "% of a core, and a player at the origin with a publisher at the edge", each("pull"), each("direct"), "-", ratio,
                        "<= 1.2 x these", ratio <= 1.2 * plan.slack, note,
                        {"windows": [window.__dict__ for window in windows]}, plan.command))
    return rows


def many_rows(lab: Lab, plan) -> list[Row]:
    streams = 200 if plan.smoke else MANY_STREAMS
    say(f"relay: {streams} relayed streams")
    clip, lab.clip = lab.clip, lab.other_clip("small")
    try:
        return many_rows_of(lab, plan, streams)
    finally:
        lab.clip = clip


def many_rows_of(lab: Lab, plan, streams: int) -> list[Row]:
    origin = start_ours(lab)
    edge = start_edge(lab, origin, min_latency=False)
    base = {server.port: server.process.resident_kib() for server in (origin, edge)}
    publishers = clients.publishers(lab, origin.port, "s", streams, 100)
    start_pulls(lab, edge, streams, 100)
    time.sleep(3)
    shares: dict[int, list[float]] = {origin.port: [], edge.port: []}
    for _ in range(plan.repeats):
        before, began = {server.port: server.process.cpu_seconds() for server in (origin, edge)}, time.monotonic()
        time.sleep(plan.seconds)
        for server in (origin, edge):
            shares[server.port].append((server.process.cpu_seconds() - before[server.port]) / (time.monotonic() - began))
    playing = [pull["origin"]["state"] for pull in pulls_of(edge)].count("playing")
    kib = {server.port: (server.process.resident_kib() - base[server.port]) / streams for server in (origin, edge)}
    late = window_of(publishers)["late_ms_max"]
    for process in (publishers, edge.process, origin.process):
        process.stop()
    work, gop_kib = f"{streams:,} relayed streams of {lab.facts_of(lab.clip)['kbps']:.0f} kbps", lab.facts_of(lab.clip)["gop_bytes_max"] / 1024
    at_origin, at_edge = (median(shares[server.port]) * 100 for server in (origin, edge))
    note = f"the load sent up to {late:.0f} ms late: the machine was too busy to judge" if late > 250 else ""
    return [Row(work, "pulls that play", playing, target=f"{streams}", met=playing == streams, command=plan.command),
            Row(work, "edge: % of a core a stream, and origin with its publisher", at_edge / streams, at_origin / streams, "-", at_edge / at_origin, note=note,
                details={"edge": shares[edge.port], "origin": shares[origin.port]}, command=plan.command),
            Row(work, "edge: memory a stream, KiB, and origin", kib[edge.port], kib[origin.port], "-", kib[edge.port] / kib[origin.port],
                f"<= 64 beyond a GOP ({gop_kib:.0f})", kib[edge.port] <= (64 + gop_kib) * plan.slack, command=plan.command)]


def window_of(load: Process) -> dict:
    load.tell("report")
    return load.wait_event("report", 30)
