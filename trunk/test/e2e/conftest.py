"""Fixtures of the end-to-end tests: the server under test, the clips, the options --long and --workers."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "media")]
# A failed assert in a helper shows its values, as one in a test file does.
pytest.register_assert_rewrite(*sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith(("test_", "conftest"))))

import aiortc_client  # noqa: E402  pylint: disable=wrong-import-position
import browser as browsers  # noqa: E402  pylint: disable=wrong-import-position
import clips  # noqa: E402  pylint: disable=wrong-import-position
import live_server  # noqa: E402  pylint: disable=wrong-import-position
import load_tools  # noqa: E402  pylint: disable=wrong-import-position
from cached_venv import python_with  # noqa: E402  pylint: disable=wrong-import-position


# Else it makes a folder in the working directory.
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "live-server/hypothesis"))


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")
    parser.addoption("--workers", type=int, metavar="N", help="run the tests that are marked so with N workers, and no others")


# Without --workers.
SEVERAL = 3


def pytest_generate_tests(metafunc):
    marked, alone = (metafunc.definition.get_closest_marker(name) for name in ("workers", "one_worker"))
    assert alone is None or alone.args, f"{metafunc.definition.name}: one_worker(reason)"
    if marked is None or alone is not None:
        return
    asked = metafunc.config.getoption("--workers")
    counts = [asked] if asked else [1, SEVERAL]
    metafunc.parametrize("workers", counts, indirect=True, ids=[f"{count}w" for count in counts], scope="session")


def is_wanted(item, config) -> bool:
    count = item.callspec.params.get("workers", 1) if hasattr(item, "callspec") else 1
    if config.getoption("--workers"):
        return hasattr(item, "callspec") and "workers" in item.callspec.params
    is_always = item.get_closest_marker("workers") is not None and item.get_closest_marker("workers").kwargs.get("always")
    return count == 1 or is_always or config.getoption("--long")


@pytest.fixture(name="workers", scope="session", autouse=True)
def fixture_workers(request):
    """How many workers the servers of this test have; a fixture that starts servers for more than one test asks for it."""
    count = getattr(request, "param", 1)
    with pytest.MonkeyPatch.context() as patch:
        if count > 1:
            patch.setenv("SRS_WORKERS", str(count))
        yield count


# Files of more than a minute begin first, the longest one before all others: where files run beside each other (pytest-xdist), the last one
# runs alone.
LONGEST = ["test_same_segments.py", "test_pages.py", "test_play.py", "test_http_streams.py", "test_upgrade.py", "test_edge.py", "test_cluster_drain.py",
           "test_srt.py", "test_srt_calls.py", "test_publish_play.py", "test_workers.py", "test_tracks.py", "test_edge_ways.py", "test_edge_formats.py"]


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    unwanted = [item for item in items if not is_wanted(item, config)]
    if unwanted:
        items[:] = [item for item in items if is_wanted(item, config)]
        config.hook.pytest_deselected(items=unwanted)
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


@pytest.fixture(name="chromium", scope="module")
def fixture_chromium():
    try:
        chromium = browsers.Browser()
    except browsers.Unavailable as reason:
        pytest.skip(str(reason))
    yield chromium
    chromium.close()


@pytest.fixture(name="html", scope="module")
def fixture_html(tmp_path_factory):
    """The pages as the build puts them into objs/nginx/html."""
    folder = tmp_path_factory.mktemp("html")
    subprocess.run([live_server.TRUNK / "scripts/make-pages.sh", folder], check=True, capture_output=True, timeout=300)
    return folder


@pytest.fixture(name="mortal")
def fixture_mortal(tmp_path):
    """Origins that a test may kill."""
    started = []

    def start(vhost: str = ""):
        started.append(live_server.LiveServer(tmp_path / f"mortal{len(started)}", live_server.conf(vhost)).start())
        return started[-1]

    yield start
    for one in started:
        one.process.send_signal(signal.SIGCONT)
        one.kill()
        one.assert_no_report()


@pytest.fixture(name="aiortc", scope="module")
def fixture_aiortc() -> Path:
    """A Python that has it, in the cache folder, which is made on first use."""
    return python_with("aiortc", aiortc_client.HERE / "requirements.txt", "aiortc, the second WebRTC client,")


@pytest.fixture(name="own_program")
def fixture_own_program(tmp_path, monkeypatch):
    """A path that the test may replace."""
    path = tmp_path / "srs"
    shutil.copy(live_server.BINARY, path)
    monkeypatch.setattr(live_server, "BINARY", path)
    return path
