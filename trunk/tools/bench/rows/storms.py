"""Join storms: 5,000 players within a second, over RTMP, HTTP-FLV and HTTPS-FLV (with resumed sessions), while 200 others play; then 2,000 that leave at once. Measured: the time to the
first frame, by the load program; the distance of the 200 to their leader; and the delay of the server's own loop, from its histogram."""

import json
import re
import subprocess
import time
import urllib.request
from pathlib import Path

import clients
from harness import LOAD_CORE, BenchError, Lab
from plan import Plan, say
from report import Row
from servers import WINDOW_MS, Server, start_ours

STREAM = "bench"
JOINS, LEAVES, OTHERS = 5000, 2000, 200
PAUSE_S = 0.002
LIMITS_MS = {"rtmp": 60, "flv": 60, "https": 250}
NAMES = {"rtmp": "RTMP", "flv": "HTTP-FLV", "https": "HTTPS-FLV"}


def url_of(server: Server, mode: str) -> str:
    if mode == "rtmp":
        return f"rtmp://127.0.0.1:{server.port}/live/{STREAM}"
    port = server.https_port if mode == "https" else server.http_port
    return f"{'https' if mode == 'https' else 'http'}://127.0.0.1:{port}/live/{STREAM}.flv"


def lags(exporter: int) -> dict[float, int]:
    """The loop's lags up to now: the count up to each limit, in seconds."""
    with urllib.request.urlopen(f"http://127.0.0.1:{exporter}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {float(limit): int(float(count)) for limit, count in re.findall(r'^millrace_loop_lag_seconds_bucket\{.*?le="([^"]+)"\} (\S+)', text, re.M)}


def pauses(before: dict[float, int], after: dict[float, int]) -> tuple[int, str]:
    """The lags above PAUSE_S between two readings, and the limits of the longest as text."""
    new = {limit: after[limit] - before.get(limit, 0) for limit in sorted(after)}
    total, short = new[float("inf")], max(count for limit, count in new.items() if limit <= PAUSE_S)
    longest = next(limit for limit, count in new.items() if count == total)
    return total - short, f"the longest up to {longest * 1000:g} ms"


def storm(lab: Lab, server: Server, mode: str, count: int, seconds: float, result: Path):
    program = "sb_rtmp_load" if mode == "rtmp" else "sb_flv_load"
    # Its log, a line per client, would fill a pipe that is not read, and stop the program.
    into_file = ["sh", "-c", 'exec "$@" >"$0"', f"{result}.log"]
    return lab.start(program, [*into_file, lab.tool(program), "-c", count, "-r", url_of(server, mode), "--ramp", count, "-t", 1, "--seconds", seconds, "--json", result,
                               *(["--resume"] if mode == "https" else [])], LOAD_CORE)


def ended(load, result: Path) -> dict:
    try:
        load.child.communicate(timeout=90)
    except subprocess.TimeoutExpired:
        raise BenchError(f"{load.name} does not end. {load.log_tail()}") from None
    return json.loads(result.read_text())


def storms_rows(lab: Lab, plan: Plan) -> list[Row]:
    rows = []
    joins, leaves = (500, 200) if plan.smoke else (JOINS, LEAVES)
    for mode, name in NAMES.items():
        say(f"storms: {joins} join over {name} in a second")
        exporter = lab.port()
        server = start_ours(lab, https=True, root=f"exporter {{ enabled on; listen 127.0.0.1:{exporter}; }}")
        others = clients.players(lab, server, OTHERS, STREAM)
        publisher = clients.publishers(lab, server.port, STREAM)
        time.sleep(4)  # A GOP, for the players that join.
        others.tell("mark")
        before, cpu = lags(exporter), server.process.cpu_seconds()
        result = lab.folder / f"storm-{mode}.json"
        said = ended(storm(lab, server, mode, joins, 5, result), result)
        cpu = server.process.cpu_seconds() - cpu
        others.tell("report")
        behind = others.wait_event("report", 30)
        first, work = said["metrics"]["first_frame_ms"], f"{joins:,} join over {name} in a second"
        pause = pauses(before, lags(exporter))
        whole = said["failed"] == 0 and first["count"] == joins
        rows += [Row(work, "first frame p50 / p99, ms", f"{first['p50']:.0f} / {first['p99']:.0f}", target=f"p99 <= {LIMITS_MS[mode]}",
                     met=whole and first["p99"] <= LIMITS_MS[mode] * plan.slack, details={"load": said["metrics"]}, command=plan.command,
                     note=f"{first['count']} began, {said['failed']} failed; {cpu:.2f} s of CPU for the joins, 5 s of play and the leave; the load program has one core for all handshakes" + (", with resumption" if mode == "https" else "")),
                 Row(work, "others behind their leader max, ms", behind["lag_ms_max"], target=f"<= {2 * WINDOW_MS}",
                     met=behind["lag_ms_max"] <= 2 * WINDOW_MS * plan.slack and behind["failed"] == 0, command=plan.command),
                 Row(work, "lags of the loop over 2 ms", pause[0], note=pause[1], command=plan.command)]
        rows.append(leave_row(lab, server, mode, leaves, exporter, plan))
        for process in (publisher, others, server.process):
            process.stop()
    return rows


def leave_row(lab: Lab, server: Server, mode: str, count: int, exporter: int, plan: Plan) -> Row:
    say(f"storms: {count} leave at once")
    result = lab.folder / f"leave-{mode}.json"
    load = storm(lab, server, mode, count, 5, result)
    time.sleep(4)
    before = lags(exporter)
    ended(load, result)
    time.sleep(0.5)
    late, longest = pauses(before, lags(exporter))
    return Row(f"{count:,} leave {NAMES[mode]} at once", "lags of the loop over 2 ms", late, target="none", met=late == 0, note=longest, command=plan.command)
