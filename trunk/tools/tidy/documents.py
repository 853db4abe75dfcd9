"""READMEs of the rooms, links in documents, leftover notes, paths of a developer's machine, imports between test files,
the list of tests that valgrind leaves out."""

import ast
import fnmatch
import re
from pathlib import Path

from tree import Problem

README_LINES_MAX = 60
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
NOTE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\s*\((?:#|issue )\d+\))")
MACHINE_PATH = re.compile(r"(?<![\w.$}~*:/-])/(?:home/[a-z][\w.-]*|root|work|Users/\w+|tmp/w)/[\w.-]+")
TEST_NAME = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
TEXT_SUFFIXES = {".cpp", ".hpp", ".c", ".h", ".S", ".py", ".sh", ".cmake", ".txt", ".md", ".conf", ".in", ".js", ".html", ".yml", ""}


def check_readmes(tree):
    for room in tree.rooms:
        readme = tree.src / room / "README.md"
        if not readme.is_file():
            yield Problem(f"{room}/README.md", 1, "room-readme", "a room says what it is for in a README.md")
            continue
        count = readme.read_text(encoding="utf-8").count("\n")
        if count > README_LINES_MAX:
            yield Problem(f"{room}/README.md", 1, "room-readme", f"{count} lines, {README_LINES_MAX} are allowed")


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8", errors="replace"), flags=re.DOTALL)
    return {slug(re.sub(r"[`*]|\[|\]\([^)]*\)", "", m.group(1))) for m in re.finditer(r"^#+\s+(.*)$", text, re.MULTILINE)}


def without_code(text):
    text = re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`", lambda m: " " * len(m.group(0)), text)


def check_links(tree):
    for path in tree.committed:
        # A page under a second name is checked under its own: its links are relative to that folder.
        if path.suffix != ".md" or path.is_symlink():
            continue
        text = without_code(path.read_text(encoding="utf-8", errors="replace"))
        for match in LINK.finditer(text):
            target = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            to = (path.parent / name).resolve() if name else path
            line = text.count("\n", 0, match.start()) + 1
            shown = path.relative_to(tree.repository).as_posix()
            if not to.exists():
                yield Problem(shown, line, "dead-link", target)
            elif anchor and to.suffix == ".md" and anchor not in anchors(to):
                yield Problem(shown, line, "dead-link", f"{target}: no such heading")


def is_text(path):
    return path.suffix in TEXT_SUFFIXES


def check_notes(tree):
    own = Path(__file__).resolve().parent
    for path in tree.committed:
        if not is_text(path) or path.is_relative_to(own) or path.suffix == ".md" or path.is_relative_to(tree.trunk / "test" / "corpus"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        shown = path.relative_to(tree.repository).as_posix()
        for match in NOTE.finditer(text):
            # mktemp patterns are made of the same letter.
            if match.group(1) == "XXX" and "X" in text[match.end() : match.end() + 1]:
                continue
            yield Problem(shown, text.count("\n", 0, match.start()) + 1, "note", f"{match.group(1)} without an issue number")


def check_machine_paths(tree):
    own = Path(__file__).resolve().parent
    for path in tree.committed:
        if not is_text(path) or path.is_relative_to(own) or path.is_relative_to(tree.trunk / "test" / "corpus"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        shown = path.relative_to(tree.repository).as_posix()
        for match in MACHINE_PATH.finditer(text):
            yield Problem(shown, text.count("\n", 0, match.start()) + 1, "machine-path", match.group(0))


def check_test_imports(tree):
    """A test file imports helper modules, never another test file: pytest would collect its fixtures and marks a second time."""
    for path in tree.committed:
        if path.suffix != ".py" or not path.is_relative_to(tree.trunk / "test"):
            continue
        shown = path.relative_to(tree.repository).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.split(".")[-1].startswith("test_") and (path.parent / (name.replace(".", "/") + ".py")).is_file():
                    yield Problem(shown, node.lineno, "test-import", f"{name} is a test file: move its shared part to conftest.py or a helper module")


def check_valgrind_list(tree):
    """Each pattern of `apart` matches a test: one that was renamed would run under valgrind again, for minutes."""
    script = tree.trunk / "scripts/valgrind.sh"
    if not script.is_file():
        return
    names = [f"{suite}.{name}" for source in tree.sources if source.is_test for suite, name in TEST_NAME.findall(source.text)]
    for number, line in enumerate(script.read_text(encoding="utf-8").split("\n"), 1):
        for pattern in re.findall(r'[\w*]+\.[\w*]+', line) if line.startswith('apart="') else ():
            if not fnmatch.filter(names, pattern):
                yield Problem("scripts/valgrind.sh", number, "valgrind-list", f"{pattern} matches no test")
