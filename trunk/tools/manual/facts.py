"""Tables of the manual that are made from the sources: the metrics, and the callbacks with the members of their requests."""

import json
import re
from pathlib import Path

from errors import cell, shipped
from migrations import rows
from sentences import arguments_at, texts

METRIC = re.compile(r'(?="(?:millrace|srs)_[a-z0-9_]+",)')
TYPE = re.compile(r"(?:MetricsText::)?Type::(\w+)")
# The sample of a callback: the first JSON below its heading.
SAMPLE = re.compile(r"^### (on_\w+)\n(?:(?!#).*\n)*?```json(?: \w+)?\n((?:.*\n)*?)```$", re.M)


def metrics_of(trunk: Path) -> list[tuple[str, str, str]]:
    """(name, type, help) of each metric, from the calls that write them: family("name", Type::gauge, "help"), and helpers with these arguments."""
    found = {}
    for _, text in shipped(trunk):
        for match in METRIC.finditer(text):
            name, *given = arguments_at(text, match.start())[:3]
            kind = TYPE.fullmatch(given[0]) if given else None
            made = texts(given[1] if kind and len(given) > 1 else given[0] if given else "")
            name = name.strip('"')
            if (kind or name.endswith("_total")) and len(made) == 1 and " " in made[0]:
                found[name] = (kind[1] if kind else "counter", made[0])
    return [(name, *facts) for name, facts in sorted(found.items())]


def metrics(trunk: Path) -> str:
    return "\n".join(["| metric | type | meaning |", "| --- | --- | --- |",
                      *(f"| `{name}` | {kind} | {cell(meaning)} |" for name, kind, meaning in metrics_of(trunk))])


def callbacks(trunk: Path) -> str:
    """Events from the option rows, members from the samples of the page, which a test compares with requests."""
    samples = {name: list(json.loads(text)) for name, text in SAMPLE.findall((trunk / "doc/manual/callbacks.md").read_text())}
    common = [name for name in next(iter(samples.values())) if all(name in members for members in samples.values())]
    lines = ["| callback | event | members besides the common ones |", "| --- | --- | --- |"]
    settings = {name: ("", meaning) for (block, name), (_, _, meaning) in rows(trunk).items() if block == "vhost.http_hooks" and name.startswith("on_")}
    settings["on_forward"] = ("`forward { backend URL; }`: ", "A stream starts. The answer has the destinations of its forward.")
    for name, (setting, meaning) in settings.items():
        meaning = re.sub(r"^Ours: (\w)", lambda match: match[1].upper(), meaning)
        lines.append(f"| {setting}`{name}` | {meaning} | {', '.join(f'`{member}`' for member in samples.get(name, []) if member not in common)} |")
    return "\n".join([*lines, "", f"Common members: {', '.join(f'`{name}`' for name in common)}."])
