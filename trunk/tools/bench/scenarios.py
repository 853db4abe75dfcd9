"""The measurements. Each function starts its processes, measures, and returns rows. The targets are those of the design
document, beside the code that checks them."""

import re
import shutil
import subprocess
import threading
import time
import urllib.request
from dataclasses import dataclass
from statistics import median

import clients
from delay import delay_rows
from harness import LOAD_CORE, SERVER_CORE, BenchError, Lab, Process
from hls import hls_rows
from ingest import ingest_rows
from pairs import pairs_rows
from plan import Plan, say
from play import SETTLE_S, STREAM, PlayResult, flv_rows, low_latency_rows, memory_row, play, play_rows, tls_rows
from relay import relay_rows
from report import Row
from rows.files import files_rows
from rows.mixed import mixed_rows
from rows.playback import playback_rows
from rows.pulls import pulls_rows
from rows.rtsp import rtsp_rows
from rows.segments import segments_rows
from rows.storms import storms_rows
from servers import STATIC_BYTES, STATIC_FILE, WINDOW_MS, Server, make_static_files, start_nginx, start_nginx_http, start_ours
from smoke import smoke_rows
from srt import srt_rows
from whep import whep_rows
from windows import Window, measure_windows
from workers import workers_rows


def requests_per_core(process: Process, url: str, seconds: float) -> float:
    """Requests answered per CPU second of the server, sent by wrk from the other core."""
    if shutil.which("wrk") is None:
        raise BenchError("wrk is not installed (Debian: apt-get install wrk)")
    before = process.cpu_seconds()
    done = subprocess.run(["taskset", "-c", str(LOAD_CORE), "wrk", "-t1", "-c50", "-H", "Connection: close", f"-d{max(1, round(seconds))}s", url],
                          capture_output=True, text=True, timeout=seconds + 30, check=True)
    cpu = process.cpu_seconds() - before
    if "Non-2xx" in done.stdout:
        raise BenchError(f"{url}: {done.stdout}")
    return int(re.search(r"(\d+) requests in", done.stdout).group(1)) / cpu


def http_rows(lab: Lab, plan: Plan) -> list[Row]:
    say("http: requests for the API and for a file")
    make_static_files(lab)
    figures: dict[str, list[float]] = {"ours/api": [], "ours/file": [], "nginx/api": [], "nginx/file": []}
    for _ in range(plan.repeats):
        server = start_ours(lab)
        figures["ours/api"].append(requests_per_core(server.process, f"http://127.0.0.1:{server.api_port}/api/v1/versions", plan.seconds))
        figures["ours/file"].append(requests_per_core(server.process, f"http://127.0.0.1:{server.http_port}/{STATIC_FILE}", plan.seconds))
        server.process.stop()
        if plan.with_nginx:
            server = start_nginx_http(lab)
            figures["nginx/api"].append(requests_per_core(server.process, f"http://127.0.0.1:{server.port}/versions", plan.seconds))
            figures["nginx/file"].append(requests_per_core(server.process, f"http://127.0.0.1:{server.port}/{STATIC_FILE}", plan.seconds))
            server.process.stop()
    rows = []
    for kind, work in (("api", "GET /api/v1/versions"), ("file", f"GET of a file of {STATIC_BYTES // 1000} kB")):
        ours = median(figures[f"ours/{kind}"])
        peer = median(figures[f"nginx/{kind}"]) if plan.with_nginx else None
        rows.append(Row(work, "requests a core-second", ours, "-", peer or "-", None, ">= 0.5 x nginx", ours >= 0.5 * peer / plan.slack if peer else None,
                        "one connection a request on both sides" if peer else "nginx not asked", figures, plan.command))
    return rows


@dataclass
class Receiving:
    """One measurement of a receiver while publishers send to it."""
    cpu_s: float
    seconds: float
    bytes: int
    late_ms: float  # The delay of the latest message of the window; a large one means that the load could not keep its pace.
    resident_kib: int

    @property
    def per_gb(self) -> float:
        return self.cpu_s / (self.bytes / 1e9) if self.bytes else float("inf")


