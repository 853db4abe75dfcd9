"""The log: a console without a reader does not block the server, and a file is rotated."""

import fcntl
import json
import os
import re
import time
import urllib.request

from live_server import LiveServer, conf, free_port, wait_until
from rtmp_client import Publisher, RtmpClient

# Of a stream: it is in several lines of the log.
LONG_NAME = "n" * 2000


def make_lines(server, count: int) -> None:
    for _ in range(count):
        with RtmpClient(server.ports["rtmp"]) as client:
            client.play(LONG_NAME)


def test_a_console_without_a_reader_does_not_block(tmp_path):
    exporter = free_port()
    server = LiveServer(tmp_path, conf(root=f"exporter {{ enabled on; listen 127.0.0.1:{exporter}; }}\n"))
    os.mkfifo(server.log_path)
    # The server's end alone would wait for this one.
    unread = os.open(server.log_path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(unread, fcntl.F_SETPIPE_SZ, 4096)
    text = ""

    def read_some() -> str:
        nonlocal text
        try:
            while True:
                text += os.read(unread, 1 << 20).decode()
        except BlockingIOError:
            return text

    def lost() -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{exporter}/metrics", timeout=10) as answer:
            return int(re.search(r"^millrace_log_lines_lost_total (\d+)$", answer.read().decode(), re.M).group(1))

    try:
        server.start()
        assert lost() == 0
        deadline = time.monotonic() + 120
        while lost() == 0:
            assert time.monotonic() < deadline, "a MiB of lines is not that much"
            make_lines(server, 20)
            assert server.api("/api/v1/versions", limit_s=10)["code"] == 0
        assert server.api("/api/v1/memory")["data"]["kinds"]["log_queues"]["bytes"] > 1 << 20
        wait_until(lambda: re.search(r"the log: \d+ lines? lost here", read_some()), 30, "how many lines are lost", step_s=0.001)
        before_end = lost()
        wait_until(lambda: "Hybrid cpu" in read_some().rpartition("lost here")[2], 30, "the log goes on", step_s=0.001)
        assert sum(int(number) for number in re.findall(r"the log: (\d+) lines? lost here", text)) == before_end
        # Without a reader the stop is not blocked either.
        while lost() == before_end:
            make_lines(server, 20)
        server.process.terminate()
        assert server.process.wait(15) == 0
    finally:
        server.kill()
        os.close(unread)


def test_a_log_file_is_rotated_by_size(tmp_path):
    log = tmp_path / "srs.log"
    text = conf(root="srs_log_max_size 1; srs_log_backups 2;\n").replace("srs_log_tank        console;",
                                                                         f"srs_log_tank file; srs_log_file {log};")
    server = LiveServer(tmp_path, text)
    server.log_path = log
    try:
        server.start()
        deadline = time.monotonic() + 120
        while not (tmp_path / "srs.log.2").exists():
            assert time.monotonic() < deadline
            make_lines(server, 20)
        first_of_second = (tmp_path / "srs.log.2").read_text().splitlines()
        assert "Millrace" in first_of_second[0]
        while "Millrace" in (tmp_path / "srs.log.2").read_text().splitlines()[0]:
            assert time.monotonic() < deadline
            make_lines(server, 20)
        server.stop()
        files = sorted(tmp_path.glob("srs.log*"))
        assert [file.name for file in files] == ["srs.log", "srs.log.1", "srs.log.2"]
        assert all(file.stat().st_size <= 1 << 20 for file in files)
        whole = [line for file in files for line in file.read_text().splitlines()]
        assert all(line.startswith("[20") for line in whole), "lines are not cut by it"
    finally:
        server.kill()


def test_the_log_is_json_if_configured(server, clip):
    live = server(conf=conf(root="srs_log_format json;\n"))
    publisher = Publisher(live.ports["rtmp"], 'a "quoted" cam', clip("audio"))
    publisher.start()
    publisher.stop()
    wait_until(lambda: "quoted" in live.log(), 15, "the stream is in the log")
    live.stop()
    lines = [json.loads(line) for line in live.log_path.read_text().splitlines()]
    assert len(lines) > 20
    for line in lines:
        assert list(line)[:5] == ["time", "level", "pid", "id", "message"], line
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) and line["level"] in ("info", "warn", "error"), line
    assert any('a "quoted" cam' in line["message"] for line in lines)
    assert "srs terminated" in lines[-1]["message"]
