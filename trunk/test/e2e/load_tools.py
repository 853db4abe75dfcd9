"""The load programs objs/sb_*, run for some seconds, with their results as values; nginx as a server that is not ours."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from live_server import BINARY, TRUNK, can_connect, ends, free_port, wait_until

NGINX_MODULE = Path("/usr/lib/nginx/modules/ngx_rtmp_module.so")

NGINX_CONF = """\
load_module {module};
daemon off; master_process off; worker_processes 1;
pid {folder}/nginx.pid; error_log {folder}/nginx.log error;
events {{ worker_connections 1000; }}
rtmp {{ access_log off; server {{ listen 127.0.0.1:{rtmp}; chunk_size 60000; application live {{ live on; {more} }} }} }}
http {{
    access_log off; sendfile on; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    server {{ listen 127.0.0.1:{http}; root {folder}/html; }}
}}
"""


def tool(name: str) -> Path:
    """The program beside the server under test, else that of objs; LIVE_LOAD_TOOLS names another folder."""
    folders = [os.environ.get("LIVE_LOAD_TOOLS"), BINARY.parent, TRUNK / "objs"]
    found = [Path(folder) / name for folder in folders if folder and (Path(folder) / name).exists()]
    assert found, f"there is no {name} beside {BINARY}: make"
    return found[0]


class Load:
    """A load program in the background; result() waits for its end."""

    def __init__(self, folder: Path, name: str, *arguments):
        self.json_path = folder / f"{name}-{free_port()}.json"
        command = [tool(name), *arguments, "--json", self.json_path]
        # Files: thousands of clients say more than a pipe holds.
        with open(self.json_path.with_suffix(".out"), "wb") as out, open(self.json_path.with_suffix(".err"), "wb") as err:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def result(self, limit_s: float = 40, status: int | None = 0) -> dict:
        """With any status when none is named."""
        assert ends(self.process, limit_s), f"it did not end within {limit_s:g} s"
        self.log, self.said = (self.json_path.with_suffix(end).read_text(errors="replace") for end in (".out", ".err"))
        assert status is None or self.process.returncode == status, f"status {self.process.returncode}: {self.said[-1500:]} {self.log[-1500:]}"
        return json.loads(self.json_path.read_text())

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Nginx:
    """nginx with its RTMP module, files in `html`."""

    def __init__(self, folder: Path, more: str = ""):
        """`more` is what its application has beside `live on`."""
        if shutil.which("nginx") is None or not NGINX_MODULE.exists():
            pytest.skip("nginx with its RTMP module is not installed")
        self.folder, self.rtmp, self.http = folder, free_port(), free_port()
        (folder / "html").mkdir(parents=True)
        conf = folder / "nginx.conf"
        user = "user root;\n" if os.geteuid() == 0 else ""
        conf.write_text(user + NGINX_CONF.format(module=NGINX_MODULE, folder=folder, rtmp=self.rtmp, http=self.http, more=more))
        self.process = subprocess.Popen(["nginx", "-p", folder, "-e", folder / "nginx.log", "-c", conf], stdin=subprocess.DEVNULL)
        wait_until(lambda: can_connect(self.rtmp) and can_connect(self.http), 10, "nginx listens")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)
