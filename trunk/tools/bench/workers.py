"""Several workers: two on two cores beside two servers of one worker, a core each, with the same players and the same load on both cores; and the memory of an idle
worker. Work costs more CPU time while the other core is busy, too (caches, memory, siblings of one core, wake-ups across cores), with workers or without:
so one worker beside an idle core is measured as well, and not judged. On a machine of two cores the load shares them with the server, so that only processor time is
compared."""

import json
import sys
import time
import urllib.request
from dataclasses import dataclass
from statistics import median

import clients
import whep
from harness import LOAD_CORE, SERVER_CORE, BenchError, Lab, Process
from report import Row
from servers import Server, start_ours

CORES = (SERVER_CORE, LOAD_CORE)
# Per worker: enough to make the cost of the stream itself, which the second worker receives and encodes again, small.
PLAYERS = {"WHEP": 300, "HTTPS-FLV": 2000}
SETTLE_S = 6.0
REST_MIB = 16


def pids_of(server: Server) -> list[int]:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.api_port}/api/v1/summaries", timeout=5) as answer:
        data = json.load(answer)["data"]
    return [one["pid"] for one in data.get("workers", [])] or [server.process.child.pid]


def cpu_seconds(pids: list[int]) -> float:
    total = 0
    for pid in pids:
        for line in open(f"/proc/{pid}/schedstat", encoding="utf-8"):  # the loop's thread; the others look up names and read files
            total += int(line.split()[0])
    return total / 1e9


def private_mib(pid: int) -> float:
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as rows:
        return sum(int(row.split()[1]) for row in rows if row.startswith("Private_")) / 1024


def start(lab: Lab, workers: int, core: int = SERVER_CORE) -> Server:
    server = start_ours(lab, rtc=True, https=True, workers=workers, core=core)
    deadline = time.monotonic() + 20
    while len(pids_of(server)) < workers:
        if time.monotonic() > deadline:
            raise BenchError(f"of {workers} workers some do not answer. {server.process.log_tail()}")
        time.sleep(0.1)
    return server


@dataclass
class Stage:
    """Servers, and loads with half of a worker's players each: two loads on each core, so that both have players of both workers or servers."""
    servers: list[Server]
    loads: list[tuple[Server, int]]  # and its core

    @property
    def pids(self) -> list[int]:
        return [pid for server in self.servers for pid in pids_of(server)]


def two_workers(lab: Lab) -> Stage:
    server = start(lab, 2)
    return Stage([server], [(server, core) for core in CORES for _ in range(2)])


def two_servers(lab: Lab) -> Stage:
    servers = [start(lab, 1, core) for core in CORES]
    return Stage(servers, [(server, core) for core in CORES for server in servers])


def one_server(lab: Lab) -> Stage:
    server = start(lab, 1)
    return Stage([server], [(server, core) for core in CORES])


def begin_publishing(lab: Lab, stage: Stage) -> list[Process]:
    return [clients.publishers(lab, server.port, whep.STREAM) for server in stage.servers]


def end(stage: Stage, publishers: list[Process]) -> None:
    for process in [*publishers, *(server.process for server in stage.servers)]:
        process.stop()


def whep_turn(lab: Lab, stage: Stage, players: int, seconds: float) -> whep.Turn:
    pids, began = stage.pids, time.monotonic()
    loads = [whep.start_rtc(lab, f"play{core}", whep.url_of(server, "whep"), "-c", players // 2, "--ramp", 100, "--skip-decryption", "--no-twcc", core=core)
             for server, core in stage.loads]
    time.sleep(players / 200 + 2)
    publishers = begin_publishing(lab, stage)
    time.sleep(SETTLE_S)
    first, before = time.monotonic(), cpu_seconds(pids)
    time.sleep(seconds)
    cpu, last = cpu_seconds(pids) - before, time.monotonic()
    said = [whep.end_rtc(*load) for load in loads]
    end(stage, publishers)
    mbps = sum(whep.mbps_of(result, first - began, last - began) for _, result in loads)
    return whep.Turn(cpu, mbps * 125_000 * (last - first), last - first, said={"failed": sum(one["failed"] for one in said)})


def https_turn(lab: Lab, stage: Stage, players: int, seconds: float) -> whep.Turn:
    pids = stage.pids
    # Players come while the stream runs, as they do: then the times in their tags are their own, at each worker and each server. Those that wait for a
    # publisher share the stream's, which begin at zero, but not always at a worker that has the stream from another one.
    publishers = begin_publishing(lab, stage)
    time.sleep(2)
    loads = [clients.players(lab, server, players // 2, whep.STREAM, "https", core=core) for server, core in stage.loads]
    time.sleep(SETTLE_S)
    for load in loads:
        load.tell("mark")
    before = cpu_seconds(pids)
    time.sleep(seconds)
    cpu = cpu_seconds(pids) - before
    for load in loads:
        load.tell("report")
    got = [load.wait_event("report", 30) for load in loads]
    ends = [clients.end(load) for load in loads]
    end(stage, publishers)
    return whep.Turn(cpu, sum(one["window_bytes"] for one in got), got[0]["seconds"], said={"failed": sum(one["failed"] for one in ends)})


def rows_of(kind: str, turn, lab: Lab, plan) -> list[Row]:
    players = PLAYERS[kind]
    print(f"workers: {players} players of {kind} for each of two", file=sys.stderr, flush=True)
    turns = [[turn(lab, stage(lab), players, plan.seconds) for stage in (two_workers, two_servers, one_server)] for _ in range(plan.repeats)]
    ratio, beside_idle = (median(row[0].per_gb / row[i].per_gb for row in turns) for i in (1, 2))
    got = median(two.bytes / servers.bytes for two, servers, _ in turns)
    failed = sum(each.said["failed"] for row in turns for each in row)
    complete = failed == 0 and got > 0.95
    work = f"{kind} play, two workers with {players:,} players each"
    details = {"turns": [[each.__dict__ for each in row] for row in turns], "got": got, "failed": failed}
    mine, servers, alone = (median(row[i].per_gb for row in turns) for i in range(3))
    return [Row(work, "CPU-s/GB, and of two servers of one worker", mine, servers, "-", ratio, "<= 1.05 x two servers", complete and ratio <= 1.05 * plan.slack,
                "in the column of the floor are two servers that know nothing of each other, a core each, with a publisher and as many players each; of the workers one gets the stream from the other",
                details, plan.command),
            Row(work, "players at the same load, x one worker", 2 / ratio, target=">= 1.9", met=complete and 2 / ratio >= 1.9 / plan.slack, command=plan.command),
            Row(work, "CPU-s/GB, and of one worker beside an idle core", mine, alone, "-", beside_idle,
                note="what a second busy core costs this machine is in it, with workers or without: not judged", command=plan.command)]


def workers_rows(lab: Lab, plan) -> list[Row]:
    rows = rows_of("WHEP", whep_turn, lab, plan) + rows_of("HTTPS-FLV", https_turn, lab, plan)
    server = start(lab, 2)
    time.sleep(3)
    rest = max(private_mib(pid) for pid in pids_of(server))
    server.process.stop()
    return [*rows, Row("a worker at rest", "memory of its own, MiB", rest, target=f"<= {REST_MIB}", met=rest <= REST_MIB, command=plan.command)]
