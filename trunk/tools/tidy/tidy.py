#!/usr/bin/env python3
"""Checks the rules of this tree that no linter has: arrows between rooms, include cycles, names of test helpers, sizes of functions,
classes, files and folders, banned calls, mutable state, parsers without fuzz targets, phrases in comments, READMEs, links, leftover notes,
machine paths, imports between test files, the list of tests that valgrind leaves out. Prints the problems and the table of targets; exits 1 if there is a problem. Exceptions are in allowed.txt, each with a reason;
counts that may only fall are in limits.txt.

    tidy.py [TRUNK]          checks the tree
    tidy.py --list NAME      prints what a count of limits.txt consists of
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import classes  # noqa: E402
import documents  # noqa: E402
import includes  # noqa: E402
import language  # noqa: E402
import rules  # noqa: E402
from tree import Problem, Tree  # noqa: E402

DRY_ROOMS = ("base", "wire", "media", "engine")


def read_allowed(text):
    """{(path, rule): line of the list}"""
    allowed = {}
    for number, raw in enumerate(text.split("\n"), 1):
        if not raw.strip() or raw.startswith("#"):
            continue
        parts = [part.strip() for part in raw.split("|")]
        if len(parts) != 3 or not all(parts):
            raise SystemExit(f"allowed.txt:{number}: wants path | rule | why")
        allowed[(parts[0], parts[1])] = number
    return allowed


def read_limits(text):
    lines = (line.split("#")[0].split() for line in text.split("\n"))
    return {line[0]: int(line[1]) for line in lines if len(line) == 2}


def find_problems(tree, arrows):
    yield from includes.check_arrows(tree, arrows)
    yield from includes.check_header_weight(tree)
    yield from includes.check_helper_names(tree)
    yield from includes.check_cycles(tree)
    yield from rules.check_banned(tree)
    yield from rules.check_sizes(tree)
    yield from rules.mutable_globals(tree)
    yield from rules.check_fuzz(tree)
    yield from documents.check_readmes(tree)
    yield from documents.check_links(tree)
    yield from documents.check_notes(tree)
    yield from documents.check_machine_paths(tree)
    yield from documents.check_test_imports(tree)
    yield from documents.check_valgrind_list(tree)


def apply_allowed(problems, allowed):
    """Returns problems without an exception, and a problem for each unused exception."""
    used = set()
    left = []
    for problem in problems:
        key = (problem.path, problem.rule)
        if key in allowed:
            used.add(key)
        else:
            left.append(problem)
    for key in allowed.keys() - used:
        left.append(Problem("tools/tidy/allowed.txt", allowed[key], "unused", f"{key[0]} | {key[1]} excuses nothing any more"))
    return left


def check_limits(counts, limits):
    for name, count in counts.items():
        limit = limits.get(name, 0)
        if count > limit:
            yield Problem("tools/tidy/limits.txt", 1, "limit", f"{name} is {count}, it was {limit} and may only fall")
        elif count < limit:
            yield Problem("tools/tidy/limits.txt", 1, "limit", f"{name} fell to {count}: write it down")


def counted(tree):
    """{name in limits.txt: a line for each place that is counted}"""
    rows = {
        "long-functions-excused": [f"{s.name}:{f.first}: {f.name}, {f.lines} lines" for s, f, yes in rules.long_functions(tree) if yes],
        "oversized-classes": [f"{s.name}:{c.line}: {c.name}, {c.functions} functions, {c.data_members} data members"
                              for s, c in classes.oversized(tree)],
        "oversized-folders": [f"{folder}: {count} units" for folder, count in rules.oversized_folders(tree)],
    }
    for kind in language.KINDS:
        rows["comments-" + kind] = []
    for name, line, kind, text in language.findings(tree):
        rows["comments-" + kind].append(f"{name}:{line}: {text}")
    return rows


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0


def measures(tree, rows):
    """Rows of the table: measure, value, target."""
    functions = [f for s in tree.sources for f in s.cpp.functions]
    long_count = sum(1 for _ in rules.long_functions(tree))
    lengths = [len(s.lines) - 1 for s in tree.sources]
    largest = max((len(c) for c in includes.cycles(includes.unit_graph(tree))), default=1)
    dry = [s for s in tree.sources if s.room in DRY_ROOMS]
    tested = sum(len(s.lines) for s in dry if s.is_test or s.is_fuzz)
    written = sum(len(s.lines) for s in dry if s.is_product)
    product = [s for s in tree.sources if s.is_product]
    comments = sum(s.cpp.comment_lines for s in product)
    code = sum(s.cpp.code_lines for s in product)
    share = 100 * long_count / len(functions) if functions else 0
    return [
        ("files, functions", f"{len(tree.sources)}, {len(functions)}", ""),
        ("functions over 70 lines", f"{share:.1f} % ({long_count}, {len(rows['long-functions-excused'])} excused)", "below 1 %"),
        ("classes over 40 functions or 20 members", str(len(rows["oversized-classes"])), "0"),
        ("folders over 15 units", str(len(rows["oversized-folders"])), "0"),
        ("comment lines to rewrite", str(sum(len(places) for name, places in rows.items() if name.startswith("comments-"))), "0"),
        ("file length, p90 / max", f"{percentile(lengths, 0.9)} / {max(lengths, default=0)}", "500 / 1,000"),
        ("largest include cycle", f"{largest} unit{'s' if largest > 1 else ''}", "1 unit (none)"),
        ("mutable globals, singletons", str(sum(1 for _ in rules.mutable_globals(tree))), "0"),
        ("test lines per source line, dry rooms", f"{tested / written if written else 0:.2f}", "at least 1.0"),
        ("parsers without a fuzz target", f"{sum(1 for _ in rules.check_fuzz(tree))} of {len(rules.parsers(tree))}", "0"),
        ("comment share", f"{100 * comments / (comments + code) if comments + code else 0:.0f} %", "10-20 %"),
    ]


def main(arguments):
    if arguments[1:2] == ["--list"]:
        places = counted(Tree(HERE.parent.parent)).get(arguments[2] if len(arguments) > 2 else "")
        if places is None:
            raise SystemExit("tidy.py --list NAME: NAME is a count of limits.txt")
        print("\n".join(places))
        return 0
    trunk = Path(arguments[1]) if len(arguments) > 1 else HERE.parent.parent
    tree = Tree(trunk)
    arrows = includes.Arrows((trunk / "tools/arrows.txt").read_text())
    allowed = read_allowed((trunk / "tools/tidy/allowed.txt").read_text())
    limits = read_limits((trunk / "tools/tidy/limits.txt").read_text())
    problems = apply_allowed(find_problems(tree, arrows), allowed)
    counts = counted(tree)
    problems.extend(check_limits({name: len(places) for name, places in counts.items()}, limits))
    for problem in sorted(problems):
        print(problem)
    for warning in rules.long_file_warnings(tree):
        print("note:", warning)
    rows = [("measure", "value", "target")] + measures(tree, counts)
    for row in rows:
        print(f"| {row[0]:<40} | {row[1]:<24} | {row[2]:<14} |")
    print(f"tidy: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
