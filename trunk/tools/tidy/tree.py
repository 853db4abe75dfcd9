"""The tree as tidy sees it: files, rooms, and findings."""

import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cpp

SOURCE_SUFFIXES = (".cpp", ".hpp", ".c", ".h")
HELPER_SUFFIXES = ("_fixture", "_vectors")  # headers for tests only


@dataclass(frozen=True, order=True)
class Problem:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


class SourceFile:
    def __init__(self, root, path):
        self.path = path
        self.name = path.relative_to(root).as_posix()  # below src/
        self.parts = self.name.split("/")
        self.room = self.parts[0]
        self.folder = "/".join(self.parts[:2]) if len(self.parts) > 2 else self.room
        self.text = path.read_text(encoding="utf-8", errors="replace")
        self.lines = self.text.split("\n")
        stem = path.stem
        self.is_header = path.suffix in (".hpp", ".h")
        self.is_helper = self.is_header and stem.endswith(HELPER_SUFFIXES)
        self.is_test = self.is_helper or stem.endswith(("_test", "_fixture")) or "test" in self.parts[1:-1]
        self.is_fuzz = stem.endswith("_fuzz")
        self.is_bench = stem.endswith("_bench")

    @property
    def is_product(self):
        return not (self.is_test or self.is_fuzz or self.is_bench)

    @property
    def unit(self):
        """Header and source of one name are one unit; a test is its own."""
        return self.name.rsplit(".", 1)[0]

    @cached_property
    def cpp(self):
        return cpp.read(self.text)


class Tree:
    """trunk: the folder that holds src/. The repository may begin above it."""

    def __init__(self, trunk):
        self.trunk = Path(trunk).resolve()
        self.src = self.trunk / "src"
        self.repository = self.trunk.parent

    @cached_property
    def sources(self):
        found = sorted(p for p in self.src.rglob("*") if p.suffix in SOURCE_SUFFIXES)
        return [SourceFile(self.src, p) for p in found]

    @cached_property
    def by_name(self):
        return {source.name: source for source in self.sources}

    @cached_property
    def rooms(self):
        return sorted({source.room for source in self.sources if len(source.parts) > 1})

    @cached_property
    def committed(self):
        """Every text file that is committed or could be: the files known to git or not ignored, else all files."""
        try:
            out = subprocess.run(
                ["git", "-C", str(self.repository), "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"],
                check=True,
                capture_output=True,
            ).stdout.decode()
            names = [name for name in out.split("\0") if name]
        except (OSError, subprocess.CalledProcessError):
            skipped = {".git", "objs", "node_modules", "__pycache__", ".cache"}
            names = [
                p.relative_to(self.repository).as_posix()
                for p in self.repository.rglob("*")
                if p.is_file() and not skipped & set(p.relative_to(self.repository).parts)
            ]
        return [self.repository / name for name in sorted(set(names)) if (self.repository / name).is_file()]
