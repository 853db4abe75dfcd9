"""RTSP play: over the connection beside RTMP players of the same stream, each in a server of its own; over UDP beside the loop that sends the same
packets in GSO batches (srtp_floor --plain); the memory of a player; and its first picture, in a stream whose key frames are 4 s apart."""

import json
import subprocess
import time
from pathlib import Path
from statistics import median

import clients
from harness import LOAD_CORE, SERVER_CORE, BenchError, Lab, Process
from plan import Plan, say
from play import SETTLE_S, STREAM
from report import Row
from servers import Server, start_ours
from windows import Window, measure_windows, ratios

TCP_TARGET, UDP_TARGET, KIB_TARGET, FIRST_MS_TARGET = 1.1, 1.3, 12.0, 50
RAMP = 500
GOP_CLIP = "gop4"


def start_rtsp(lab: Lab) -> tuple[Server, str]:
    port, media = lab.port(), lab.port()
    root = f"rtsp_server {{ enabled on; listen 127.0.0.1:{port}; rtp_port_min {media}; rtp_port_max {media + 20}; }}"
    return start_ours(lab, root=root, vhost="rtsp { enabled on; }"), f"rtsp://127.0.0.1:{port}/live/{STREAM}"


def players(lab: Lab, url: str, count: int, *words) -> Process:
    load = clients.start(lab, "sb_rtsp_load", url, count, RAMP, "--witnesses", 0, *words)
    load.wait_event("ready", 60)
    return load


def per_gb(windows: list[Window]) -> float:
    return median(window.per_gb for window in windows)


def row_of(work: str, ours: list[Window], other: list[Window], name: str, target: float, plan: Plan) -> Row:
    pairs = ratios(ours, other)
    ratio = median(pairs)
    note = f"{ours[0].bytes * 8 / ours[0].seconds / 1e6:.0f} Mbit/s, {median(window.core_share for window in ours) * 100:.0f} % of a core"
    return Row(work, "CPU s/GB", per_gb(ours), per_gb(other), "-", ratio, f"<= {target} x {name}", ratio <= target * plan.slack, note, command=plan.command,
               pairs=pairs)


def tcp_row(lab: Lab, plan: Plan, count: int) -> Row:
    say(f"rtsp: {count} players over TCP, beside RTMP")
    (server, url), rtmp = start_rtsp(lab), start_ours(lab)
    publishers = [clients.publishers(lab, one.port, STREAM) for one in (server, rtmp)]
    time.sleep(SETTLE_S)
    loads = [players(lab, url, count), clients.players(lab, rtmp, count, STREAM, witnesses=0)]
    time.sleep(SETTLE_S)
    windows = measure_windows([(server.process, loads[0]), (rtmp.process, loads[1])], plan.repeats, plan.seconds)
    for one in (*loads, *publishers, server.process, rtmp.process):
        one.stop()
    return row_of(f"RTSP play over TCP, {count:,} players", *windows, "RTMP play", TCP_TARGET, plan)


def udp_row(lab: Lab, plan: Plan, count: int) -> Row:
    say(f"rtsp: {count} players over UDP, beside the floor")
    server, url = start_rtsp(lab)
    publisher = clients.publishers(lab, server.port, STREAM)
    time.sleep(SETTLE_S)
    load = players(lab, url, count, "--udp")
    port = lab.port()
    floor = lab.load("srtp_floor", SERVER_CORE, mode="send", port=port, clients=count, clip=lab.clip, plain=1)
    floor.wait_event("listening", 10)
    sink = lab.load("srtp_floor", mode="sink", port=port, clients=count)
    for one in (sink, floor):
        one.wait_event("ready", 60)
    time.sleep(SETTLE_S)
    windows = measure_windows([(server.process, load), (floor, sink)], plan.repeats, plan.seconds)
    for one in (load, sink, floor, publisher, server.process):
        one.stop()
    return row_of(f"RTSP play over UDP, {count:,} players", *windows, "the floor", UDP_TARGET, plan)


def memory_row(lab: Lab, plan: Plan, count: int, words: tuple, way: str) -> Row:
    """The growth from a tenth of the players to all of them, so that the stream does not count."""
    server, url = start_rtsp(lab)
    publisher = clients.publishers(lab, server.port, STREAM)
    time.sleep(SETTLE_S)
    few = players(lab, url, count // 10, *words)
    time.sleep(SETTLE_S)
    before = server.process.resident_kib()
    load = players(lab, url, count, *words)
    time.sleep(SETTLE_S)
    kib = (server.process.resident_kib() - before) / count
    for one in (load, few, publisher, server.process):
        one.stop()
    return Row(f"RTSP play over {way}, {count:,} players", "memory a player, KiB", kib, target=f"<= {KIB_TARGET:.0f}", met=kib <= KIB_TARGET * plan.slack,
               command=plan.command)


def first_picture_row(lab: Lab, plan: Plan) -> Row:
    """A hundred players that arrive over 8 s, and decode nothing: the last packet of the first picture counts."""
    count = 100
    say("rtsp: the first picture")
    server, url = start_rtsp(lab)
    publisher = clients.publishers(lab, server.port, STREAM, clip=lab.other_clip(GOP_CLIP))
    time.sleep(SETTLE_S + 2)
    result = lab.folder / f"rtsp-first-{len(lab.children)}.json"
    command = [lab.tool("sb_rtsp_load"), "-c", count, "-r", url, "-t", 1, "--ramp", count / 8, "--seconds", 10, "-m", clients.NO_REPORTS, "--json", result]
    done = subprocess.run(["taskset", "-c", str(LOAD_CORE), *(str(word) for word in command)], capture_output=True, text=True, timeout=60, check=False)
    if not Path(result).exists():
        raise BenchError(f"sb_rtsp_load: {done.stderr[-500:]}")
    first = json.loads(result.read_text())["metrics"]["first_frame_ms"]
    for one in (publisher, server.process):
        one.stop()
    if first["count"] != count:
        raise BenchError(f"sb_rtsp_load: {first['count']} of {count} players got a picture")
    return Row("RTSP play, a key frame every 4 s", "first picture p50, ms", first["p50"], target=f"<= {FIRST_MS_TARGET}", met=first["p50"] <= FIRST_MS_TARGET * plan.slack,
               note=f"worst {first['max']:.0f} ms", command=plan.command)


def rtsp_rows(lab: Lab, plan: Plan) -> list[Row]:
    count = 200 if plan.smoke else 1000
    return [tcp_row(lab, plan, count), udp_row(lab, plan, count), memory_row(lab, plan, count, (), "TCP"), memory_row(lab, plan, count, ("--udp",), "UDP"),
            first_picture_row(lab, plan)]
