"""The results of bench.py as rows: a value, its target, and whether it is met. Printed as a Markdown table and written as JSON."""

from dataclasses import dataclass, field


@dataclass
class Row:
    work: str  # The work, with its count.
    measure: str  # The measure, with its unit.
    ours: float | str
    floor: float | str = "-"
    nginx: float | str = "-"
    ratio: float | None = None  # Ours to the floor, the median over windows of the same run, or over turns that alternate.
    target: str = ""
    met: bool | None = None  # None: no target, or it could not be judged.
    note: str = ""
    details: dict = field(default_factory=dict)  # Everything raw, for the JSON only.
    command: str = ""
    peers: dict[str, float | str] = field(default_factory=dict)  # Values of the servers of --peer, by name.
    pairs: list[float] = field(default_factory=list)  # The ratios whose median `ratio` is.

    def as_dict(self) -> dict:
        return dict(self.__dict__)


def number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"


def verdict(met: bool | None) -> str:
    return {True: "met", False: "**missed**", None: "-"}[met]


def markdown(rows: list[Row], command: str, machine: dict) -> str:
    peers = list(dict.fromkeys(name for row in rows for name in row.peers))
    lines = [f"`{command}` on {machine['cores']} cores of {machine['cpu'] or 'an unknown CPU'}, kernel {machine['kernel']}", "",
             "| " + " | ".join(["work", "measure", "ours", "floor", "ours / floor", "nginx", *peers, "target", ""]) + " |",
             "|" + " --- |" * (8 + len(peers))]
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}" + (f" ({min(row.pairs):.2f}-{max(row.pairs):.2f})" if row.pairs else "")
        cells = [row.work, row.measure, number(row.ours), number(row.floor), ratio, number(row.nginx),
                 *(number(row.peers.get(name, "-")) for name in peers), row.target or "-", verdict(row.met)]
        lines.append("| " + " | ".join(cells) + " |")
    notes = [f"- {row.work}: {row.note}" for row in rows if row.note]
    return "\n".join(lines + ([""] + notes if notes else []))
