"""Players and publishers of a server, the programs of src/bench, and those of the floor, plain sockets
(floor_load.cpp). All read the same commands from standard input (mark, report, quit) and print `ready`, `report` and `final`."""

from pathlib import Path

from harness import LOAD_CORE, Lab, Process
from servers import Server

PLAYERS_PER_SECOND = 2000
NO_REPORTS = 1_000_000  # Seconds between two progress lines.


def start(lab: Lab, program: str, url: str, count: int, ramp: float, *words, core: int = LOAD_CORE) -> Process:
    """A client does its task once: a failure is counted and not retried."""
    return lab.start(program, [lab.tool(program), "-c", count, "-r", url, "-t", 1, "--ramp", ramp, "-m", NO_REPORTS, "--driven", *words], core)


def players(lab: Lab, server: Server, count: int, stream: str, mode: str = "rtmp", witnesses: int = 1, core: int = LOAD_CORE) -> Process:
    """`mode`: rtmp, rtmps, flv or https (FLV by HTTPS). The first `witnesses` parse the stream, the others only count bytes; all play when this returns."""
    if mode == "flv":
        program, url = "sb_flv_load", f"http://127.0.0.1:{server.http_port}/live/{stream}.flv"
    elif mode == "https":
        program, url = "sb_flv_load", f"https://127.0.0.1:{server.https_port}/live/{stream}.flv"
    elif mode == "rtmps":
        program, url = "sb_rtmp_load_fast", f"rtmps://127.0.0.1:{server.rtmps_port}/live/{stream}"
    else:
        program, url = "sb_rtmp_load_fast", f"rtmp://127.0.0.1:{server.port}/live/{stream}"
    load = start(lab, program, url, count, PLAYERS_PER_SECOND, "--witnesses", witnesses, core=core)
    load.wait_event("ready", 60)
    return load


def players_that_look(lab: Lab, port: int, count: int, stream: str) -> Process:
    """Joins one after the other, so that the last one is known."""
    load = start(lab, "sb_rtmp_load", f"rtmp://127.0.0.1:{port}/live/{stream}", count, 100)
    load.wait_event("ready", 60)
    return load


def publishers(lab: Lab, port: int, stream: str, count: int = 1, ramp: float = 200, stamp: bool = False, clip: Path | None = None) -> Process:
    """One publishes `stream`, several publish `stream`0, `stream`1, ...; each message is sent separately at its time."""
    name = stream if count == 1 else stream + "{i}"
    load = start(lab, "sb_rtmp_publish", f"rtmp://127.0.0.1:{port}/live/{name}", count, ramp, "-i", clip or lab.clip, "--ahead", 0, *(["--stamp"] if stamp else []))
    load.wait_event("ready", 60)
    return load


def raw_players(lab: Lab, port: int, count: int, **options) -> Process:
    load = lab.load("floor_load", mode="play", port=port, clients=count, **options)
    load.wait_event("ready", 60)
    return load


def raw_publishers(lab: Lab, port: int, count: int = 1, ramp: float = 200, clip: Path | None = None, **options) -> Process:
    load = lab.load("floor_load", mode="publish", port=port, clients=count, ramp=ramp, clip=clip or lab.clip, **options)
    load.wait_event("ready", 60)
    return load


def end(load: Process, limit_s: float = 60) -> dict:
    """Ends the load and returns its final line."""
    load.tell("quit")
    said = load.wait_event("final", limit_s)
    load.stop()
    return said
