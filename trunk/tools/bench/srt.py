"""SRT players of srt_floor.cpp, which do not decrypt, beside its loop that encrypts and sends the same packets in GSO batches. Players acknowledge, and a
server has to read and answer that: a second loop does so too. srt-live-transmit of libsrt carries one stream to one caller, so there are some of them, each
with its player. All alternate on the core. Publishers are in ingest.py."""

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import clients
from harness import SERVER_CORE, BenchError, Lab, Process
from report import Row
from servers import Server, start_ours

CLIP = "fat"  # 2 Mbps
STREAM = "bench"
SETTLE_S = 3.0
PASSPHRASE = "the passphrase of the bench"
TRANSMITS = 20  # Processes of srt-live-transmit: some 2 Mbps each.
STREAM_KIB = 4096  # Memory of the stream: its GOP and the newest units.
DATAGRAM_BYTES = 16 + 7 * 188
HANDSHAKE_BYTES = 16 + 48
FLOOD_PER_MS = 100
FLOOR_MISSING_MAX = 0.001  # A floor that loses more does not have the machine to itself.


@dataclass
class Turn:
    cpu_s: float
    bytes: float
    seconds: float
    missing: int = 0
    kib_each: float = 0.0

    @property
    def per_gb(self) -> float:
        return self.cpu_s / (self.bytes / 1e9) if self.bytes else float("inf")

    @property
    def a_core(self) -> float:
        """Gbit/s that a whole core would carry."""
        return self.bytes * 8 / self.cpu_s / 1e9


class Processes:
    """The CPU time of several processes."""

    def __init__(self, all_of_them: list[Process]):
        self.all = all_of_them

    def cpu_seconds(self) -> float:
        return sum(one.cpu_seconds() for one in self.all)


def window(measured: Process | Processes, load: Process, seconds: float, received_on: range = range(0)) -> Turn:
    """`received_on`: the receiving ports of the measured process, whose losses count."""
    time.sleep(SETTLE_S)
    load.tell("mark")
    lost, before = kernel_drops(received_on), measured.cpu_seconds()
    time.sleep(seconds)
    cpu = measured.cpu_seconds() - before
    load.tell("report")
    got = load.wait_event("report", 30)
    return Turn(cpu, got["window_bytes"], got["seconds"], int(got["missing"]) + kernel_drops(received_on) - lost)


def kernel_drops(ports: range) -> int:
    """Datagrams that the kernel dropped on these ports because the buffers were full."""
    rows = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]] if ports else []
    return sum(int(row[-1]) for row in rows if int(row[1].split(":")[1], 16) in ports)


def transport_stream(lab: Lab) -> tuple[Path, float]:
    """The clip as MPEG-TS, and its rate in kbps."""
    clip, file = lab.other_clip(CLIP), lab.folder / "bench.ts"
    if not file.exists():
        done = subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(clip), "-c", "copy", "-f", "mpegts", str(file)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"ffmpeg makes no transport stream: {done.stderr[-300:]}")
    return file, lab.facts_of(clip)["kbps"] * file.stat().st_size / clip.stat().st_size


def start_with_srt(lab: Lab, encrypted: bool = False, casters: list[int] | None = None) -> tuple[Server, int]:
    port = lab.port()
    root = f"srt_server {{ enabled on; listen 127.0.0.1:{port}; " + (f'passphrase "{PASSPHRASE}"; ' if encrypted else "") + "}"
    if casters:
        listen = " ".join(f"127.0.0.1:{one}" for one in casters)
        root += f" stream_caster {{ enabled on; caster mpegts_over_udp; output rtmp://127.0.0.1/live/[port]; listen {listen}; }}"
    return start_ours(lab, root=root, vhost="srt { enabled on; }"), port


def our_play(lab: Lab, players: int, seconds: float, encrypted: bool) -> Turn:
    server, port = start_with_srt(lab, encrypted)
    publisher = clients.publishers(lab, server.port, STREAM, clip=lab.other_clip(CLIP))
    time.sleep(1)
    base = server.process.resident_kib()
    load = lab.load("srt_floor", mode="play", port=port, clients=players, **switches(encrypted=encrypted))
    load.wait_event("ready", 90)
    turn = window(server.process, load, seconds)
    turn.kib_each = max(0.0, server.process.resident_kib() - base - STREAM_KIB) / players
    for one in (load, publisher):
        one.stop()
    server.process.stop()
    return turn


def switches(**wanted: bool) -> dict:
    return {name: True for name, is_wanted in wanted.items() if is_wanted}


def floor_play(lab: Lab, players: int, seconds: float, encrypted: bool, kbps: float, acks: bool = False) -> Turn:
    port = lab.port()
    floor = lab.load("srt_floor", SERVER_CORE, mode="send", port=port, clients=players, kbps=kbps, **switches(encrypted=encrypted, acks=acks))
    floor.wait_event("listening", 10)
    sink = lab.load("srt_floor", mode="sink", port=port, clients=players, **switches(acks=acks))
    sink.wait_event("ready", 60)
    floor.wait_event("ready", 60)
    turn = window(floor, sink, seconds)
    floor.stop()
    sink.stop()
    return of_a_floor(turn)


def of_a_floor(turn: Turn) -> Turn:
    if turn.missing > FLOOR_MISSING_MAX * turn.bytes / DATAGRAM_BYTES:
        raise BenchError(f"the floor of SRT lost {turn.missing} packets: the machine is too busy, or too slow")
    return turn


