"""Several workers: two on two cores beside one on one, each core with a load of the same cost beside its worker, and twice the players; and what a worker
takes that has nothing to do. On a machine of two cores the load shares them with the server, so that only processor time is compared."""

import json
import sys
import time
import urllib.request
from statistics import median

import clients
import whep
from harness import LOAD_CORE, SERVER_CORE, BenchError, Lab
from report import Row
from servers import Server, start_ours

PLAYERS = 300  # Of each worker.
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


def start(lab: Lab, workers: int) -> Server:
    server = start_ours(lab, rtc=True, https=True, workers=workers)
    deadline = time.monotonic() + 20
    while len(pids_of(server)) < workers:
        if time.monotonic() > deadline:
            raise BenchError(f"of {workers} workers some do not answer. {server.process.log_tail()}")
        time.sleep(0.1)
    return server


def whep_turn(lab: Lab, workers: int, seconds: float) -> whep.Turn:
    server = start(lab, workers)
    pids = pids_of(server)
    began = time.monotonic()
    loads = [whep.start_rtc(lab, f"play{core}", whep.url_of(server, "whep"), "-c", PLAYERS, "--ramp", 200, "--skip-decryption", "--no-twcc", core=core)
             for core in (SERVER_CORE, LOAD_CORE)[:workers]]
    time.sleep(PLAYERS / 200 + 2)
    publisher = clients.publishers(lab, server.port, whep.STREAM)
    time.sleep(SETTLE_S)
    first, before = time.monotonic(), cpu_seconds(pids)
    time.sleep(seconds)
    cpu, last = cpu_seconds(pids) - before, time.monotonic()
    said = [whep.end_rtc(*load) for load in loads]
    publisher.stop()
    server.process.stop()
    mbps = sum(whep.mbps_of(result, first - began, last - began) for _, result in loads)
    return whep.Turn(cpu, mbps * 125_000 * (last - first), last - first, said={"failed": sum(one["failed"] for one in said)})


def https_turn(lab: Lab, workers: int, seconds: float) -> whep.Turn:
    server = start(lab, workers)
    pids = pids_of(server)
    loads = [clients.players(lab, server, PLAYERS, whep.STREAM, "https", core=core) for core in (SERVER_CORE, LOAD_CORE)[:workers]]
    publisher = clients.publishers(lab, server.port, whep.STREAM)
    time.sleep(SETTLE_S)
    for load in loads:
        load.tell("mark")
    before = cpu_seconds(pids)
    time.sleep(seconds)
    cpu = cpu_seconds(pids) - before
    for load in loads:
        load.tell("report")
    got = [load.wait_event("report", 30) for load in loads]
    publisher.stop()
    ends = [clients.end(load) for load in loads]
    server.process.stop()
    return whep.Turn(cpu, sum(one["window_bytes"] for one in got), got[0]["seconds"], said={"failed": sum(one["failed"] for one in ends)})


def rows_of(kind: str, turn, lab: Lab, plan) -> list[Row]:
    print(f"workers: {PLAYERS} players of {kind} for each of one and two workers", file=sys.stderr, flush=True)
    turns = [(turn(lab, 2, plan.seconds), turn(lab, 1, plan.seconds)) for _ in range(plan.repeats)]
    ratio = median(two.per_gb / one.per_gb for two, one in turns)
    got = median(two.bytes / one.bytes for two, one in turns)
    failed = sum(each.said["failed"] for pair in turns for each in pair)
    complete = failed == 0 and got > 1.9
    work = f"{kind} play, two workers with {PLAYERS} players each"
    note = "in the column of the floor is one worker with as many as one of them; the second one also receives and encodes the stream again"
    details = {"turns": [[each.__dict__ for each in pair] for pair in turns], "got": got, "failed": failed}
    return [Row(work, "CPU-s/GB, and of one worker", median(two.per_gb for two, _ in turns), median(one.per_gb for _, one in turns), "-", ratio, "<= 1.05 x one worker",
                complete and ratio <= 1.05 * plan.slack, note, details, plan.command),
            Row(work, "players at the same load, x one worker", 2 / ratio, target=">= 1.9", met=complete and 2 / ratio >= 1.9 / plan.slack, command=plan.command)]


def workers_rows(lab: Lab, plan) -> list[Row]:
    rows = rows_of("WHEP", whep_turn, lab, plan) + rows_of("HTTPS-FLV", https_turn, lab, plan)
    server = start(lab, 2)
    time.sleep(3)
    rest = max(private_mib(pid) for pid in pids_of(server))
    server.process.stop()
    return [*rows, Row("a worker at rest", "memory of its own, MiB", rest, target=f"<= {REST_MIB}", met=rest <= REST_MIB, command=plan.command)]
