"""The configuration that containers get from their environment."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from live_server import BINARY, TRUNK


yaml = pytest.importorskip("yaml")
# What a conf or an entry point of ours reads, beside the server's own variables.
OTHER_VARIABLES = {"CANDIDATE"}


def server_variables() -> set[str]:
    """Of every directive; doc/config.md is generated, and lint sees that it is current."""
    return set(re.findall(r"`(SRS_[A-Z0-9_]+)`", (TRUNK / "doc/config.md").read_text()))


def assert_conf_is_valid(path: Path, environment: dict[str, str], folder: Path) -> None:
    # What a container has as folders of its own.
    here = {"SRS_PID": f"{folder}/srs.pid", "SRS_ACCESS_LOG": f"{folder}/access.log", "SRS_VHOST_HLS_HLS_PATH": f"{folder}/data"}
    done = subprocess.run([str(BINARY), "-t", "-c", str(path)], capture_output=True, text=True, timeout=60, cwd=folder, check=False,
                          env={**os.environ, **environment, **here})
    assert done.returncode == 0 and "is successful" in done.stdout + done.stderr, done.stdout + done.stderr
    assert "is not implemented" not in done.stdout + done.stderr, done.stdout + done.stderr
