#!/usr/bin/env python3
"""Charts of a benchmark's JSON, as SVG files without any library: CPU per gigabyte and memory a player against the number of players,
and the percentiles of the added delay.

  charts.py doc/bench/2026-11-22-2-cores-intel-xeon.json    writes cpu.svg, memory.svg and delay.svg beside it
"""

import argparse
import json
import math
import re
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 168, 48, 44
# Readable without colours too: each server has its own mark, and what is not RTMP is dashed.
LOOKS = {"ours": ("#0b6e99", "circle"), "the floor": ("#6b7280", "diamond"), "nginx": ("#c2410c", "square")}
OTHERS = [("#15803d", "circle"), ("#7c3aed", "square"), ("#b45309", "diamond")]
TEXT = 'font-family="system-ui, sans-serif" font-size="12" fill="#1f2937"'


class Scale:
    """Values to places along an axis; equal factors are equal distances where `log` is set."""

    def __init__(self, values: list[float], first: float, last: float, log: bool = False):
        self.log, self.first, self.last = log, first, last
        self.low = min(values) / 1.25 if log else 0.0
        self.high = max(values) * (1.25 if log else 1.08) or 1.0

    def place(self, value: float) -> float:
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.first + (value - low) / (high - low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        decades = range(-4, 7)
        if self.log:
            return [m * 10.0**d for d in decades for m in (1, 2, 5) if self.low <= m * 10.0**d <= self.high]
        step = next(m * 10.0**d for d in decades for m in (1, 2, 5) if self.high / (m * 10.0**d) <= 6)
        return [step * i for i in range(int(self.high / step) + 1)]


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:g}"


def mark(kind: str, x: float, y: float, colour: str) -> str:
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if kind == "diamond" else ""
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"{turn}/>'


def frame(title: str, inside: list[str]) -> str:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
            f'aria-label="{escape(title)}">')
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#ffffff" stroke="#d1d5db"/>',
                      f'<text x="{LEFT - 48}" y="26" {TEXT} font-weight="600">{escape(title)}</text>', *inside, "</svg>"]) + "\n"


def axis_y(scale: Scale) -> list[str]:
    lines = []
    for tick in scale.ticks():
        y = scale.place(tick)
        lines.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" {TEXT}>{number(tick)}</text>')
    return lines


def look(name: str, names: list[str]) -> tuple[str, str]:
    """Colour and mark of a server, the same in every chart."""
    server = name.split(",")[0]
    others = list(dict.fromkeys(n.split(",")[0] for n in names if n.split(",")[0] not in LOOKS))
    return LOOKS.get(server) or OTHERS[others.index(server) % len(OTHERS)]


def legend(names: list[str]) -> list[str]:
    lines = []
    for index, name in enumerate(names):
        colour, kind = look(name, names)
        x, y = WIDTH - RIGHT + 20, TOP + 20 * index
        dashes = ' stroke-dasharray="5 3"' if name.endswith("FLV") else ""
        lines.append(f'<line x1="{x}" y1="{y}" x2="{x + 28}" y2="{y}" stroke="{colour}" stroke-width="2"{dashes}/>')
        lines += [mark(kind, x + 14, y, colour), f'<text x="{x + 36}" y="{y + 4}" {TEXT}>{escape(name)}</text>']
    return lines


def lines_chart(title: str, series: dict[str, dict[int, float]], log: bool) -> str:
    """`series`: name -> players -> value."""
    series = {name: points for name, points in series.items() if points}
    xs = Scale([x for points in series.values() for x in points], LEFT, WIDTH - RIGHT)
    ys = Scale([y for points in series.values() for y in points.values()], HEIGHT - BOTTOM, TOP, log)
    inside = axis_y(ys)
    for tick in sorted({x for points in series.values() for x in points}):
        inside.append(f'<text x="{xs.place(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" {TEXT}>{number(tick)}</text>')
    inside.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle" {TEXT}>players</text>')
    for name, points in series.items():
        colour, kind = look(name, list(series))
        places = [(xs.place(x), ys.place(y)) for x, y in sorted(points.items())]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dashes = ' stroke-dasharray="5 3"' if name.endswith("FLV") else ""
        inside.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        inside += [mark(kind, x, y, colour) for x, y in places]
    inside += legend(list(series))
    return frame(title, inside)