def publish_once(lab: Lab, process: Process, port: int, streams: int, plan: Plan, raw: bool) -> Receiving:
    ramp = max(100, streams // 2)
    publishers = clients.raw_publishers(lab, port, streams, ramp) if raw else clients.publishers(lab, port, "s", streams, ramp)
    time.sleep(SETTLE_S)
    publishers.tell("mark")
    before = process.cpu_seconds()
    time.sleep(plan.seconds)
    cpu = process.cpu_seconds() - before
    publishers.tell("report")
    got = publishers.wait_event("report", 30)
    resident = process.resident_kib()
    account = clients.end(publishers)
    if account["failed"]:
        raise BenchError(f"{account['failed']} of {streams} publishers failed. {publishers.log_path.name}")
    return Receiving(cpu, got["seconds"], got["window_bytes"], got["late_ms_max"], resident)


def publish_floor(lab: Lab, streams: int, plan: Plan) -> Receiving:
    port = lab.port()
    floor = lab.load("floor", SERVER_CORE, mode="read", port=port, clients=streams)
    floor.wait_event("listening", 10)
    result = publish_once(lab, floor, port, streams, plan, raw=True)
    floor.stop()
    return result


def publish_rows(lab: Lab, plan: Plan) -> list[Row]:
    rows = []
    for streams in plan.streams:
        say(f"publish: {streams} streams")
        figures: dict[str, list[Receiving]] = {"floor": [], "mr off": [], "mr on": [], "nginx": []}
        base = 0
        for _ in range(plan.repeats):
            figures["floor"].append(publish_floor(lab, streams, plan))
            for name in ("mr off", "mr on"):
                server = start_ours(lab, mr=name == "mr on")
                base = server.process.resident_kib()
                figures[name].append(publish_once(lab, server.process, server.port, streams, plan, raw=False))
                server.process.stop()
            if plan.with_nginx:
                server = start_nginx(lab)
                figures["nginx"].append(publish_once(lab, server.process, server.port, streams, plan, raw=False))
                server.process.stop()
        rows += rows_of_publish(lab, streams, figures, base, plan)
    return rows


def ratios_of(ours: list[Receiving], other: list[Receiving]) -> list[float]:
    return [a.per_gb / b.per_gb for a, b in zip(ours, other)]


def rows_of_publish(lab: Lab, streams: int, figures: dict[str, list[Receiving]], base: int, plan: Plan) -> list[Row]:
    off, on = (ratios_of(figures[name], figures["floor"]) for name in ("mr off", "mr on"))
    ratio = median(off)
    per_gb = {name: median(r.per_gb for r in runs) if runs else "-" for name, runs in figures.items()}
    share = {name: median(r.cpu_s / r.seconds for r in runs) * 100 if runs else "-" for name, runs in figures.items()}
    has_peer = bool(figures["nginx"])
    to_peer = median(ratios_of(figures["mr on"], figures["nginx"])) if has_peer else None
    late = max(r.late_ms for runs in figures.values() for r in runs)
    note = f"the load sent up to {late:.0f} ms late: the machine was too busy to judge" if late > 250 else ""
    work = f"RTMP publish, {streams:,} streams"
    gop_kib = lab.facts_of_clip()["gop_bytes_max"] / 1024
    per_stream = median((r.resident_kib - base) / streams for r in figures["mr off"])
    details = {name: [run.__dict__ for run in runs] for name, runs in figures.items()}
    return [
        Row(work + ", mr off", "CPU-s/GB", per_gb["mr off"], per_gb["floor"], per_gb["nginx"], ratio, "<= 1.15 x floor",
            ratio <= 1.15 * plan.slack, note, details, plan.command, pairs=off),
        Row(work + ", mr on (100 ms)", "CPU-s/GB", per_gb["mr on"], per_gb["floor"], per_gb["nginx"],
            median(on), "<= 0.50 x nginx" if has_peer else "",
            to_peer <= 0.50 * plan.slack if has_peer else None, f"{to_peer:.2f} x nginx" if has_peer else "", command=plan.command, pairs=on),
        Row(work + ", mr off", "core used, %", share["mr off"], share["floor"], share["nginx"], command=plan.command),
        Row(work, "memory a publisher, KiB", per_stream, target=f"<= 64 beyond a GOP ({gop_kib:.0f})",
            met=per_stream <= (64 + gop_kib) * plan.slack, command=plan.command)]


def take_profile(server: Server, seconds: int, sizes: list[int]) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.api_port}/api/v1/profile?seconds={seconds}", timeout=seconds + 20) as answer:
        sizes.append(len(answer.read()))


