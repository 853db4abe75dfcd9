#!/usr/bin/env python3
"""The benchmark: RTMP play and publish, HTTP-FLV play, TLS, added delay and memory, beside the floor and beside nginx in the same run.

  bench.py                            the whole matrix into doc/bench, about thirty-five minutes
  bench.py --smoke                    the ratios that guard a change, under three minutes
  bench.py --only play,memory         some parts: play flv tls http files playback hls segments storms mixed whep srt rtsp ingest pulls publish low_latency delay relay memory profile workers
  bench.py --only play --peer 'other=/usr/bin/other -c {conf}' --peer-conf other.conf
                                      another server beside ours and nginx; {port} and {folder} in its conf are filled in
  bench.py --only pairs --build before=old/srs
                                      the cost of a change: both builds at the same time, each with its own load
  bench.py --only pairs --build before=old/srs --rows rtmp,publish
                                      some of its rows
  bench.py soak --players 10000 --minutes 10

The server runs alone on core 0, the load on core 1. Absolute values mean nothing on a shared machine: read the ratios.
The floor's sender runs at the same time as the server, on the same core and at the same intervals; the floor's reader and the
peer alternate with it. Each value is the median of the repeats. Exit status: 0 when every measured target is met, 1 when one is not,
2 when the benchmark could not run.
"""

import argparse
import datetime
import itertools
import json
import os
import platform
import re
import resource
import shlex
import sys
from pathlib import Path

from charts import draw
from harness import TRUNK, BenchError, Lab, build_programs
from report import Row, markdown
from plan import Plan
from scenarios import run_parts, soak
from smoke import keep
from servers import Peer, nginx_module

PARTS = ("play", "flv", "tls", "http", "files", "playback", "hls", "segments", "storms", "mixed", "whep", "srt", "rtsp", "ingest", "pulls", "publish", "low_latency", "delay", "relay", "memory", "profile", "workers")
EXTRA_PARTS = ("pairs", "smoke")  # Only when it is named.


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", choices=["matrix", "soak"], default="matrix")
    parser.add_argument("--server", type=Path, default=Path(os.environ.get("LIVE_SERVER", TRUNK / "objs" / "srs")))
    parser.add_argument("--smoke", action="store_true", help="the short run that guards a change, against the ratios stored for this kind of machine; with --only: small counts, no peer, 15 %% tolerance")
    parser.add_argument("--store", action="store_true", help="with --smoke: add its ratios to those stored for this kind of machine")
    parser.add_argument("--only", default=None, help="comma-separated parts; default: all")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND", help="another server for the part `play`; may be given again")
    parser.add_argument("--peer-conf", action="append", default=[], type=Path, metavar="FILE", help="the conf template of the peer at the same place")
    parser.add_argument("--build", action="append", default=[], metavar="NAME=PATH", help="another build of the server for the part `pairs`; may be given again")
    parser.add_argument("--rows", default=None, metavar="NAME,NAME", help="with --only pairs: these rows only; an unknown name lists them")
    parser.add_argument("--without-nginx", action="store_true", help="measure without nginx")
    parser.add_argument("--players", type=str, default=None, help="player counts, comma-separated")
    parser.add_argument("--streams", type=str, default=None, help="publisher counts, comma-separated")
    parser.add_argument("--repeats", type=int, default=5, help="windows, or turns that alternate; their median counts")
    parser.add_argument("--seconds", type=float, default=8, help="length of one measuring window")
    parser.add_argument("--minutes", type=float, default=10, help="soak only")
    parser.add_argument("--output", type=Path, help="write the results as JSON too; the whole matrix is always written, as JSON, table and charts; "
                        "default for it: doc/bench/DATE-HOST.json")
    parser.add_argument("--build-dir", type=Path, default=TRUNK / "objs" / "bench")
    parser.add_argument("--port-base", type=int, default=25000)
    options = parser.parse_args()
    options.whole = options.mode == "matrix" and options.only is None and not options.smoke
    if options.whole and options.output is None:
        options.output = TRUNK / "doc" / "bench" / f"{datetime.date.today().isoformat()}-{host_kind(machine()['cpu'], machine()['cores'])}.json"
    if options.only is None:
        options.only = "smoke" if options.smoke else ",".join(PARTS)
    unknown = set(options.only.split(",")) - set(PARTS + EXTRA_PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are {', '.join(PARTS + EXTRA_PARTS)}")
    if options.rows and options.only != "pairs":
        parser.error("--rows chooses rows of --only pairs")
    if options.store and options.only != "smoke":
        parser.error("--store keeps the ratios of --smoke")
    return options


def counts(text: str | None, smoke: bool, small: list[int], full: list[int]) -> list[int]:
    return [int(word) for word in text.split(",")] if text else small if smoke else full


def shown_command() -> str:
    """The command to repeat a measurement, without the options for this machine's folders."""
    words, shown, skip = sys.argv[1:], [], False
    for word in words:
        if skip:
            skip = False
        elif word.split("=")[0] in ("--server", "--build-dir", "--output", "--port-base"):
            skip = "=" not in word
        else:
            shown.append(word)
    return "bench.py " + shlex.join(shown)


def make_plan(options: argparse.Namespace) -> Plan:
    smoke = options.smoke
    return Plan(
        parts=options.only.split(","),
        players=counts(options.players, smoke, [1000], [500, 2500, 5000, 10000]),
        flv_players=counts(options.players, smoke, [500], [500, 2500, 5000]),
        tls_players=counts(options.players, smoke, [300], [1000, 4000]),
        whep_players=counts(options.players, smoke, [300], [500, 1000, 2000]),
        srt_players=counts(options.players, smoke, [200], [1000]),
        srt_streams=counts(options.streams, smoke, [50], [200, 250]),
        hls_players=counts(options.players, smoke, [200], [2000]),
        streams=counts(options.streams, smoke, [200], [500, 1000]),
        repeats=options.repeats,
        seconds=min(options.seconds, 4) if smoke else options.seconds,
        slack=1.15 if smoke else 1.0,
        with_nginx=not (smoke or options.without_nginx or options.only in EXTRA_PARTS),  # these have no peer
        command=shown_command(),
        smoke=smoke,
        machine=host_kind(machine()["cpu"], machine()["cores"]),
        rows=options.rows.split(",") if options.rows else [],
        builds={name: Path(path).resolve() for name, _, path in (text.partition("=") for text in options.build)},
        peers=[Peer.parse(text, conf) for text, conf in itertools.zip_longest(options.peer, options.peer_conf[:len(options.peer)])])


def check_machine(plan: Plan) -> None:
    if (os.cpu_count() or 1) < 2:
        raise BenchError("the benchmark needs two cores: one for the server, one for the load")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = max(plan.players) + 512
    if hard < needed:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, needed))
        except (ValueError, OSError):
            raise BenchError(f"{max(plan.players)} players need {needed} open files; the hard limit is {hard}") from None
    elif soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if plan.with_nginx:
        nginx_module()


