"""Sizes, banned calls and mutable state in the sources."""

import re

from tree import Problem

FUNCTION_LINES_MAX = 70
FILE_LINES_WARN = 600
FILE_LINES_MAX = 1000
FOLDER_UNITS_MAX = 15

# rule name, pattern on code without comments and strings, message, and a predicate for files that may use it.
BANNED = [
    ("st-call", r"\bst_\w+\s*\(", "only io calls the coroutine library", lambda f: f.room == "io"),
    ("time-call", r"(?<![\w.>:])(?:std::|::)?time\s*\(\s*(?:NULL|nullptr|0|&|\))", "ask for no time here, take `now`", lambda f: False),
    ("clock-call", r"\bsystem_clock::now\s*\(|\b(?:clock_gettime|gettimeofday)\s*\(", "a dry room asks for no time, it takes `now`",
     lambda f: f.room not in ("base", "wire", "media", "engine") or f.is_test or f.is_bench),
    ("clock-call", r"\b(?:steady|high_resolution)_clock::now\s*\(", "take `now`; wet rooms have io::now()",
     lambda f: f.room in ("io", "app", "bench") or f.is_test or f.is_bench),
    ("printf-call", r"(?<![\w.>])(?:std::|::)?(?:printf|puts)\s*\(", "use the log", lambda f: f.room == "bench" or f.is_bench),
    ("rand-call", r"(?<![\w.>])(?:std::|::)?s?rand\s*\(", "use base/bytes/random.hpp or a generator that is handed in", lambda f: False),
    ("thread", r"\bstd::j?thread\b", "only io starts threads", lambda f: f.room == "io"),
    ("reinterpret-cast", r"\breinterpret_cast\b", "only base and io look at bytes as something else", lambda f: f.room in ("base", "io")),
    ("new-delete", r"(?<!operator )\bnew\b(?!\s*\()|(?<!operator )\bnew\s*\(|(?<!= )(?<!=)(?<!operator )\bdelete\b",
     "only base/bytes/ref.hpp may; use make_unique or make_ref", lambda f: f.name == "base/bytes/ref.hpp"),
    ("shell", r"(?<![\w.>])(?:std::|::)?(?:system|popen)\s*\(", "no shell: start programs by argv", lambda f: False),
    ("ranges-copy", r"\branges::copy\s*\((?![^;]*_inserter)", "copy_bytes: GCC 12 compiles this to a loop over single bytes",
     lambda f: f.is_test or f.is_fuzz or f.is_bench or f.room == "bench"),
    ("unbounded-copy", r"(?<![\w.>])(?:std::|::)?(?:strcpy|strcat|sprintf|gets)\s*\(", "no copy without a bound", lambda f: False),
    ("blocking-sleep", r"(?<![\w.>:])(?:::)?(?:sleep|usleep|nanosleep)\s*\(|\bsleep_for\b", "io::sleep with a Deadline",
     lambda f: f.room in ("io", "bench")),
    ("shared-ptr", r"\bstd::shared_ptr\b", "one owner; a shared one needs a comment in this file that says who the owners are",
     lambda f: f.is_test or re.search(r"//.*\b[Oo]wne(?:r|d by)", f.text)),
]
BANNED = [(rule, re.compile(pattern), text, may) for rule, pattern, text, may in BANNED]


def check_banned(tree):
    for source in tree.sources:
        for rule, pattern, text, may in BANNED:
            if may(source):
                continue
            for match in pattern.finditer(source.cpp.code):
                line = source.cpp.code.count("\n", 0, match.start()) + 1
                if not source.lines[line - 1].lstrip().startswith("#"):
                    yield Problem(source.name, line, rule, f"{match.group(0).strip()}: {text}")


def is_excused(source, function):
    """The marker stands above the function's head or inside the function."""
    first = max(0, function.first - 3)
    return any("// tidy-long:" in line for line in source.lines[first : function.last])


def long_functions(tree):
    """(file, function, excused) of each function over the limit."""
    for source in tree.sources:
        for function in source.cpp.functions:
            if function.lines > FUNCTION_LINES_MAX:
                yield source, function, is_excused(source, function)


def check_sizes(tree):
    for source, function, excused in long_functions(tree):
        if not excused:
            yield Problem(source.name, function.first, "long-function",
                          f"{function.name} has {function.lines} lines, {FUNCTION_LINES_MAX} are allowed")
    for source in tree.sources:
        if len(source.lines) - 1 > FILE_LINES_MAX:
            yield Problem(source.name, 1, "long-file", f"{len(source.lines) - 1} lines, {FILE_LINES_MAX} are allowed")


def long_file_warnings(tree):
    for source in tree.sources:
        if FILE_LINES_WARN < len(source.lines) - 1 <= FILE_LINES_MAX:
            yield f"{source.name}: {len(source.lines) - 1} lines; over {FILE_LINES_WARN} a file wants to be two"


def oversized_folders(tree):
    """(folder, units) of each folder with more product units than a reader can keep in mind, the largest first."""
    units = {}
    for source in tree.sources:
        if source.is_product:
            units.setdefault(source.name.rsplit("/", 1)[0], set()).add(source.unit)
    found = [(folder, len(names)) for folder, names in units.items() if len(names) > FOLDER_UNITS_MAX]
    return sorted(found, key=lambda pair: -pair[1])


def mutable_globals(tree):
    for source in tree.sources:
        if source.is_product:
            for line, text in source.cpp.variables:
                yield Problem(source.name, line, "mutable-global", text)


PARSER = re.compile(r"\b(?:parse_\w+|read_\w+|handle_bytes|feed)\s*\([^()]*\b(?:Bytes|ByteReader|std::string_view)\b")


def parsers(tree):
    """Headers of wire and engine that declare a parser of peer input."""
    return [s for s in tree.sources if s.room in ("wire", "engine") and s.is_header and s.is_product and PARSER.search(s.cpp.code)]


def fuzzed_headers(tree):
    """Headers that a fuzz target includes, and those that they include from their folder: a helper is tested through its parser."""
    reached = {header for s in tree.sources if s.is_fuzz for _, header, _ in s.cpp.includes}
    units = {}
    for source in tree.sources:
        units.setdefault(source.unit, []).append(source)
    waiting = list(reached)
    while waiting:
        name = waiting.pop()
        for source in units.get(name.rsplit(".", 1)[0], ()):
            for _, header, _ in source.cpp.includes:
                if header not in reached and header.rsplit("/", 1)[0] == name.rsplit("/", 1)[0]:
                    reached.add(header)
                    waiting.append(header)
    return reached


def check_fuzz(tree):
    fuzzed = fuzzed_headers(tree)
    for source in parsers(tree):
        if source.name not in fuzzed:
            line = source.cpp.code.count("\n", 0, PARSER.search(source.cpp.code).start()) + 1
            yield Problem(source.name, line, "no-fuzz", "a parser that no fuzz target includes")
