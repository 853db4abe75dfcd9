"""The waits of the tests themselves."""

import subprocess
import sys
import time

import pytest

import live_server


def test_a_limit_counts_a_fifth_of_the_seconds_without_a_free_cpu(monkeypatch):
    monkeypatch.setattr(live_server, "busy_s", lambda: 0.0)
    idle = live_server.Limit(1000)
    monkeypatch.setattr(live_server, "busy_s", time.monotonic)
    busy = live_server.Limit(1000)
    time.sleep(0.05)
    spent = busy.passed()
    monkeypatch.setattr(live_server, "busy_s", lambda: 0.0)
    assert 0 < spent < 0.3 * idle.passed() and not idle.is_over()


def test_a_wait_ends_with_its_event_or_at_its_limit():
    looks = iter([False, "", "it"])
    assert live_server.wait_until(lambda: next(looks), 60, "an event", 0) == "it"
    with pytest.raises(AssertionError, match="not within 0 s: an event"):
        live_server.wait_until(lambda: False, 0, "an event")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not live_server.ends(process, 0)
        process.stdin.close()
        assert live_server.ends(process, 60)