def transmit_play(lab: Lab, seconds: float, encrypted: bool) -> Turn | None:
    """libsrt's tool: each process listens for one caller, and forwards the datagrams of its port. None: it is not installed."""
    program = shutil.which("srt-live-transmit")
    if program is None:
        return None
    ts, kbps = transport_stream(lab)
    fed, listening = free_ports(lab, TRANSMITS), free_ports(lab, TRANSMITS)
    secret = f"&passphrase={PASSPHRASE}&pbkeylen=16" if encrypted else ""
    processes = [lab.start("transmit", [program, "-q", f"udp://127.0.0.1:{fed + i}", f"srt://127.0.0.1:{listening + i}?mode=listener{secret}"], SERVER_CORE)
                 for i in range(TRANSMITS)]
    load = lab.load("srt_floor", mode="play", port=listening, clients=TRANSMITS, each_port=True, **switches(encrypted=encrypted))
    load.wait_event("ready", 60)
    feeder = lab.load("srt_floor", mode="udp", port=fed, clients=TRANSMITS, ts=ts, kbps=kbps)
    feeder.wait_event("ready", 10)
    turn = window(Processes(processes), load, seconds)
    for one in (load, feeder, *processes):
        one.stop()
    return turn


def play_rows(lab: Lab, players: int, plan) -> list[Row]:
    rows = []
    for encrypted in (False, True):
        print(f"srt: {players} players{', encrypted' if encrypted else ''}", file=sys.stderr, flush=True)
        ours, floors, answering, tools = [], [], [], []
        for _ in range(plan.repeats):
            ours.append(our_play(lab, players, plan.seconds, encrypted))
            kbps = ours[-1].bytes * 8 / 1000 / ours[-1].seconds / players
            floors.append(floor_play(lab, players, plan.seconds, encrypted, kbps))
            answering.append(floor_play(lab, players, plan.seconds, encrypted, kbps, acks=True))
            tools.append(transmit_play(lab, plan.seconds, encrypted))
        work = f"SRT play, {players:,} players x 2 Mbps" + (", AES-128" if encrypted else "")
        ratio, ratio_of_answering = (median(a.per_gb / b.per_gb for a, b in zip(ours, some)) for some in (floors, answering))
        rate = median(turn.a_core for turn in ours)
        kib, missing = median(turn.kib_each for turn in ours), max(turn.missing for turn in ours)
        found = [turn for turn in tools if turn is not None]
        tool_gb, tool_rate = (median(turn.per_gb for turn in found), median(turn.a_core for turn in found)) if found else ("not installed",) * 2
        details = {"ours": [turn.__dict__ for turn in ours], "floor": [turn.__dict__ for turn in floors], "answering": [turn.__dict__ for turn in answering],
                   "srt-live-transmit": [turn.__dict__ for turn in found]}
        per_gb = median(turn.per_gb for turn in ours)
        rows += [Row(work, "CPU-s/GB", per_gb, median(turn.per_gb for turn in floors), "-", ratio, "<= 1.30 x floor", ratio <= 1.3 * plan.slack,
                     f"players acknowledge every 10 ms, as libsrt does; nobody answers the floor. {TRANSMITS} processes of srt-live-transmit, with a player each",
                     details, plan.command, {"srt-live-transmit": tool_gb}),
                 Row(work, "CPU-s/GB, floor with ACKs", per_gb, median(turn.per_gb for turn in answering), "-", ratio_of_answering,
                     "<= 1.20 x floor", ratio_of_answering <= 1.2 * plan.slack, "the same loop, which also reads as many ACKs and answers them", command=plan.command),
                 Row(work, "Gbit/s a core would send", rate, target=">= 3", met=rate >= 3 / plan.slack, command=plan.command, peers={"srt-live-transmit": tool_rate}),
                 Row(work, "undelivered", f"{missing} packets", target="nothing", met=missing == 0, command=plan.command),
                 Row(work, "memory a player, KiB", kib, note="with what is kept to be sent again, which players share", command=plan.command)]
    return rows


def free_ports(lab: Lab, count: int) -> int:
    """The first of so many that follow each other."""
    first = lab.port()
    lab.port_base += count - 1
    return first


def flood(lab: Lab, measured: Process, port: int, seconds: float) -> float:
    """CPU time a handshake, in microseconds."""
    load = lab.load("srt_floor", mode="flood", port=port, clients=FLOOD_PER_MS)
    load.wait_event("ready", 10)
    turn = window(measured, load, seconds)
    load.stop()
    measured.stop()
    return turn.cpu_s / (turn.bytes / HANDSHAKE_BYTES) * 1e6


def flood_rows(lab: Lab, plan) -> list[Row]:
    """First requests of handshakes. The floor has the same cost of the kernel for a request and its response."""
    print("srt: a flood of handshakes", file=sys.stderr, flush=True)
    ours, floors = [], []
    for _ in range(plan.repeats):
        server, port = start_with_srt(lab)
        ours.append(flood(lab, server.process, port, plan.seconds))
        port = lab.port()
        echo = lab.load("srt_floor", SERVER_CORE, mode="echo", port=port)
        echo.wait_event("listening", 10)
        floors.append(flood(lab, echo, port, plan.seconds))
    return [Row(f"SRT handshakes, {FLOOD_PER_MS},000/s that lead to nothing", "us each", median(ours), median(floors), "-", median(a / b for a, b in zip(ours, floors)),
                "< 2", median(ours) < 2 * plan.slack, "the floor only sends back what comes; what is above it is the server's own", command=plan.command)]


def srt_rows(lab: Lab, plan) -> list[Row]:
    rows = flood_rows(lab, plan)
    for players in plan.srt_players:
        rows += play_rows(lab, players, plan)
    return rows
