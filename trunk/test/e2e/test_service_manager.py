"""The states that a service manager receives: sd_notify(3), the protocol of systemd's Type=notify."""

import os
import signal
import socket
from pathlib import Path

import pytest

from live_server import conf, is_gone, wait_until
from upgrade_stage import VHOST, start_player, start_publisher, upgrade


class Manager:
    """The socket of a service manager, and the lines that arrive at it."""

    def __init__(self, path: Path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(20)

    def next(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())

    def is_empty(self) -> bool:
        self.socket.setblocking(False)
        try:
            return not self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(20)


@pytest.fixture(name="manager")
def fixture_manager(tmp_path):
    one = Manager(tmp_path / "notify")
    yield one
    one.socket.close()


@pytest.mark.workers
def test_ready_reload_and_stop(server, manager):
    live = server(environment={"NOTIFY_SOCKET": str(manager.path)})
    assert manager.next() == {"READY": "1"}
    live.process.send_signal(signal.SIGHUP)
    reloading = manager.next()
    assert reloading["RELOADING"] == "1" and int(reloading["MONOTONIC_USEC"]) > 0
    assert manager.next() == {"READY": "1"}
    live.stop()
    assert manager.next() == {"STOPPING": "1"}
    # Workers send nothing: their master is the service.
    assert manager.is_empty()


def test_an_upgrade_names_the_new_main_process_and_the_old_one_ends(server, manager, clip):
    live = server(conf=conf(VHOST), environment={"NOTIFY_SOCKET": str(manager.path)})
    assert manager.next() == {"READY": "1"}
    old = live.process.pid
    publisher, player = start_publisher(live, clip), start_player(live)
    new = upgrade(live)
    try:
        assert manager.next() == {"MAINPID": str(new)}
        assert not is_gone(old), "it has clients"
        publisher.stop()
        player.stop()
        wait_until(lambda: live.process.poll() is not None, 20, "the old process ends with its last client")
        assert live.process.returncode == 0 and not is_gone(new)
        assert manager.is_empty(), "the service is not stopping"
        os.kill(new, signal.SIGTERM)
        assert manager.next() == {"STOPPING": "1"}
    finally:
        if not is_gone(new):
            os.kill(new, signal.SIGTERM)
        wait_until(lambda: is_gone(new), 20, "the new process has ended")


def test_a_missing_manager_is_a_warning_and_no_failure(server, tmp_path):
    live = server(environment={"NOTIFY_SOCKET": str(tmp_path / "nobody")})
    live.wait_log(f"notifying the service manager at {tmp_path}/nobody: No such file or directory (2)")
    live.stop()
