"""The start from a shell: the exit status of a daemon and of the init script is correct, and -t finds the errors of a start."""

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from live_server import BINARY, TRUNK, LiveServer, Ports, conf, free_port, wait_until

CONFIG_ERROR, LISTEN_FAILED = 255, 235
LIMIT_S = 40


def run(arguments: list, folder: Path, environment: dict | None = None) -> subprocess.CompletedProcess:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SRS_")}
    return subprocess.run([str(word) for word in arguments], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=folder,
                          stdin=subprocess.DEVNULL, env={**clean, **(environment or {})})


def daemon_conf(folder: Path, root: str = "", log: str = "srs.log", pid: str = "srs.pid", http: str = "", ports: Ports | None = None) -> LiveServer:
    """A server that goes to the background; not started. `http` goes into http_server."""
    text = conf(root=root).replace("daemon              off;", "daemon on; disable_daemon_for_docker off;")
    text = text.replace("http_server { enabled on;", "http_server { enabled on; " + http)
    text = text.replace("srs_log_tank        console;", f"srs_log_tank file; srs_log_file $folder/{log};").replace("$folder/srs.pid", f"$folder/{pid}")
    return LiveServer(folder, text, ports=ports)


def start(server: LiveServer) -> subprocess.CompletedProcess:
    return run([BINARY, "-c", server.conf_path], server.folder)


def pid_of(folder: Path) -> int:
    return int((folder / "srs.pid").read_text())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def end(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_alive(pid), LIMIT_S, "the daemon ends")


@pytest.fixture(name="taken_port")
def fixture_taken_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port()))
        taken.listen()
        yield taken.getsockname()[1]


def test_a_daemon_serves_when_its_parent_returns(tmp_path):
    server = daemon_conf(tmp_path)
    done = start(server)
    assert (done.returncode, done.stderr) == (0, "") and "tail -n 30 -f" in done.stdout
    try:
        assert server.api("/api/v1/versions")["code"] == 0
        with socket.create_connection(("127.0.0.1", server.ports["rtmp"]), 5):
            pass
    finally:
        end(pid_of(tmp_path))


def test_a_daemon_that_cannot_listen_is_a_failed_start(tmp_path, taken_port):
    server = daemon_conf(tmp_path, ports=Ports(rtmp=taken_port))
    done = start(server)
    assert done.returncode == LISTEN_FAILED and str(taken_port) in done.stderr and "Address already in use" in done.stderr
    assert "srs.log" in done.stderr and "tail" not in done.stdout


@pytest.mark.parametrize("files", [{"log": "absent/srs.log"}, {"pid": "absent/srs.pid"}], ids=["log", "pid"])
def test_a_daemon_that_cannot_write_its_files_is_a_failed_start(tmp_path, files):
    server = daemon_conf(tmp_path, **files)
    done = start(server)
    assert done.returncode == CONFIG_ERROR and next(iter(files.values())) in done.stderr and "No such file or directory" in done.stderr


def test_an_error_line_does_not_end_with_success(tmp_path, taken_port):
    server = LiveServer(tmp_path, conf(), ports=Ports(rtmp=taken_port))
    server.start(ready=False)
    assert server.process.wait(LIMIT_S) == LISTEN_FAILED
    lines = server.complaints()
    assert any("Address already in use" in line for line in lines) and not any("(Success)" in line for line in lines)


@pytest.fixture(name="root")
def fixture_root(tmp_path):
    """An installation: the script, the program, a conf; init("start") calls the script."""
    (tmp_path / "etc" / "init.d").mkdir(parents=True)
    script = shutil.copy(TRUNK / "etc" / "init.d" / "srs", tmp_path / "etc" / "init.d" / "srs")
    (tmp_path / "objs").mkdir()
    (tmp_path / "objs" / "srs").symlink_to(BINARY)
    (tmp_path / "conf").mkdir()

    def init(verb: str) -> subprocess.CompletedProcess:
        return run(["sh", script, verb], tmp_path)

    yield tmp_path, init
    init("stop")


def write_init_conf(folder: Path, text: str, ports: Ports | None = None) -> LiveServer:
    server = LiveServer(folder, text, ports=ports)
    server.conf_path.rename(folder / "conf" / "srs.conf")
    return server


