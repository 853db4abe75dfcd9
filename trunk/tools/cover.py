#!/usr/bin/env python3
"""Coverage of each room by its unit tests, from gcov's JSON. Tests, fuzz targets and benchmarks do not count as code.

    cover.py TRUNK TREE      TREE: a build folder with LIVE_COVER=ON in which srs_utest has just run

A branch that only exists to unwind an exception is not one: nothing of ours throws. Floors are in cover-floors.txt beside this file;
they may only rise.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path


def gcov_documents(tree):
    data = sorted(str(path) for path in tree.rglob("*.gcda"))
    for first in range(0, len(data), 40):
        out = subprocess.run(
            ["gcov", "--json-format", "--stdout", "--branch-probabilities", *data[first : first + 40]],
            cwd=tree, capture_output=True, check=True,
        ).stdout
        for line in out.splitlines():
            if line.strip():
                yield json.loads(line)


def collect(documents, source):
    """{file: {line: hits}}, {file: {(line, branch): hits}}, joined over all objects that contain the file."""
    lines = defaultdict(lambda: defaultdict(int))
    branches = defaultdict(lambda: defaultdict(int))
    for document in documents:
        folder = Path(document.get("current_working_directory", "."))
        for entry in document["files"]:
            path = (folder / entry["file"]).resolve()
            if not path.is_relative_to(source) or path.stem.endswith(("_test", "_fuzz", "_bench")):
                continue
            name = path.relative_to(source).as_posix()
            for line in entry["lines"]:
                number = line["line_number"]
                lines[name][number] += line["count"]
                kept = [branch for branch in line["branches"] if not branch["throw"]]
                for index, branch in enumerate(kept):
                    branches[name][(number, index)] += branch["count"]
    return lines, branches


def share(counts):
    return 100 * sum(1 for count in counts if count) / len(counts) if counts else 100.0


def by_room(table):
    rooms = defaultdict(list)
    for name, counts in table.items():
        rooms[name.split("/")[0]].extend(counts.values())
    return rooms


def read_floors(text):
    rows = (line.split("#")[0].split() for line in text.splitlines())
    return {row[0]: float(row[1]) for row in rows if len(row) == 2}


def main(arguments):
    trunk, tree = Path(arguments[1]).resolve(), Path(arguments[2]).resolve()
    lines, branches = collect(gcov_documents(tree), trunk / "src")
    floors = read_floors((trunk / "tools/cover-floors.txt").read_text())
    line_rooms, branch_rooms = by_room(lines), by_room(branches)
    failed = 0
    print(f"| {'room':<10} | {'lines':>8} | {'branches':>8} | {'floor':>6} |")
    for room in sorted(line_rooms):
        covered = share(branch_rooms[room])
        floor = floors.get(room, 0.0)
        failed += covered < floor
        print(f"| {room:<10} | {share(line_rooms[room]):6.1f} % | {covered:6.1f} % | {floor:4.0f} % |{' below the floor' if covered < floor else ''}")
    print("least covered:")
    for name in sorted(lines, key=lambda name: share(list(lines[name].values())))[:10]:
        print(f"  {share(list(lines[name].values())):5.1f} %  {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
