"""Programs that run for published streams: exec {}."""

import os
import signal
from pathlib import Path

import pytest

from live_server import is_gone, wait_until
from recordings import assert_decodes
from rtmp_client import Publisher

pytestmark = pytest.mark.workers


def pid_in(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().strip(), 20, f"a pid in {path.name}")
    return int(path.read_text())


def test_a_program_records_the_stream_and_stops_with_it(server, clip):
    """The command of conf/exec.conf: ffmpeg plays [url] from the server, whose publisher has a query."""
    live = server("exec { enabled on; publish ./objs/ffmpeg/bin/ffmpeg -f flv -i [url] -c copy -y ./[stream].flv; }")
    publisher = Publisher(live.ports["rtmp"], "cam?key=1", clip("basic"))
    publisher.start()
    made = live.folder / "cam.flv"
    wait_until(lambda: made.exists() and made.stat().st_size > 300_000, 30, lambda: f"a recording; the log: {live.log()[-2000:]}")
    assert live.api("/api/v1/summaries")["code"] == 0
    publisher.stop()
    live.wait_log("EXE stop")
    assert_decodes(made, 20)


def test_arguments_are_no_shell_and_output_goes_to_files(server, clip):
    script = "echo $0 $@; echo trouble >&2; echo $$$$ >pid; exec sleep 600"
    live = server(f"exec {{ enabled on; publish sh -c '{script}' name '[app];[stream]' >[stream].out 2>[stream].err; }}")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    pid = pid_in(live.folder / "pid")
    assert (live.folder / "cam.out").read_text() == "name live;cam\n"
    assert (live.folder / "cam.err").read_text() == "trouble\n"
    publisher.stop()
    wait_until(lambda: is_gone(pid), 20, "the program ends with its stream")


def test_a_failed_program_restarts_and_the_server_leaves_none_behind(server, clip):
    live = server("exec { enabled on; publish sh -c 'echo $$$$ >pid; exec sleep 600'; publish sh -c 'echo again >>once'; }")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    first = pid_in(live.folder / "pid")
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: pid_in(live.folder / "pid") != first, 30, "the program is started again")
    second = pid_in(live.folder / "pid")
    live.stop()
    assert is_gone(second)
    assert (live.folder / "once").read_text() == "again\n"
    publisher.stop()


def test_a_program_that_ignores_the_request_to_end_is_killed(server, clip):
    live = server("exec { enabled on; publish sh -c 'trap : TERM; echo $$$$ >pid; while :; do sleep 1; done'; }")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    pid = pid_in(live.folder / "pid")
    live.stop()
    assert is_gone(pid)
    publisher.stop()


def test_a_name_cannot_become_an_option(server, clip):
    live = server("exec { enabled on; publish touch [stream]; }")
    publisher = Publisher(live.ports["rtmp"], "-h", clip("basic"))
    publisher.start()
    live.wait_log("would become the option -h")
    assert live.api("/api/v1/streams")["streams"][0]["name"] == "-h"
    publisher.stop()


def test_a_killed_server_leaves_no_program(mortal, clip):
    live = mortal("exec { enabled on; publish sh -c 'echo $$$$ >pid; exec sleep 600'; }")
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    pid = pid_in(live.folder / "pid")
    live.kill()
    wait_until(lambda: is_gone(pid), 20, "the kernel ends the program with the server")
    publisher.stop()