@pytest.mark.parametrize("how", ["daemon", "console"])
def test_the_init_script_starts_and_stops(root, how):
    folder, init = root
    text = conf() if how == "console" else conf().replace("daemon              off;", "").replace("srs_log_tank        console;", "")
    server = write_init_conf(folder, text)
    done = init("start")
    assert done.returncode == 0 and "srs started, pid" in done.stdout, done.stdout + done.stderr
    assert server.api("/api/v1/versions")["code"] == 0
    wait_until(lambda: "signal installed" in (folder / "objs" / "srs.log").read_text(), 20, "the log's line")
    assert init("status").returncode == 0
    pid = pid_of(folder)
    assert init("start").returncode != 0
    assert init("stop").returncode == 0 and not is_alive(pid)
    assert init("status").returncode != 0


def test_the_init_script_reports_a_failed_start(root, taken_port):
    folder, init = root
    write_init_conf(folder, conf(), ports=Ports(rtmp=taken_port))
    done = init("start")
    assert done.returncode == LISTEN_FAILED and "started" not in done.stdout
    assert str(taken_port) in done.stderr and "did not start" in done.stderr


def listing(folder: Path) -> set:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def both_say_no(server: LiveServer, *words: str) -> None:
    """-t fails with the same words as a start, and leaves nothing behind."""
    before = listing(server.folder)
    tested = run([BINARY, "-t", "-c", server.conf_path], server.folder)
    assert listing(server.folder) == before
    started = start(server)
    assert tested.returncode == CONFIG_ERROR and started.returncode != 0, tested.stdout + tested.stderr
    assert "failed" in tested.stderr
    for word in words:
        assert word in tested.stderr and word in started.stderr, tested.stderr + started.stderr


RTMPS = "rtmps {{ enabled on; listen 127.0.0.1:$rtmps; key {key}; cert {cert}; }}\n"


def test_test_mode_misses_certificates_that_are_not_there(tmp_path, certificate):
    key, cert = certificate
    both_say_no(daemon_conf(tmp_path / "cert", RTMPS.format(key=key, cert="absent.crt")), "absent.crt cannot be read")
    both_say_no(daemon_conf(tmp_path / "key", RTMPS.format(key="absent.key", cert=cert)), "absent.key cannot be read")
    https = f"https {{ enabled on; listen 127.0.0.1:$https; key absent.key; cert {cert}; }}"
    both_say_no(daemon_conf(tmp_path / "https", http=https), "absent.key cannot be read")


def test_test_mode_misses_a_key_that_belongs_to_another_certificate(tmp_path, certificate):
    other = tmp_path / "other.key"
    subprocess.run(["openssl", "genrsa", "-out", other, "2048"], check=True, capture_output=True)
    both_say_no(daemon_conf(tmp_path / "server", RTMPS.format(key=other, cert=certificate[1])), "other.key")


@pytest.mark.parametrize("files", [{"log": "absent/srs.log"}, {"pid": "absent/srs.pid"}], ids=["log", "pid"])
def test_test_mode_misses_folders_that_are_not_there(tmp_path, files):
    both_say_no(daemon_conf(tmp_path, **files), next(iter(files.values())), "No such file or directory")


def test_test_mode_misses_the_work_folder(tmp_path):
    both_say_no(daemon_conf(tmp_path, "work_dir $folder/absent;\n"), "absent", "No such file or directory")


def test_test_mode_warns_of_folders_that_recordings_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("no folder")
    server = LiveServer(tmp_path, conf("dvr { enabled on; dvr_path $folder/file/[app]/[stream].flv; }"))
    done = run([BINARY, "-t", "-c", server.conf_path], tmp_path)
    assert done.returncode == 0 and "recordings cannot be written to" in done.stderr and "Not a directory" in done.stderr
    assert "is successful" in done.stdout


def test_test_mode_makes_no_certificate(tmp_path):
    server = LiveServer(tmp_path, conf().replace("http_api { enabled on;", "http_api { enabled on; https { enabled on; listen 127.0.0.1:$https; }"))
    before = listing(tmp_path)
    assert run([BINARY, "-t", "-c", server.conf_path], tmp_path).returncode == 0
    assert listing(tmp_path) == before
