"""The ffmpeg children of a server under test, programs that take ffmpeg's place, and the metrics about them."""

import stat
import urllib.request
from pathlib import Path

EXPORTER = "exporter { enabled on; listen 127.0.0.1:$exporter; }"


def ffmpegs(live) -> list[int]:
    """The children of the server, of all its workers."""
    return [int(child) for pid in live.pids() for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


def fake(folder: Path, script: str) -> str:
    path = folder / "fake-ffmpeg"
    path.write_text("#!/bin/sh\n" + script + "\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"ffmpeg {path};"


def metrics(live) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{live.ports['exporter']}/metrics", timeout=8) as answer:
        return answer.read().decode()
