"""Fixtures of the end-to-end tests: the server under test, the clips, the option --long."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "media")]

import clips  # noqa: E402  pylint: disable=wrong-import-position
import live_server  # noqa: E402  pylint: disable=wrong-import-position
import load_tools  # noqa: E402  pylint: disable=wrong-import-position


# Else it makes a folder in the working directory.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "live-server/hypothesis"))


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")


# Files of more than a minute begin first: where files run beside each other (pytest-xdist), the last one runs alone.
LONGEST = ["test_same_segments.py"]


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: item.path.name not in LONGEST)
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="takes minutes: --long runs it"))


def pytest_sessionstart(session):
    if not live_server.BINARY.exists() and not session.config.option.collectonly:
        pytest.exit(f"there is no server at {live_server.BINARY}: build it, or name one in LIVE_SERVER", returncode=3)


@pytest.fixture(name="clip", scope="session")
def fixture_clip():
    """clip("basic") gives a path; a test is skipped, visibly, when the clip cannot be made here."""
    def get(name: str) -> Path:
        try:
            return clips.clip(name)
        except clips.Unavailable as reason:
            pytest.skip(str(reason))
    return get


@pytest.fixture(name="server")
def fixture_server(tmp_path):
    """server(vhost="...", root="...") starts one and gives it; at the end each is stopped by SIGTERM and must have ended well."""
    started = []

    def start(vhost: str = "", root: str = "", conf: str | None = None, **options) -> live_server.LiveServer:
        folder = tmp_path / f"server{len(started)}"
        text = conf if conf is not None else live_server.conf(vhost, root)
        started.append(live_server.LiveServer(folder, text, **options))
        return started[-1].start()

    yield start
    try:
        for one in reversed(started):
            if one.process is not None:
                one.stop()
    finally:
        for one in started:
            one.kill()


@pytest.fixture(name="load")
def fixture_load(tmp_path):
    """load("sb_rtmp_load", ...) starts one; what still runs at the end is killed."""
    running = []

    def start(name: str, *arguments) -> load_tools.Load:
        running.append(load_tools.Load(tmp_path, name, *arguments))
        return running[-1]

    yield start
    for one in running:
        one.kill()


@pytest.fixture(name="certificate", scope="session")
def fixture_certificate(tmp_path_factory):
    """(key file, certificate file): self-signed, for localhost."""
    folder = tmp_path_factory.mktemp("certificate")
    key, cert = folder / "server.key", folder / "server.crt"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
               "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"openssl cannot make a certificate: {done.stderr[-200:]}")
    return key, cert
