"""WebRTC play: players of sb_rtc_load over real ICE, DTLS and SRTP, beside the floor that encrypts and sends the same packets (srtp_floor.cpp);
what a join and a session cost; and the delay from a WHIP publisher to a hundred WHEP players. Server and floor take turns on the core."""

import csv
import json
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import clients
from harness import LOAD_CORE, SERVER_CORE, BenchError, Lab, Process
from report import Row
from servers import Server, start_ours

STREAM = "bench"
SETTLE_S = 6.0  # The server measures each player's link.
RAMP = 1000  # The target for one core.
JOIN_LIMIT_S = 30
STREAM_KIB = 4096  # Memory of the stream: both lanes and packets kept for retransmission.
DELAY_PLAYERS = 100


def start_rtc(lab: Lab, name: str, url: str, *words, core: int = LOAD_CORE) -> tuple[Process, Path]:
    result = lab.folder / f"rtc-{name}-{len(lab.children)}"
    # Its log, a line per client, would fill a pipe that is not read.
    into_file = ["sh", "-c", 'exec "$@" >"$0"', f"{result}.log"]
    command = [*into_file, lab.tool("sb_rtc_load"), "-r", url, "--json", f"{result}.json", "--csv", f"{result}.csv", *words]
    return lab.start(f"sb_rtc_load-{name}", command, core), result


def end_rtc(load: Process, result: Path, limit_s: float = 60) -> dict:
    load.child.send_signal(signal.SIGINT)
    try:
        load.child.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise BenchError(f"sb_rtc_load does not end. {load.log_tail()}") from None
    said = json.loads(Path(f"{result}.json").read_text())
    said.pop("per_client", None)
    return said


def mbps_of(result: Path, first: float, last: float) -> float:
    """The mean rate between two times, in seconds since the program began."""
    with open(f"{result}.csv", encoding="utf-8") as rows:
        rates = [float(row["in_mbps"]) for row in csv.DictReader(rows) if first + 1 <= float(row["second"]) <= last]
    if not rates:
        raise BenchError("sb_rtc_load kept no figures for the window")
    return sum(rates) / len(rates)


def url_of(server: Server, what: str, stream: str = STREAM) -> str:
    return f"http://127.0.0.1:{server.api_port}/rtc/v1/{what}/?app=live&stream={stream}"


@dataclass
class Turn:
    cpu_s: float
    bytes: float
    seconds: float
    kib_each: float = 0.0
    joins_per_s: float = 0.0  # Of a whole core.
    said: dict | None = None
    joined_per_s: float = 0.0  # By the clock.

    @property
    def per_gb(self) -> float:
        return self.cpu_s / (self.bytes / 1e9)

    @property
    def share(self) -> float:
        return self.cpu_s / self.seconds


def warm_up(lab: Lab, server: Server) -> None:
    """Libraries that the server loads for the first player of a stream stay loaded and do not count."""
    publisher = clients.publishers(lab, server.port, STREAM)
    load, result = start_rtc(lab, "warm", url_of(server, "whep"), "-s", 0, "--skip-decryption")
    time.sleep(3)
    end_rtc(load, result)
    publisher.stop()
    time.sleep(0.5)


