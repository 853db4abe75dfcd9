"""scripts/run.sh in a fresh clone: its addresses are the last output on the terminal and each of them responds; Ctrl-C
stops everything, and the next run works."""

import os
import re
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from demo_run import Run
from live_server import BINARY, TRUNK, can_connect, free_port, wait_until
from rtmp_client import RtmpClient

pytestmark = pytest.mark.skipif(BINARY != (TRUNK / "objs/srs").resolve(), reason="run.sh starts trunk/objs/srs")
NEEDED = ("page", "console", "RTMP", "SRT", "RTSP", "FLV", "LL-HLS", "WebRTC", "API")


def in_group(group: int) -> list[str]:
    """What still runs of a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        if rest.split()[0] != "Z" and int(rest.split()[2]) == group:
            found.append(name)
    return found


def children(port: int) -> list[str]:
    """The ffmpeg that plays the clip into the server; it has a process group of its own."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "ffmpeg" in words and f"127.0.0.1:{port}/live" in words:
            found.append(words)
    return found


@pytest.fixture(name="demo")
def fixture_demo(tmp_path):
    """conf/demo.conf with ports that are free."""
    ports = {number: free_port() for number in (1935, 1985, 8080, 8000, 10080, 8554)}
    text = (TRUNK / "conf/demo.conf").read_text()
    for number, port in ports.items():
        text = re.sub(rf"(listen +(?:[\d.]+:)?){number};", rf"\g<1>{port};", text)
    text = text.replace("./objs/demo.pid", str(tmp_path / "demo.pid")).replace("./objs/nginx/html", str(tmp_path / "html"))
    subprocess.run([TRUNK / "scripts/make-pages.sh", tmp_path / "html"], check=True, capture_output=True)
    conf = tmp_path / "demo.conf"
    conf.write_text(text)
    return conf, ports


def test_printed_addresses_respond_and_ctrl_c_stops_everything(demo, tmp_path):
    conf, ports = demo
    for number in ("first", "second"):
        run = Run(conf, tmp_path / f"{number}.txt")
        try:
            addresses = run.wait_addresses()
            assert set(addresses) >= set(NEEDED), run.terminal()
            for name, found in addresses.items():
                for address in found:
                    if address.startswith("rtmp:"):
                        with RtmpClient(ports[1935]) as player:
                            player.play("livestream")
                            assert address == f"rtmp://127.0.0.1:{ports[1935]}/live/livestream" and player.read_at_least(1)
                    elif address.startswith("srt:"):
                        assert address == f"srt://127.0.0.1:{ports[10080]}?streamid=live/livestream"
                    elif address.startswith("rtsp:"):
                        assert address == f"rtsp://127.0.0.1:{ports[8554]}/live/livestream" and can_connect(ports[8554])
                    else:
                        with urllib.request.urlopen(address, timeout=10) as answer:
                            assert answer.status == 200 and answer.read(64), (name, address)
            assert not re.search(r"^\[\d{4}-", run.terminal(), re.MULTILINE), "the log's lines are not on the terminal"
            assert "srs" in " ".join(in_group(run.process.pid)) and children(ports[1935])
            assert run.interrupt() == 0, run.terminal()
        finally:
            if run.process.poll() is None:
                os.killpg(run.process.pid, signal.SIGKILL)
        wait_until(lambda: not in_group(run.process.pid) and not children(ports[1935]), 20, "everything has gone")
        assert not any(can_connect(ports[port]) for port in (1935, 1985, 8080))


def test_a_failed_start_is_reported_with_the_servers_message(demo, tmp_path):
    conf, ports = demo
    conf.write_text(conf.read_text().replace(f"listen              {ports[1935]};", "listen              1;;"))
    run = Run(conf, tmp_path / "out.txt")
    assert run.process.wait(90) != 0
    assert "the conf file is not valid" in run.terminal() and "The server runs" not in run.terminal()


def progress(words: str, *options: str) -> str:
    command = ["awk", "-v", "what=Building", *options, "-f", TRUNK / "scripts/progress.awk"]
    return subprocess.run(command, input=words.encode(), capture_output=True, check=True).stdout.decode()


def test_progress_is_one_line():
    words = "".join(f"[{step}/200] Building CXX object {step}.o\n" for step in range(1, 201))
    on_terminal = progress(words, "-v", "tty=1")
    assert on_terminal.count("\n") == 1 and on_terminal.count("\r") == 101 and on_terminal.endswith("\rBuilding: 100 %\n")
    assert progress(words).splitlines() == [f"Building: {percent:3} %" for percent in (0, 20, 40, 60, 80, 100)]
    assert progress("[1/2] Re-checking\n[2/2] nothing\n", "-v", "tty=1") == "", "nothing to do is nothing to say"
    assert progress("[ 50%] Building\n[100%] Built\n").splitlines() == ["Building:  50 %", "Building: 100 %"]