def machine() -> dict:
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "")
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "memory_gib": round(
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1), "date": datetime.date.today().isoformat()}


def host_kind(cpu: str, cores: int) -> str:
    """The machine in a file's name: 2-cores-intel-xeon. A virtual machine may not report its CPU."""
    model = re.sub(r"\([^)]*\)|@.*|\b(CPU|Processor)\b|\S*-Core\b", " ", cpu)
    return "-".join([str(cores), "cores", *re.findall(r"[a-z0-9]+", (model.strip() or platform.machine()).lower())])


def write_results(options: argparse.Namespace, rows: list[Row], command: str) -> None:
    options.output.parent.mkdir(parents=True, exist_ok=True)
    result = {"command": command, "machine": machine(), "rows": [row.as_dict() for row in rows]}
    options.output.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    if options.whole:
        options.output.with_suffix(".md").write_text(markdown(rows, command, machine()) + "\n")
        draw(options.output, options.output.parent)
        print(f"written: {options.output}, the table and the charts beside it", file=sys.stderr)


def main() -> int:
    options = parse_arguments()
    try:
        plan = make_plan(options)
        if options.mode == "soak":
            plan.players = counts(options.players, False, [], [10000])
        check_machine(plan)
        build_programs(options.build_dir)
        with Lab(options.server.resolve(), options.build_dir.resolve(), options.port_base) as lab:
            rows: list[Row] = soak(lab, plan, plan.players[0], options.minutes) if options.mode == "soak" else run_parts(lab, plan)
        if options.store:
            keep(rows, plan.machine, datetime.date.today().isoformat())
    except BenchError as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 2
    print(markdown(rows, plan.command, machine()))
    if options.output:
        write_results(options, rows, plan.command)
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
