"""A real registry, redis-server or valkey-server, on a free port of loopback or of a machine of its own."""

import asyncio
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

import nodes
from live_server import can_connect, free_port, wait_until


class RegistryServer:
    def __init__(self, folder: Path, password: str = "", more: list[str] | None = None, machine=nodes.HERE):
        self.more, self.machine, self.host = more or [], machine, machine.address
        self.program = shutil.which("redis-server") or shutil.which("valkey-server")
        if self.program is None:
            pytest.skip("neither redis-server nor valkey-server is installed")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.password, self.port = folder, password, free_port()
        self.process: subprocess.Popen | None = None

    def start(self) -> "RegistryServer":
        command = [self.program, "--port", str(self.port), "--bind", self.host, "--protected-mode", "no", "--save", "", "--appendonly", "no", "--dir",
                   str(self.folder)]
        if self.password:
            command += ["--requirepass", self.password]
        command += self.more
        with open(self.folder / "registry.log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            preexec_fn=self.machine.enter)
        wait_until(lambda: can_connect(self.port, self.host), 10, "the registry answers")
        return self

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def url(self, password: str | None = None) -> str:
        said = self.password if password is None else password
        return f"redis://{':' + said + '@' if said else ''}{self.host}:{self.port}"

    def call(self, *words: str) -> bytes:
        """One command; its answer as it is on the wire: a text whole, of a list what comes first."""
        with socket.create_connection((self.host, self.port), 5) as line:
            if self.password:
                line.sendall(_command("AUTH", self.password))
                line.recv(100)
            line.sendall(_command(*words))
            answer = line.recv(65536)
            while answer.startswith(b"$") and not _is_whole(answer) and (more := line.recv(65536)):
                answer += more
            return answer


class Sentinel:
    """Watches one registry and its replicas alone, and is quick to give it up."""

    def __init__(self, folder: Path, master: RegistryServer, machine=nodes.HERE):
        folder.mkdir(parents=True, exist_ok=True)
        self.port, self.host = free_port(), machine.address
        conf_path = folder / "sentinel.conf"
        conf_path.write_text(f"port {self.port}\nbind {self.host}\nprotected-mode no\ndir {folder}\n"
                             f"sentinel monitor main {master.host} {master.port} 1\n"
                             "sentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 3000\n")
        with open(folder / "sentinel.log", "ab") as log:
            self.process = subprocess.Popen([master.program, str(conf_path), "--sentinel"], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, preexec_fn=machine.enter)
        wait_until(lambda: can_connect(self.port, self.host), 10, "the sentinel answers")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class LateAnswers:
    """Beside a registry: passes on what comes at once, and its answers so much later."""

    def __init__(self, registry: RegistryServer, delay_s: float, host: str = "127.0.0.1"):
        self._to, self._delay_s, self.host, self.port = (registry.host, registry.port), delay_s, host, free_port()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        wait_until(lambda: can_connect(self.port, self.host), 10, "it listens")

    def _run(self) -> None:
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, self.host, self.port))
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        registry, commands = await asyncio.open_connection(*self._to)
        answering = asyncio.create_task(self._answer(registry, answers))
        while block := await client.read(65536):
            commands.write(block)
        commands.close()
        await answering

    async def _answer(self, registry: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        while block := await registry.read(65536):
            self._loop.call_later(self._delay_s, answers.write, block)
        self._loop.call_later(self._delay_s, answers.close)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


def _is_whole(bulk: bytes) -> bool:
    length, end, text = bulk.partition(b"\r\n")
    return bool(end) and len(text) >= (int(length[1:]) + 2 if int(length[1:]) >= 0 else 0)


def _command(*words: str) -> bytes:
    return f"*{len(words)}\r\n".encode() + b"".join(f"${len(word.encode())}\r\n{word}\r\n".encode() for word in words)
