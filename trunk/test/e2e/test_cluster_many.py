"""Clusters: what 10,000 streams are for the registry. LIVE_CLUSTER_STREAMS is another number."""

import os
import time

import pytest

from cluster_nodes import fixture_network, fixture_node, fixture_registry, wait_nodes  # noqa: F401
from live_server import wait_until

BEAT_S, LIST_S = 1, 5  # as in nodes_in()
NODES = 3


def info(registry, section: str) -> dict[str, str]:
    lines = registry.call("INFO", section).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def evals(registry) -> int:
    """Scripts that nodes have had executed: each of their commands is one."""
    stats = info(registry, "commandstats").get("cmdstat_eval", "calls=0")
    return int(stats.split("calls=")[1].split(",")[0])


def counters(registry) -> dict[str, int]:
    stats, memory = info(registry, "stats"), info(registry, "memory")
    return {"commands": evals(registry), "in": int(stats["total_net_input_bytes"]), "out": int(stats["total_net_output_bytes"]),
            "memory": int(memory["used_memory"]), "cpu_ms": round(1000 * float(info(registry, "cpu")["used_cpu_user"]))}


def whisper(path):
    """An FLV file of one small frame of sound a second."""
    def tag(at_ms: int, body: bytes) -> bytes:
        head = bytes([8]) + len(body).to_bytes(3, "big") + at_ms.to_bytes(3, "big") + bytes(4)
        return head + body + (11 + len(body)).to_bytes(4, "big")

    frames = [tag(1000 * second, b"\xaf\x01" + bytes(20)) for second in range(20)]
    path.write_bytes(b"FLV\x01\x04" + (9).to_bytes(4, "big") + bytes(4) + tag(0, b"\xaf\x00\x12\x10") + b"".join(frames))
    return path


def keys(registry) -> int:
    return int(info(registry, "keyspace").get("db0", "keys=0").split("keys=")[1].split(",")[0])


def measure(registry, clip, node, load, streams: int, idle_s: float) -> dict:
    nodes = [node(registry, outputs="") for _ in range(NODES)]
    wait_nodes(*nodes)
    before, began = counters(registry), time.monotonic()
    resident = [one.resident_kib() for one in nodes]
    each = streams // NODES
    publishers = [load("sb_rtmp_publish", "-c", each, "--ramp", 200, "-t", 1, "-r", one.url(f"{number}_{{i}}"), "-i", clip)
                  for number, one in enumerate(nodes)]
    want = each * NODES
    wait_until(lambda: keys(registry) >= want + NODES + 1, 60 + streams / 100, f"{want} streams are registered", 0.5)
    took, full = time.monotonic() - began, counters(registry)
    time.sleep(2)
    quiet, began = counters(registry), time.monotonic()
    time.sleep(idle_s)
    idle, idle_s = counters(registry), time.monotonic() - began
    result = {"streams": want, "publishing_s": round(took, 1),
              "commands_per_publish": round((full["commands"] - before["commands"]) / want, 2),
              "bytes_in_per_publish": round((full["in"] - before["in"]) / want), "bytes_out_per_publish": round((full["out"] - before["out"]) / want),
              "registry_bytes_per_stream": round((full["memory"] - before["memory"]) / want),
              "idle_commands_per_node_and_s": round((idle["commands"] - quiet["commands"]) / idle_s / NODES, 2),
              "idle_bytes_in_per_node_and_s": round((idle["in"] - quiet["in"]) / idle_s / NODES),
              "idle_bytes_out_per_node_and_s": round((idle["out"] - quiet["out"]) / idle_s / NODES),
              "registry_cpu_ms_per_1000_publishes": round((full["cpu_ms"] - before["cpu_ms"]) * 1000 / want),
              "node_kib_per_stream": round(sum(one.resident_kib() - kib for one, kib in zip(nodes, resident)) / want, 1)}
    for one in publishers:
        one.kill()
    wait_until(lambda: keys(registry) <= NODES + 1, 60 + streams / 100, "all have left the registry", 0.5)
    result["registry_bytes_left"] = counters(registry)["memory"] - before["memory"]
    for one in nodes:
        one.assert_alive()
    return result


@pytest.mark.parametrize("streams, idle_s", [(60, 10), pytest.param(int(os.environ.get("LIVE_CLUSTER_STREAMS", "10000")), 30, marks=pytest.mark.long)])
def test_a_stream_costs_its_publisher_and_nothing_else(registry, node, tmp_path, load, monkeypatch, streams, idle_s):
    """A beat is one command of a node, however many streams it has; and another lists the nodes, every five seconds or so."""
    monkeypatch.setenv("SRS_MAX_CONNECTIONS", "12000")
    result = measure(registry, whisper(tmp_path / "whisper.flv"), node, load, streams, idle_s)
    print(result)
    assert 1 <= result["commands_per_publish"] < 2 + 60 * 2 * NODES * (result["publishing_s"] / 60) / streams
    assert 1 / BEAT_S * 0.9 < result["idle_commands_per_node_and_s"] < 1 / (0.9 * BEAT_S) + 1 / LIST_S + 0.2
    assert result["registry_bytes_per_stream"] < 1000 or streams < 1000
