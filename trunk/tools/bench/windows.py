"""Measuring windows: the CPU time of a sender, and the bytes of its players."""

import time
from dataclasses import dataclass

from harness import Process


@dataclass
class Window:
    """One measuring window of a sender and its players."""
    cpu_s: float
    bytes: int
    seconds: float
    lag_ms_p99: float
    lag_ms_max: float

    @property
    def per_gb(self) -> float:
        return self.cpu_s / (self.bytes / 1e9) if self.bytes else float("inf")

    @property
    def core_share(self) -> float:
        return self.cpu_s / self.seconds


def ratios(ours: list[Window], floor: list[Window]) -> list[float]:
    """The CPU time a byte, ours to the floor's, in each window."""
    return [a.per_gb / b.per_gb for a, b in zip(ours, floor)]


def measure_windows(pairs: list[tuple[Process, Process]], repeats: int, seconds: float) -> list[list[Window]]:
    """Measures several (sender, load) pairs over the same windows; one list of windows per pair."""
    results: list[list[Window]] = [[] for _ in pairs]
    for _ in range(repeats):
        before = []
        for sender, load in pairs:
            load.tell("mark")
            before.append(sender.cpu_seconds())
        time.sleep(seconds)
        for index, (sender, load) in enumerate(pairs):
            cpu = sender.cpu_seconds() - before[index]
            load.tell("report")
            got = load.wait_event("report", 30)
            results[index].append(Window(cpu, got["window_bytes"], got["seconds"], got.get("lag_ms_p99", 0), got.get("lag_ms_max", 0)))
    return results
