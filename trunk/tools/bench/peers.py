#!/usr/bin/env python3
"""This server beside others, in the cells that people publish for such servers: `make bench-peers`.

  peers.py                                   this server and nginx with its RTMP module (Debian)
  peers.py --srs /usr/local/srs/objs/srs     SRS beside them, which reads the same kind of conf
  peers.py --cells idle,rtmp,srt             some cells
  peers.py --output FILE.md                  the table into a file

Each cell of each server is a fresh process on core 0, the load is on core 1; the servers alternate within each of three repetitions. A cell is the
median with minimum and maximum: CPU as a share of one core, resident memory, and whether the load kept up: every client received 90 % of real time.
"""

import argparse
import datetime
import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import clients
from bench import host_kind, machine
from harness import SERVER_CORE, TRUNK, BenchError, Lab, build_programs, wait_for_port
from hls import wait_for_segments
from servers import Server, nginx_module, start_nginx, start_ours
from srt import start_with_srt
from whep import end_rtc, start_rtc, url_of

STREAM = "bench"
REPEATS = 3
WINDOW_S = 4.0
SETTLE_S = 2.0
REAL_TIME = 0.9

SRS_CONF = """\
listen {port}; max_connections 5000; daemon off; srs_log_tank console; pid {folder}/peer-{port}.pid;
http_api {{ enabled on; listen {api_port}; }}
http_server {{ enabled on; listen {http_port}; dir {folder}/html; }}
rtc_server {{ enabled on; listen {rtc_port}; candidate 127.0.0.1; }}
srt_server {{ enabled on; listen {srt_port}; }}
vhost __defaultVhost__ {{
    http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
    rtc {{ enabled on; rtmp_to_rtc on; }}
    srt {{ enabled on; }}
}}
"""


@dataclass
class Figure:
    cpu_share: float
    resident_mib: float
    kept_up: bool | None  # None: a cell without clients.


@dataclass
class Started:
    server: Server
    srt_port: int = 0


class Ours:
    name = "millrace"
    cells = ("idle", "publisher", "llhls", "whep", "rtmp", "flv", "srt")

    def start(self, lab: Lab, cell: str) -> Started:
        if cell == "srt":
            return Started(*start_with_srt(lab))
        return Started(start_ours(lab, rtc=cell == "whep", hls=cell == "llhls", hls_more="hls_ll on;" if cell == "llhls" else ""))


class Nginx:
    name = "nginx-rtmp"
    cells = ("idle", "publisher", "rtmp")

    def start(self, lab: Lab, _cell: str) -> Started:
        return Started(start_nginx(lab))


class Srs:
    name = "srs"
    cells = ("idle", "publisher", "whep", "rtmp", "flv", "srt")  # It has no LL-HLS.

    def __init__(self, program: Path):
        self.program = program

    def start(self, lab: Lab, _cell: str) -> Started:
        ports = {name: lab.port() for name in ("port", "api_port", "http_port", "rtc_port", "srt_port")}
        conf = lab.folder / f"peer-{ports['port']}.conf"
        conf.write_text(SRS_CONF.format(folder=lab.folder, **ports))
        process = lab.start(self.name, [self.program, "-c", conf], SERVER_CORE)
        for name in ("port", "api_port"):
            wait_for_port(ports[name], process)
        return Started(Server(self.name, process, ports["port"], "", ports["http_port"], ports["api_port"]), ports["srt_port"])


CELLS = [("idle", 0), ("publisher", 0), ("llhls", 100), ("llhls", 300), ("llhls", 1000), ("whep", 100), ("whep", 300), ("rtmp", 1000), ("flv", 1000), ("srt", 100)]
NAMES = {"idle": "idle", "publisher": "one publisher", "llhls": "LL-HLS", "whep": "WHEP", "rtmp": "RTMP", "flv": "HTTP-FLV", "srt": "SRT"}


def window(server: Server, seconds: float = WINDOW_S) -> tuple[float, float]:
    before, began = server.process.cpu_seconds(), time.monotonic()
    time.sleep(seconds)
    share = (server.process.cpu_seconds() - before) / (time.monotonic() - began)
    return share, server.process.resident_kib() / 1024


