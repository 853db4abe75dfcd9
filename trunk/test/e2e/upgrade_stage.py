"""A server, publishers and players during an upgrade."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

import live_server
from live_server import LiveServer, wait_until
from rtc_offer import ask
from rtmp_client import VIDEO, Player, Publisher

VHOST = """
http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }
hls { enabled on; hls_fragment 1; hls_window 30; hls_path $folder/html; }
"""


def upgrade(live: LiveServer) -> int:
    """The pid of the new program."""
    answer = ask(live.ports["api"], "POST", "/api/v1/upgrade")
    assert answer.status == 200, (answer.status, answer.body, live.log()[-2000:])
    data = answer.json()["data"]
    assert data["state"] == "draining" and data["error"] == "", data
    wait_until(lambda: served_by(live) == data["successor"], 20, "the new program answers")
    return data["successor"]


def served_by(live: LiveServer) -> int:
    """The pid of the program: with several workers, their master's."""
    return facts(live)["pid"]


def facts(live: LiveServer) -> dict:
    return live.api("/api/v1/upgrade")["data"]


def start_publisher(live: LiveServer, clip, stream: str = "cam") -> Publisher:
    publisher = Publisher(live.ports["rtmp"], stream, clip("basic"))
    assert publisher.status["code"] == "NetStream.Publish.Start", publisher.status
    publisher.start()
    return publisher


def start_player(live: LiveServer, stream: str = "cam") -> Player:
    player = Player(live.ports["rtmp"], stream)
    player.start()
    return player


def videos(player: Player) -> int:
    return sum(message.type == VIDEO for message in player.messages)


def assert_all_received(messages: list, sent: list) -> None:
    """Nothing is missing from the first on; a splice begins with a key frame that has been there."""
    marks = [message.mark() for message in messages if not message.is_sequence_header()]
    missing = [mark for mark in sent[sent.index(marks[0]):sent.index(marks[-1])] if mark not in set(marks)]
    assert not missing, f"{len(missing)} of {len(marks)}"


def replace(path: Path, text: str, mode: int = 0o755) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    new.chmod(mode)
    os.replace(new, path)


class FirstProcess(LiveServer):
    """Process 1 of a namespace of processes, as in a container."""

    ALONE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]

    def start(self, arguments: list | None = None, ready: bool = True, preexec=None) -> "FirstProcess":
        if subprocess.run([*self.ALONE, "true"], check=False, capture_output=True).returncode != 0:
            pytest.skip("no namespaces of processes here")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([*self.ALONE, live_server.BINARY, "-c", self.conf_path], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, cwd=self.folder, env=self.environment)
        self.wait_ready()
        return self

    def stop(self, how: int = signal.SIGQUIT, limit_s: float = 30) -> float:
        [inside] = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        os.kill(int(inside), how)
        assert self.process.wait(limit_s) == 0
        return 0
