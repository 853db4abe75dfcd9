"""A run of the demonstration script."""

import os
import re
import signal
import subprocess
from pathlib import Path

from live_server import TRUNK, wait_until


class Run:
    """One run of the script, with its terminal in a file."""

    def __init__(self, conf: Path, out: Path):
        self.out = out
        with open(out, "wb") as terminal:
            # A group of its own, as a terminal gives it: Ctrl-C reaches all of it.
            self.process = subprocess.Popen([TRUNK / "scripts/run.sh", conf], stdin=subprocess.DEVNULL, stdout=terminal,
                                            stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ, "JOBS": "2"})

    def terminal(self) -> str:
        return self.out.read_text()

    def wait_addresses(self) -> dict[str, list[str]]:
        """Name to addresses."""
        def done():
            assert self.process.poll() is None, self.terminal()
            return self.terminal().endswith("Ctrl-C stops it.\n")
        wait_until(done, 90, "the addresses", 0.1)
        box = self.terminal().split("The server runs", 1)[1]
        found: dict[str, list[str]] = {}
        for name, address in re.findall(r"^  (\S*) +'?((?:rtmp|http|srt|rtsp)://[^\s']+)", box, re.MULTILINE):
            name = name or list(found)[-1]
            found.setdefault(name, []).append(address)
        return found

    def interrupt(self) -> int:
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(20)