def joined(server: Server, players: int) -> bool:
    """Reports whether all players are connected and the server has released the DTLS objects of their handshakes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.api_port}/api/v1/memory", timeout=5) as answer:
        kinds = json.load(answer)["data"]["kinds"]
    return kinds["rtc_engines"]["objects"] >= players and kinds["rtc_dtls"]["objects"] == 0


def wait_until_joined(server: Server, players: int, load: Process) -> None:
    deadline = time.monotonic() + JOIN_LIMIT_S
    while not joined(server, players):
        if time.monotonic() > deadline:
            raise BenchError(f"after {JOIN_LIMIT_S} s there are fewer than {players} players. {load.log_tail()}")
        time.sleep(0.05)


def our_turn(lab: Lab, players: int, seconds: float, *words) -> Turn:
    """All players join before there is media, to measure the cost of joins separately."""
    server = start_ours(lab, rtc=True)
    warm_up(lab, server)
    process, base_kib, before = server.process, server.process.resident_kib(), server.process.cpu_seconds()
    began = time.monotonic()
    load, result = start_rtc(lab, "play", url_of(server, "whep"), "-c", players, "--ramp", RAMP, "--skip-decryption", *words)
    time.sleep(players / RAMP)
    wait_until_joined(server, players, load)
    joining, cpu_of_joins = time.monotonic() - began, process.cpu_seconds() - before
    publisher = clients.publishers(lab, server.port, STREAM)
    time.sleep(SETTLE_S)
    first, before = time.monotonic(), process.cpu_seconds()
    time.sleep(seconds)
    cpu, last = process.cpu_seconds() - before, time.monotonic()
    kib = process.resident_kib()
    said = end_rtc(load, result)
    publisher.stop()
    process.stop()
    mbps = mbps_of(result, first - began, last - began)
    return Turn(cpu, mbps * 125_000 * (last - first), last - first, max(0.0, kib - base_kib - STREAM_KIB) / players, players / cpu_of_joins, said, players / joining)


def floor_turn(lab: Lab, players: int, seconds: float) -> Turn:
    port = lab.port()
    floor = lab.load("srtp_floor", SERVER_CORE, mode="send", port=port, clients=players, clip=lab.clip)
    floor.wait_event("listening", 10)
    sink = lab.load("srtp_floor", mode="sink", port=port, clients=players)
    sink.wait_event("ready", 60)
    floor.wait_event("ready", 60)
    time.sleep(2)
    sink.tell("mark")
    before = floor.cpu_seconds()
    time.sleep(seconds)
    cpu = floor.cpu_seconds() - before
    sink.tell("report")
    got = sink.wait_event("report", 30)
    floor.stop()
    sink.stop()
    return Turn(cpu, got["window_bytes"], got["seconds"], said=got)


def rows_of_play(players: int, ours: list[Turn], silent: list[Turn], floors: list[Turn], plan) -> list[Row]:
    """The target applies to players that only listen, as the floor's do."""
    ratio = median(a.per_gb / b.per_gb for a, b in zip(silent, floors))
    reporting = median(a.per_gb / b.per_gb for a, b in zip(ours, floors))
    share = median(turn.share for turn in silent)
    a_core = players / share
    said = [turn.said for turn in ours + silent]
    failed, lost = sum(one["failed"] for one in said), max(one["metrics"]["lost_packets"]["max"] for one in said)
    blind = max(players - one["metrics"]["first_frame_ms"]["count"] for one in said)
    # A player that skips to a later key frame receives less than the stream.
    got = min(median(turn.bytes / turn.seconds for turn in turns) for turns in (ours, silent)) / median(turn.bytes / turn.seconds for turn in floors)
    complete = failed == lost == blind == 0 and got > 0.9
    work = f"WHEP play, {players:,} players"
    details = {"ours": [turn.__dict__ for turn in ours], "silent": [turn.__dict__ for turn in silent], "floor": [turn.__dict__ for turn in floors]}
    kib, joins = median(turn.kib_each for turn in ours), median(turn.joins_per_s for turn in ours + silent)
    clock = median(turn.joined_per_s for turn in ours + silent)
    judged = players >= 2000 or plan.smoke
    return [Row(work, "CPU-s/GB", median(turn.per_gb for turn in silent), median(turn.per_gb for turn in floors), "-", ratio, "<= 1.30 x floor",
                ratio <= 1.3 * plan.slack, "players that listen and send a receiver report a second; ours encrypts by the multi-buffer library where the build has it, the floor by OpenSSL", details, plan.command),
            Row(f"{work} that report arrivals", "CPU-s/GB", median(turn.per_gb for turn in ours), ratio=reporting, note="ten reports a second from each, as of browsers; nobody reports to the floor",
                command=plan.command),
            Row(f"{work} that report arrivals", "core used, %", median(turn.share for turn in ours) * 100, command=plan.command),
            Row(work, "core used, %", share * 100, median(turn.share for turn in floors) * 100, command=plan.command),
            Row(work, "players that a core would hold", a_core, players / median(turn.share for turn in floors), target=">= 2,300" if judged else "",
                met=a_core >= 2300 / plan.slack if judged else None, command=plan.command),
            Row(work, "undelivered", f"{failed} failed, {blind} saw nothing, {lost:.0f} packets lost at most by one, {got:.0%} of the floor's bytes",
                target="nothing, > 90 %", met=complete, command=plan.command),
            Row(work, "memory a player, KiB", kib, target="<= 24 (beyond 4 MiB for the stream)", met=kib <= 24 * plan.slack, command=plan.command),
            Row(work, "joins a second of a core", joins, target=">= 1,000", met=joins >= 1000 / plan.slack, note=f"they came at {clock:,.0f} a second", command=plan.command)]


def delay_rows(lab: Lab, plan) -> list[Row]:
    print(f"whep: delay, {DELAY_PLAYERS} players", file=sys.stderr, flush=True)
    turns = []
    for _ in range(plan.repeats):
        server = start_ours(lab, rtc=True)
        publisher, published = start_rtc(lab, "publish", url_of(server, "whip"), "-s", 0, "-i", lab.clip, "--stamp")
        time.sleep(1)
        players, result = start_rtc(lab, "delay", url_of(server, "whep"), "-c", DELAY_PLAYERS, "--ramp", 100)
        time.sleep(4 + plan.seconds)
        turns.append(end_rtc(players, result))
        end_rtc(publisher, published)
        server.process.stop()
    work = f"delay, WHIP to WHEP, every frame of {DELAY_PLAYERS} players"
    complete = all(turn["failed"] == 0 and turn["metrics"]["delay_ms"]["count"] > 20 * DELAY_PLAYERS for turn in turns)
    rows = []
    for quantile, limit in (("p50", 1), ("p99", 5)):
        figure = median(turn["metrics"]["delay_ms"][quantile] for turn in turns)
        rows.append(Row(work, f"{quantile}, ms", figure, target=f"<= {limit}", met=complete and figure <= limit * plan.slack,
                        note="" if rows else "from the stamp in the publisher to the player's socket, from two seconds after it came on (it begins at an old key frame), on one machine",
                        details={} if rows else {"turns": turns}, command=plan.command))
    return rows


def whep_rows(lab: Lab, plan) -> list[Row]:
    rows = []
    for players in plan.whep_players:
        print(f"whep: {players} players", file=sys.stderr, flush=True)
        ours, silent, floors = [], [], []
        for _ in range(plan.repeats):
            ours.append(our_turn(lab, players, plan.seconds))
            silent.append(our_turn(lab, players, plan.seconds, "--no-twcc"))
            floors.append(floor_turn(lab, players, plan.seconds))
        rows += rows_of_play(players, ours, silent, floors, plan)
    return rows + delay_rows(lab, plan)
