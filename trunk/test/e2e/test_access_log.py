"""The access log: one line of JSON for each client that has left a stream or was refused."""

import json
import signal
import time
import urllib.request

import pytest

from http_streams import HttpStream, WebSocketStream
from live_server import wait_until
from rtmp_client import Player, Publisher, RtmpClient

pytestmark = pytest.mark.workers

FLV = "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }"
MEMBERS = ["time", "id", "protocol", "peer", "ip", "role", "vhost", "app", "stream", "duration", "received_bytes", "sent_bytes",
           "dropped_packets", "result", "reason"]


def lines_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def wait_lines(path, count: int) -> list[dict]:
    """In the order of what they are about. Lines are written once a second."""
    wait_until(lambda: len(lines_of(path)) >= count, 15, f"{count} lines in {path.name}, which has {lines_of(path)}")
    lines = lines_of(path)
    assert len(lines) == count, lines
    assert all(list(line) == MEMBERS for line in lines)
    return lines


def test_every_session_that_is_over_is_a_line(server, clip):
    live = server(FLV)
    log = live.folder / "objs" / "access.log"
    began = time.time()
    publisher = Publisher(live.ports["rtmp"], "cam", clip("basic"))
    publisher.start()
    time.sleep(0.5)
    player = Player(live.ports["rtmp"], "cam")
    player.start()
    with RtmpClient(live.ports["rtmp"]) as second:
        assert second.publish("cam?key=secret")["level"] == "error"
    with RtmpClient(live.ports["rtmp"]) as climber:
        assert climber.publish("../cam")["level"] == "error"
    with HttpStream(live.ports["http"], "/live/cam.flv", {"X-Forwarded-For": "203.0.113.9"}) as over_http, \
            WebSocketStream(live.ports["http"], "/live/cam.flv?key=secret") as over_websocket:
        kicked = over_http.socket.getsockname()
        wait_until(lambda: len(over_http.read(0.5)) > 50_000 and len(player.messages) > 200, 20, "what is counted below")
        over_websocket.read(0.1)
        client = next(c for c in live.api("/api/v1/clients")["clients"] if c["ip"] == "203.0.113.9")
        request = urllib.request.Request(f"http://127.0.0.1:{live.ports['api']}/api/v1/clients/{client['id']}", method="DELETE")
        urllib.request.urlopen(request, timeout=3).close()
        over_http.read(10)
        assert over_http.ended
    player.stop()
    wait_lines(log, 5)
    publisher.stop()
    lines = {(line["protocol"], line["role"], line["result"], line["stream"]): line for line in wait_lines(log, 6)}
    assert set(lines) == {("rtmp", "publish", "refused", "cam"), ("rtmp", "unknown", "refused", ""), ("http-flv", "play", "ended", "cam"),
                          ("ws-flv", "play", "ended", "cam"), ("rtmp", "play", "ended", "cam"), ("rtmp", "publish", "ended", "cam")}
    took = time.time() - began
    for key, line in lines.items():
        assert line["app"] == "live" and line["dropped_packets"] == 0, line
        assert line["peer"].startswith("127.0.0.1:") and line["time"].endswith("Z"), line
        live.wait_log(line["id"])
        if key[2] == "refused":
            assert (line["duration"], line["received_bytes"], line["sent_bytes"]) == (0, 0, 0), line
        else:
            assert 0.1 < line["duration"] < took, line
        assert line["vhost"] == "__defaultVhost__", line
    published, watched = lines[("rtmp", "publish", "ended", "cam")], lines[("http-flv", "play", "ended", "cam")]
    assert published["received_bytes"] > 50_000 > published["sent_bytes"]
    assert watched["sent_bytes"] >= len(over_http.body) > 50_000
    assert lines[("rtmp", "play", "ended", "cam")]["sent_bytes"] > 50_000
    assert watched["ip"] == "203.0.113.9" and watched["peer"] == f"{kicked[0]}:{kicked[1]}"
    assert watched["reason"] == "an operator has ended it"
    assert "published already" in lines[("rtmp", "publish", "refused", "cam")]["reason"]
    assert "'../cam'" in lines[("rtmp", "unknown", "refused", "")]["reason"]
    assert "secret" not in log.read_text()


def test_sigusr1_opens_a_new_file_and_a_stop_writes_the_rest(server):
    live = server(root="access_log $folder/sessions.log;\n")
    log, moved = live.folder / "sessions.log", live.folder / "sessions.log.1"
    with RtmpClient(live.ports["rtmp"]) as first:
        first.play("one")
    wait_lines(log, 1)
    log.rename(moved)
    live.process.send_signal(signal.SIGUSR1)
    wait_until(log.exists, 10, "a new file")
    with RtmpClient(live.ports["rtmp"]) as second:
        second.play("two")
        live.stop()
    assert [line["stream"] for line in wait_lines(moved, 1)] == ["one"]
    [last] = wait_lines(log, 1)
    assert last["stream"] == "two" and last["reason"] == "the server stops"
    assert not (live.folder / "objs" / "access.log").exists()


def test_a_missing_folder_causes_one_warning_and_off_none(server):
    for value, warnings in (("$folder/absent/access.log", 1), ("off", 0)):
        live = server(root=f"access_log {value};\n")
        for _ in range(2):
            with RtmpClient(live.ports["rtmp"]) as client:
                client.play("cam")

        def warned() -> int:
            return len([line for line in live.complaints() if "access log" in line])

        want = warnings * len(live.pids())
        wait_until(lambda: warned() >= want, 10, "a warning")  # pylint: disable=cell-var-from-loop
        time.sleep(1.1)
        live.assert_alive()
        assert warned() == want, live.complaints()
        assert list(live.folder.rglob("*access*")) == []