def profile_rows(lab: Lab, plan: Plan) -> list[Row]:
    """The cost of a CPU profile of the running server: windows with one alternate with windows without. A window is a second longer
    than its profile, to include the response."""
    players, seconds = (1000, 4) if plan.smoke else (2000, 10)
    say(f"profile: {players} players, {plan.repeats} pairs of {seconds + 1} s")
    server = start_ours(lab)
    load = clients.players(lab, server, players, STREAM)
    publisher = clients.publishers(lab, server.port, STREAM)
    time.sleep(SETTLE_S)
    windows: dict[bool, list[Window]] = {True: [], False: []}
    sizes: list[int] = []
    for turn in range(plan.repeats):
        for with_profile in (turn % 2 == 0, turn % 2 == 1):
            asker = threading.Thread(target=take_profile, args=(server, seconds, sizes))
            if with_profile:
                asker.start()
            windows[with_profile] += measure_windows([(server.process, load)], 1, seconds + 1)[0]
            if with_profile:
                asker.join()
    publisher.stop()
    failed = clients.end(load)["failed"]
    server.process.stop()
    ratio = median(a.per_gb / b.per_gb for a, b in zip(windows[True], windows[False]))
    late = {which: max(w.lag_ms_max for w in windows[which]) for which in windows}
    work = f"RTMP play, {players:,} players, a CPU profile of {seconds} s"
    details = {"with": [w.__dict__ for w in windows[True]], "without": [w.__dict__ for w in windows[False]], "profile_bytes": sizes}
    complete = len(sizes) == plan.repeats and min(sizes) > 1000 and failed == 0
    return [Row(work, "CPU-s/GB, and without a profile", median(w.per_gb for w in windows[True]), median(w.per_gb for w in windows[False]), "-", ratio,
                "< 1.03 x without", complete and ratio < 1.03 * plan.slack, "in the column of the floor is the same server without a profile",
                details, plan.command),
            Row(work, "behind the leader max, ms", late[True], late[False], target=f"max <= {2 * WINDOW_MS}",
                met=complete and late[True] <= 2 * WINDOW_MS * plan.slack, command=plan.command)]


def memory_rows(lab: Lab, plan: Plan) -> list[Row]:
    """Memory comes with the play rows; alone it is measured with one short play."""
    if "play" in plan.parts:
        return []
    players = plan.players[-1]
    say(f"memory: {players} players")
    server = start_ours(lab)
    result = play(lab, server, players, plan, None)
    server.process.stop()
    return [memory_row(f"RTMP play, {players:,} players", result, None, players, plan)]


def run_parts(lab: Lab, plan: Plan) -> list[Row]:
    functions = {"play": play_rows, "flv": flv_rows, "tls": tls_rows, "http": http_rows, "files": files_rows, "playback": playback_rows, "segments": segments_rows, "storms": storms_rows, "mixed": mixed_rows, "hls": hls_rows, "whep": whep_rows, "srt": srt_rows, "rtsp": rtsp_rows, "ingest": ingest_rows, "pulls": pulls_rows, "publish": publish_rows, "low_latency": low_latency_rows, "delay": delay_rows,
                 "relay": relay_rows, "memory": memory_rows, "profile": profile_rows, "workers": workers_rows, "pairs": pairs_rows, "smoke": smoke_rows}
    return [row for part in plan.parts for row in functions[part](lab, plan)]


def soak(lab: Lab, plan: Plan, players: int, minutes: float) -> list[Row]:
    say(f"soak: {players} players for {minutes:g} minutes")
    server = start_ours(lab)
    load = clients.players(lab, server, players, STREAM, witnesses=4)
    publisher = clients.publishers(lab, server.port, STREAM)
    load.tell("mark")
    start, cpu, peak_kib, samples = time.monotonic(), server.process.cpu_seconds(), 0, []
    while time.monotonic() - start < minutes * 60:
        time.sleep(min(10.0, max(0.1, minutes * 60 - (time.monotonic() - start))))
        samples.append(server.process.resident_kib())
        peak_kib = max(peak_kib, samples[-1])
        if load.child.poll() is not None or publisher.child.poll() is not None:
            raise BenchError(f"the load ended early. {load.log_tail()}")
    share = (server.process.cpu_seconds() - cpu) / (time.monotonic() - start)
    published = clients.end(publisher)
    time.sleep(2)
    delivered = clients.end(load)
    result = PlayResult([], [], 0, peak_kib, published, delivered)
    missing, limit_mib = result.missing(), players * 8 / 1024 + 40
    work = f"soak, {players:,} players, {minutes:g} min"
    details = {"delivered": delivered, "published": published, "resident_kib": samples}
    return [Row(work, "undelivered", missing or "nothing", target="every byte", met=not missing, details=details, command=plan.command),
            Row(work, "resident memory peak, MiB", peak_kib / 1024, target=f"<= {limit_mib:.0f}", met=peak_kib / 1024 <= limit_mib,
                command=plan.command),
            Row(work, "behind the leader p99 / max, ms", f"{delivered['lag_ms_p99']:.0f} / {delivered['lag_ms_max']:.0f}", command=plan.command),
            Row(work, "core used, %", share * 100, target="<= 45" if players == 10000 else "",
                met=share <= 0.45 if players == 10000 else None, command=plan.command)]
