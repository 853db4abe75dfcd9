#!/usr/bin/env python3
"""Coverage of each room by its unit tests, from gcov's JSON. Tests, their fixtures and vectors, fuzz targets and
benchmarks do not count as code.

    cover.py TRUNK TREE [FOLDER]   TREE: a build folder with LIVE_COVER=ON in which srs_utest has just run
                                   FOLDER: below src; also lists its lines that no test reaches

A branch that only exists to unwind an exception is not one: nothing of ours throws. The floors are in cover-floors.txt beside this file.
They may only rise: below one this fails, and SLACK points or more above one it says that the floor may be raised.
"""

import json
import subprocess
import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path

SLACK = 2.0
NOT_CODE = ("_test", "_fuzz", "_bench", "_fixture", "_vectors")


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
            if not path.is_relative_to(source) or path.stem.endswith(NOT_CODE):
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


def share_of(table, folder):
    """Of all files below `folder`; None when there are none."""
    below = [counts for name, counts in table.items() if name.startswith(folder + "/")]
    return share([count for counts in below for count in counts.values()]) if below else None


def read_floors(text):
    """{folder: (lines, branches)}"""
    rows = (line.split("#")[0].split() for line in text.splitlines())
    return {row[0]: (float(row[1]), float(row[2])) for row in rows if row}


def verdict(what, measured, floor):
    """Whether it fails, and what to say."""
    if measured < floor:
        return True, f"{what} are below the floor"
    if measured >= floor + SLACK:
        return False, f"the floor of {what} may rise to {int(measured)}"
    return False, ""


def table_rows(lines, branches, floors):
    """(folder, share of lines, share of branches, verdicts) of each room and of each folder that has floors."""
    rooms = {name.split("/")[0] for name in lines}
    for folder in sorted(rooms | set(floors)):
        of_lines = share_of(lines, folder)
        if of_lines is None:
            yield folder, 0.0, 0.0, [(True, "there is no such folder")]
            continue
        of_branches = share_of(branches, folder) if share_of(branches, folder) is not None else 100.0
        line_floor, branch_floor = floors.get(folder, (0.0, 0.0))
        verdicts = [verdict("lines", of_lines, line_floor), verdict("branches", of_branches, branch_floor)]
        yield folder, of_lines, of_branches, [(fails, text) for fails, text in verdicts if text]


def ranges(numbers):
    """[3, 4, 5, 9] as "3-5 9"."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0])]
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def main(arguments):
    trunk, tree = Path(arguments[1]).resolve(), Path(arguments[2]).resolve()
    lines, branches = collect(gcov_documents(tree), trunk / "src")
    floors = read_floors((trunk / "tools/cover-floors.txt").read_text())
    failed = 0
    print(f"| {'folder':<14} | {'lines':>7} | {'branches':>8} | {'floors':>7} |")
    for folder, of_lines, of_branches, verdicts in table_rows(lines, branches, floors):
        floor = "{:g} {:g}".format(*floors.get(folder, (0, 0)))
        failed += sum(fails for fails, _ in verdicts)
        said = ", ".join(text for _, text in verdicts)
        print(f"| {folder:<14} | {of_lines:5.1f} % | {of_branches:6.1f} % | {floor:>7} | {said}".rstrip())
    print("least covered:")
    for name in sorted(lines, key=lambda name: share(list(lines[name].values())))[:10]:
        print(f"  {share(list(lines[name].values())):5.1f} %  {name}")
    if len(arguments) > 3:
        print(f"not reached in {arguments[3]}:")
        for name in sorted(name for name in lines if name.startswith(arguments[3])):
            if missed := [number for number, count in lines[name].items() if not count]:
                print(f"  {share(list(lines[name].values())):5.1f} %  {name}: {ranges(missed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
