"""Pythons with packages that only a few tests need, in the cache folder, made on first use."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "live-server"


def python_with(name: str, wanted: Path, what: str) -> Path:
    """A Python with the packages of the requirements file `wanted`; the test is skipped when it cannot be installed."""
    cache = cache_folder()
    digest = hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()[:10]
    folder = cache / f"{name}-{digest}"
    python = folder / "bin/python"
    if python.exists():
        return python
    cache.mkdir(parents=True, exist_ok=True)
    # A venv cannot be moved, so a file written last marks it as complete.
    work = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=cache))
    for command in ([sys.executable, "-m", "venv", work],
                    [work / "bin/python", "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", "--only-binary=:all:",
                     "-r", wanted]):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            shutil.rmtree(work)
            pytest.skip(f"{what} could not be installed: {done.stderr.strip()[-300:]}")
    try:
        folder.symlink_to(work.name)
    except FileExistsError:  # Another run was quicker.
        shutil.rmtree(work)
    return python
