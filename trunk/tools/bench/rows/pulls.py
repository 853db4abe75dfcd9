"""Native pulls of cameras: those of rtsp_cameras.cpp, beside a loop that only reads the same bytes from as many plain sockets. Server and floor share the
core at the same time."""

import json
import sys
import time
import urllib.request
from statistics import median

from harness import SERVER_CORE, BenchError, Lab, Process
from report import Row
from servers import start_ours
from srt import CLIP, SETTLE_S, Turn

TIMES_FLOOR_MAX = 2.0
PULLS, PULLS_SMOKE = 500, 50


def ingest_of(number: int, port: int) -> str:
    return (f"ingest c{number} {{ enabled on; input {{ type stream; url rtsp://127.0.0.1:{port}/c{number}; transport tcp; }} "
            f"engine {{ enabled off; output rtmp://127.0.0.1:[port]/live/c{number}?vhost=[vhost]; }} }}\n")


def check_running(api_port: int, pulls: int) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{api_port}/api/v1/ingests?count={pulls + 10}", timeout=10) as answer:
        found = json.load(answer)["ingests"]
    bad = [one for one in found if one["state"] != "running" or one["restarts"] or one["lost_packets"]]
    if len(found) != pulls or bad:
        raise BenchError(f"of {pulls} pulls {len(found)} are listed, and {len(bad)} do not run undisturbed: {bad[:1]}")


def window(ours: tuple[Process, Process], floor: tuple[Process, Process], seconds: float) -> list[Turn]:
    """Of the server and the floor, each with its load."""
    time.sleep(SETTLE_S)
    before = []
    for measured, load in (ours, floor):
        load.tell("mark")
        before.append(measured.cpu_seconds())
    time.sleep(seconds)
    turns = []
    for (measured, load), began in zip((ours, floor), before):
        cpu = measured.cpu_seconds() - began
        load.tell("report")
        got = load.wait_event("report", 30)
        if got["failed"]:
            raise BenchError(f"{got['failed']} connections have ended")
        turns.append(Turn(cpu, got["window_bytes"], got["seconds"], int(got["missing"])))
    return turns


def pair(lab: Lab, pulls: int, seconds: float) -> list[Turn]:
    clip, camera_port, floor_port = lab.other_clip(CLIP), lab.port(), lab.port()
    floor = lab.load("floor", SERVER_CORE, mode="read", port=floor_port, clients=pulls)
    floor.wait_event("listening", 10)
    senders = lab.load("rtsp_cameras", mode="senders", port=floor_port, clients=pulls, clip=clip)
    cameras = lab.load("rtsp_cameras", mode="cameras", port=camera_port, clients=pulls, clip=clip)
    cameras.wait_event("listening", 10)
    server = start_ours(lab, vhost="".join(ingest_of(i, camera_port) for i in range(pulls)))
    for one in (senders, cameras):
        one.wait_event("ready", 60)
    turns = window((server.process, cameras), (floor, senders), seconds)
    check_running(server.api_port, pulls)
    for one in (server.process, cameras, senders, floor):
        one.stop()
    return turns


def pulls_rows(lab: Lab, plan) -> list[Row]:
    pulls = PULLS_SMOKE if plan.smoke else PULLS
    print(f"pulls: {pulls} cameras by RTSP", file=sys.stderr, flush=True)
    pairs = [pair(lab, pulls, plan.seconds) for _ in range(plan.repeats)]
    ratio = median(ours.per_gb / floor.per_gb for ours, floor in pairs)
    work = f"RTSP pulls, {pulls} x 2 Mbps"
    return [Row(work, "CPU-s/GB", median(ours.per_gb for ours, _ in pairs), median(floor.per_gb for _, floor in pairs), "-", ratio,
                f"<= {TIMES_FLOOR_MAX:.2f} x floor", ratio <= TIMES_FLOOR_MAX * plan.slack,
                "the floor reads the same bytes from as many plain sockets when they arrive, and does not look at them", command=plan.command,
                details={"ours": [ours.__dict__ for ours, _ in pairs], "floor": [floor.__dict__ for _, floor in pairs]}),
            Row(work, "core used, %", median(ours.cpu_s / ours.seconds for ours, _ in pairs) * 100, command=plan.command)]
