"""The options of a run, as its measurements read them."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from servers import Peer


@dataclass
class Plan:
    parts: list[str]
    players: list[int]
    flv_players: list[int]
    tls_players: list[int]
    whep_players: list[int]
    hls_players: list[int]
    srt_players: list[int]
    srt_streams: list[int]
    streams: list[int]
    repeats: int
    seconds: float
    slack: float
    with_nginx: bool
    command: str
    smoke: bool
    machine: str = ""  # The kind of machine, whose ratios of a smoke run are stored.
    peers: list[Peer] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)  # Rows of the part `pairs` by name; empty: all.
    builds: dict[str, Path] = field(default_factory=dict)  # Other builds of the server, by name, for the part `pairs`.


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