def all_in_real_time(said: dict, count: int) -> bool:
    fields = said["client_fields"]
    media, playing = fields.index("media_ms"), fields.index("playing_ms")
    rows = said["per_client"]
    return said["failed"] == 0 and len(rows) == count and all((row[media] or 0) >= REAL_TIME * (row[playing] or 1) for row in rows)


def parsing_players(lab: Lab, server: Server, cell: str, count: int) -> Figure:
    """RTMP and HTTP-FLV: each client of the load parses what it receives."""
    result = lab.folder / "peers.json"
    program, url = ("sb_rtmp_load", f"rtmp://127.0.0.1:{server.port}/live/{STREAM}") if cell == "rtmp" else (
        "sb_flv_load", f"http://127.0.0.1:{server.http_port}/live/{STREAM}.flv")
    ramp = max(100, count // 2)
    # Its log, a line per client, would fill a pipe that is not read.
    into_file = ["sh", "-c", 'exec "$@" >"$0"', f"{result}.log"]
    load = lab.start(program, [*into_file, lab.tool(program), "-c", count, "-r", url, "--ramp", ramp, "-t", 1, "--seconds", count / ramp + SETTLE_S + WINDOW_S + 1, "--json", result])
    time.sleep(count / ramp + SETTLE_S)
    share, memory = window(server)
    try:
        load.child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        raise BenchError(f"{program} does not end. {load.log_tail()}") from None
    return Figure(share, memory, all_in_real_time(json.loads(result.read_text()), count))


def whep_players(lab: Lab, server: Server, count: int) -> Figure:
    load, result = start_rtc(lab, "peers", url_of(server, "whep"), "-c", count, "--ramp", 200, "--skip-decryption")
    time.sleep(count / 200 + 2 * SETTLE_S)
    share, memory = window(server)
    end_rtc(load, result)
    return Figure(share, memory, all_in_real_time(json.loads(Path(f"{result}.json").read_text()), count))


def counted_players(lab: Lab, server: Server, cell: str, count: int, srt_port: int) -> Figure:
    """LL-HLS and SRT: loads that count bytes, of which the clip's rate is expected."""
    if cell == "llhls":
        wait_for_segments(f"http://127.0.0.1:{server.http_port}/live/{STREAM}.m3u8")
        load = lab.load("segment_load", mode="ll", port=server.http_port, path=f"/live/{STREAM}.m3u8", clients=count)
    else:
        load = lab.load("srt_floor", mode="play", port=srt_port, clients=count)
    load.wait_event("ready", 90)
    time.sleep(2 * SETTLE_S)
    load.tell("mark")
    share, memory = window(server)
    load.tell("report")
    got = load.wait_event("report", 30)
    load.stop()
    least = got["media_bytes_min"] if cell == "llhls" else got["window_bytes"] / count
    is_whole = least >= REAL_TIME * lab.facts_of_clip()["kbps"] * 125 * got["seconds"]
    return Figure(share, memory, is_whole and got.get("failed", 0) == 0 and got.get("missing", 0) == 0)


def measure(lab: Lab, peer, cell: str, count: int) -> Figure:
    started = peer.start(lab, cell)
    server, publisher = started.server, None
    if cell != "idle":
        publisher = clients.publishers(lab, server.port, STREAM)
        time.sleep(SETTLE_S)
    if cell in ("idle", "publisher"):
        figure = Figure(*window(server, SETTLE_S), None)
    elif cell in ("rtmp", "flv"):
        figure = parsing_players(lab, server, cell, count)
    elif cell == "whep":
        figure = whep_players(lab, server, count)
    else:
        figure = counted_players(lab, server, cell, count, started.srt_port)
    for process in filter(None, (publisher, server.process)):
        process.stop()
    return figure


def span(values: list[float]) -> str:
    return f"{median(values):.1f} ({min(values):.1f}-{max(values):.1f})"


def cell_text(figures: list[Figure]) -> str:
    kept = [figure.kept_up for figure in figures]
    words = "" if None in kept else f"; kept up {sum(map(bool, kept))} of {len(kept)}"
    return f"{span([figure.cpu_share * 100 for figure in figures])} % CPU, {span([figure.resident_mib for figure in figures])} MiB{words}"


def lost_cells(results: dict, own: str) -> list[str]:
    """The cells in which another server that kept up took less CPU time or memory."""
    lost = []
    for (name, cell), figures in results.items():
        ours = results.get((own, cell))
        if name == own or not ours or False in [figure.kept_up for figure in figures]:
            continue
        for what, unit, value in (("CPU", "%", lambda figure: figure.cpu_share * 100), ("memory", "MiB", lambda figure: figure.resident_mib)):
            mine, theirs = (median(map(value, each)) for each in (ours, figures))
            if theirs < mine:
                lost.append(f"{cell}, {what}: {mine:.1f} {unit}, {name} {theirs:.1f} {unit}")
    return lost


def title(cell: str, count: int) -> str:
    return NAMES[cell] + (f", {count:,} players" if count else "")


def table(results: dict, peers: list, cells: list, absent: list[str]) -> str:
    host = machine()
    lines = [f"# Beside other servers, {datetime.date.today().isoformat()}", "",
             f"`make bench-peers` on {host['cores']} cores of {host['cpu'] or 'an unknown CPU'}, kernel {host['kernel']}: one stream of 500 kbps, the server on one core, the load "
             "on the other. CPU is a share of one core; median (minimum-maximum) of three fresh processes, alternating. \"Kept up\": every client received 90 % of real time.", "",
             "| cell | " + " | ".join(peer.name for peer in peers) + " |", "| --- |" + " --- |" * len(peers)]
    for cell, count in cells:
        texts = [cell_text(results[peer.name, title(cell, count)]) if cell in peer.cells else "-" for peer in peers]
        lines.append(f"| {title(cell, count)} | " + " | ".join(texts) + " |")
    own = peers[0].name
    lines += ["", "**Not measured**", "", *(f"- {each}" for each in absent),
              *(f"- {peer.name}: {', '.join(title(*cell) for cell in cells if cell[0] not in peer.cells)}: it has no such output" for peer in peers if any(cell[0] not in peer.cells for cell in cells)),
              "", f"**Lost** by {own}", "", *([f"- {each}" for each in lost_cells(results, own)] or ["- no cell"])]
    return "\n".join(lines) + "\n"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, default=TRUNK / "objs" / "srs")
    parser.add_argument("--srs", type=Path, help="a build of SRS")
    parser.add_argument("--cells", default=None, help="comma-separated: " + " ".join(NAMES))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--output", type=Path, default=None, help="default: doc/bench/peers-DATE-HOST.md; - prints only")
    parser.add_argument("--build-dir", type=Path, default=TRUNK / "objs" / "bench")
    parser.add_argument("--port-base", type=int, default=25000)
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    host = machine()
    output = options.output or TRUNK / "doc" / "bench" / f"peers-{host['date']}-{host_kind(host['cpu'], host['cores'])}.md"
    absent = ["MediaMTX: the Go module proxy does not serve it"]
    peers: list = [Ours()]
    try:
        nginx_module()
        peers.append(Nginx())
    except BenchError as reason:
        absent.append(f"nginx: {reason}")
    if options.srs:
        peers.append(Srs(options.srs.resolve()))
    else:
        absent.append("SRS: no build was named with --srs")
    wanted = options.cells.split(",") if options.cells else list(NAMES)
    cells = [cell for cell in CELLS if cell[0] in wanted]
    results: dict = {}
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    try:
        build_programs(options.build_dir)
        with Lab(options.server.resolve(), options.build_dir.resolve(), options.port_base) as lab:
            for turn in range(options.repeats):
                for cell, count in cells:
                    for peer in peers if turn % 2 == 0 else peers[::-1]:
                        if cell in peer.cells:
                            print(f"{title(cell, count)}: {peer.name}, {turn + 1} of {options.repeats}", file=sys.stderr, flush=True)
                            results.setdefault((peer.name, title(cell, count)), []).append(measure(lab, peer, cell, count))
    except BenchError as reason:
        print(f"peers: {reason}", file=sys.stderr)
        return 2
    text = table(results, peers, cells, absent)
    print(text)
    if str(output) != "-":
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
