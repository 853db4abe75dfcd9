#!/usr/bin/env python3
"""Compiles sources one by one, without precompiled headers and without neighbours: whatever they need, they include.

    alone.py DATABASE JOBS FILE...      DATABASE: compile_commands.json of a tree with LIVE_UNITE=OFF

A header is compiled with the flags of the first source of its folder, or of any source. Nothing is written. Files that the tree does not
compile (what another flavour needs) are left out.
"""

import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO


def flags_of(entry: dict) -> list[str]:
    """The command without launcher, source, output and dependency files."""
    words = shlex.split(entry["command"])
    words = words[words.index(next(word for word in words if word.startswith("-"))) - 1 :]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-MD", "-MMD"):
            kept.append(word)
    return kept


def command_for(file: Path, database: dict[Path, list[str]]) -> list[str] | None:
    if file.suffix == ".cpp":
        return [*database[file], "-fsyntax-only", str(file)] if file in database else None
    near = next((source for source in database if source.parent == file.parent), next(iter(database)))
    # The header as the main file would warn of its #pragma once.
    return [*database[near], "-fsyntax-only", "-include", str(file), "-x", "c++", "/dev/null"]


def all_stand_alone(database_file: Path, jobs: int, files: list[Path], words: IO[str] | None = None) -> bool:
    entries = json.loads(database_file.read_text(encoding="utf-8"))
    database = {Path(entry["file"]).resolve(): flags_of(entry) for entry in entries if entry["file"].endswith(".cpp")}
    commands = [command_for(file.resolve(), database) for file in files]

    def stands(command: list[str]) -> bool:
        return subprocess.run(command, cwd=database_file.parent, stderr=words, check=False).returncode == 0

    with ThreadPoolExecutor(jobs) as pool:
        return all(list(pool.map(stands, [command for command in commands if command])))


def main() -> int:
    return 0 if all_stand_alone(Path(sys.argv[1]), int(sys.argv[2]), [Path(name) for name in sys.argv[3:]]) else 1


if __name__ == "__main__":
    sys.exit(main())
