"""Pebble, the ACME server for tests, with its DNS server: both leave the network alone."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from cached_venv import cache_folder
from live_server import can_connect, free_port, wait_until

VERSION = "v2.10.3"
PROGRAMS = ("pebble", "pebble-challtestsrv")


def build(into: Path) -> None:
    """Only the programs are kept."""
    with tempfile.TemporaryDirectory(prefix="pebble-") as work:
        environment = {**os.environ, "GOPATH": f"{work}/path", "GOMODCACHE": f"{work}/path/pkg/mod", "GOCACHE": f"{work}/cache", "GOBIN": f"{work}/bin",
                       "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        packages = [f"github.com/letsencrypt/pebble/v2/cmd/{name}@{VERSION}" for name in PROGRAMS]
        done = subprocess.run(["go", "install", *packages], cwd=work, env=environment, capture_output=True, text=True, timeout=1500, check=False)
        if done.returncode != 0:
            pytest.skip(f"pebble could not be built: {done.stderr.strip()[-300:]}")
        into.mkdir(parents=True, exist_ok=True)
        for name in PROGRAMS:
            shutil.copy(f"{work}/bin/{name}", into / f"{name}.{os.getpid()}")
            os.replace(into / f"{name}.{os.getpid()}", into / name)


def programs(config) -> list[str]:
    """The paths of both; the test is skipped without them."""
    cached = cache_folder() / f"pebble-{VERSION}"
    found = [shutil.which(name, path=f"{os.environ.get('PEBBLE', '')}:{cached}:{os.environ['PATH']}") for name in PROGRAMS]
    if not all(found):
        if shutil.which("go") is None or not config.getoption("--long"):
            pytest.skip("pebble is neither installed nor in the cache folder: --long builds it with Go")
        build(cached)
        found = [str(cached / name) for name in PROGRAMS]
    return found


class Authority:
    """Validates at these ports of this machine. A fifth of all nonces are refused."""

    def __init__(self, config, folder: Path, http: int, tls: int, life_s: int):
        pebble, dns_server = programs(config)
        self.folder, self.port, self.management = folder, free_port(), free_port()
        self.ca = folder / "pebble.crt"
        key = folder / "pebble.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", str(key), "-out",
                        str(self.ca), "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], capture_output=True, check=True, timeout=60)
        conf = {"pebble": {"listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{self.management}",
                           "certificate": str(self.ca), "privateKey": str(key), "httpPort": http, "tlsPort": tls, "ocspResponderURL": "",
                           "externalAccountBindingRequired": False, "retryAfter": {"authz": 1, "order": 1}, "keyAlgorithm": "ecdsa",
                           "profiles": {"default": {"description": "for tests", "validityPeriod": life_s}}}}
        (folder / "pebble.json").write_text(json.dumps(conf))
        dns, control = free_port(), free_port()
        names = [dns_server, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", f"127.0.0.1:{dns}", "-management", f"127.0.0.1:{control}",
                 "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""]
        environment = {**os.environ, "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "20", "PEBBLE_AUTHZREUSE": "0"}
        with (folder / "pebble.log").open("wb") as log:
            self.processes = [subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log) for command in (
                names, [pebble, "-config", str(folder / "pebble.json"), "-dnsserver", f"127.0.0.1:{dns}"])]
        wait_until(lambda: can_connect(self.port) and can_connect(control), 30, self.log)
        self.directory = f"https://localhost:{self.port}/dir"

    def log(self) -> str:
        return (self.folder / "pebble.log").read_text()

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