def bars_chart(title: str, groups: dict[str, dict[str, float]]) -> str:
    """`groups`: what is counted -> name -> value."""
    ys = Scale([value for bars in groups.values() for value in bars.values()], HEIGHT - BOTTOM, TOP)
    inside = axis_y(ys)
    names = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    room = (WIDTH - RIGHT - LEFT) / len(groups)
    width = room * 0.8 / len(names)
    for at, (group, bars) in enumerate(groups.items()):
        left = LEFT + room * (at + 0.1)
        for line, words in enumerate(group.split(", ")):
            y = HEIGHT - BOTTOM + 18 + 15 * line
            inside.append(f'<text x="{left + room * 0.4:.1f}" y="{y}" text-anchor="middle" {TEXT}>{escape(words)}</text>')
        for name, value in bars.items():
            index = names.index(name)
            x, y = left + width * index, ys.place(value)
            inside.append(f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{width - 2:.1f}" height="{HEIGHT - BOTTOM - y:.1f}" fill="{look(name, names)[0]}"/>')
            inside.append(f'<text x="{x + width / 2:.1f}" y="{y - 4:.1f}" text-anchor="middle" {TEXT}>{value:.2f}</text>')
    inside += legend(names)
    return frame(title, inside)


def play_series(rows: list[dict], measure: str) -> dict[str, dict[int, float]]:
    """The figures of the play rows with that measure, by server and kind of play."""
    series: dict[str, dict[int, float]] = {}
    for row in rows:
        found = re.fullmatch(r"(RTMP|HTTP-FLV) play, ([\d,]+) players", row["work"])
        if not found or row["measure"] != measure:
            continue
        kind, players = found[1], int(found[2].replace(",", ""))
        figures = {"ours": row["ours"], "the floor": row["floor"], "nginx": row["nginx"], **row.get("peers", {})}
        for name, value in figures.items():
            if isinstance(value, (int, float)):
                series.setdefault(f"{name}, {kind.removeprefix('HTTP-')}", {})[players] = value
    return series


def delay_groups(rows: list[dict]) -> dict[str, dict[str, float]]:
    groups: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["measure"] in ("p50, ms", "p99, ms") and "100" in row["work"]:
            who = "the last receiver" if row["work"].startswith("the same") else "the last to join"
            figures = {"ours": row["ours"], "the floor": row["floor"], "nginx": row["nginx"]}
            groups[f"{row['measure'].split(',')[0]}, {who}"] = {name: value for name, value in figures.items() if isinstance(value, (int, float))}
    return groups


def draw(results: Path, folder: Path) -> list[Path]:
    """The charts that these results have rows for."""
    rows = json.loads(results.read_text())["rows"]
    charts = {}
    if series := play_series(rows, "CPU-s/GB"):
        charts["cpu.svg"] = lines_chart("CPU seconds for each gigabyte delivered (logarithmic)", series, log=True)
    if series := play_series(rows, "memory a player, KiB"):
        charts["memory.svg"] = lines_chart("Memory a player, KiB (growth of resident memory by players)", series, log=False)
    if groups := delay_groups(rows):
        charts["delay.svg"] = bars_chart("Added delay with 100 players, milliseconds", groups)
    for name, text in charts.items():
        (folder / name).write_text(text)
    return [folder / name for name in charts]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=Path, help="what bench.py --output wrote")
    parser.add_argument("--into", type=Path, help="the folder of the SVG files (default: the JSON's)")
    options = parser.parse_args()
    drawn = draw(options.json, options.into or options.json.parent)
    if not drawn:
        print(f"charts: nothing to draw in {options.json}", file=sys.stderr)
        return 1
    print(*drawn, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
