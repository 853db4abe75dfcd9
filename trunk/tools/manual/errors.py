"""The error codes and sentences of the server, read from its sources."""

import re
from pathlib import Path

# Room, and its name for a reader; others are internal to tools.
ROOMS = {
    "app": "Start and settings", "settings": "Start and settings", "supervisor": "Processes and upgrades", "api": "HTTP API",
    "service": "Services: callbacks, relays, HLS, DASH, recordings, snapshots", "session": "Clients", "engine": "Protocols", "media": "Streams",
    "wire": "Formats", "io": "Operating system", "base": "Texts and addresses",
}
NOT_SHIPPED = re.compile(r"_(test|fuzz|bench|fixture|vectors)\.|/bench/")
# The meaning of a numeric code; a code without one fails the build of the manual.
CODES = {
    "kPeerGone": "The client has left. In log lines of a disconnect only.",
    "kListenFailed": "A port cannot be opened: another program has it, or it needs rights. Exit status 235.",
    "kInvalidConfig": "The settings are invalid. Exit status 255.",
    "kPidLocked": "A server with the same pid file runs. Exit status 11.",
    "kUnsupportedReload": "A changed setting needs a restart; the reload is refused.",
    "kExporterIsOff": "`/metrics` is requested and `exporter` is disabled.",
    "kUnknownCall": "`/api/v1/raw` does not know this `rpc`.",
    "kSwitchedOff": "`raw_api`, or its `allow_reload`, is disabled.",
    "kSessionTaken": "A GB28181 session with this id or SSRC exists.",
    "kRequestInvalid": "The body of `/gb/v1/publish/` is not valid.",
    "kNoSession": "A GB28181 session could not be made: there are too many, or its port is not available.",
    "kVhostNotFound": "No virtual host has this id.",
    "kStreamNotFound": "No stream has this id.",
    "kClientNotFound": "No client has this id.",
    "kFileExists": "The file of a recording exists; it is not overwritten.",
}


def shipped(trunk: Path):
    for path in sorted((trunk / "src").rglob("*.[ch]pp")):
        if not NOT_SHIPPED.search(str(path)):
            yield path, path.read_text()


def kinds(trunk: Path) -> list[tuple[str, str]]:
    """The members of Errc with their comments."""
    body = re.search(r"enum class Errc : std::uint8_t \{(.*?)\};", (trunk / "src/base/result.hpp").read_text(), re.S)
    rows = re.findall(r"^\s*(\w+),\s*(?://\s*(.*))?$", body[1], re.M)
    plain = {"timed_out": "a time limit has passed", "denied": "a rule, a callback or a password refuses", "not_found": "it does not exist"}
    return [(name, comment or plain[name]) for name, comment in rows]


def numbers(trunk: Path) -> list[tuple[int, str]]:
    """The numeric codes: of exit statuses, logs and the HTTP API."""
    found = {}
    for path, text in shipped(trunk):
        if path.relative_to(trunk / "src").parts[0] in ("app", "api", "session", "service"):
            for name, number in re.findall(r"constexpr int (k\w+) = ([1-9]\d{3});", text):
                found[int(number)] = CODES[name]
    return sorted(found.items())


def expression_at(text: str, start: int) -> list[str]:
    """The tokens of an argument, up to its comma or the end of the call: literals with their quotes, and the rest in between."""
    tokens, depth, at, rest = [], 0, start, ""
    while at < len(text):
        literal = re.compile(r'"((?:[^"\\]|\\.)*)"').match(text, at)
        if literal:
            tokens += [rest, literal[0]]
            rest, at = "", literal.end()
            continue
        letter = text[at]
        if depth == 0 and letter in ",)":
            break
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        rest += letter
        at += 1
    return [*tokens, rest]


def sentence_of(tokens: list[str]) -> str:
    """Literals as they are, and an ellipsis for each part in between; of a format string, for each field."""
    is_format = tokens[0].strip().startswith("fmt::format(")
    found = ""
    for token in tokens:
        if token.startswith('"'):
            found += token[1:-1]
        elif is_format and found and token.strip():
            break
        elif token.strip(" \n+") and not (is_format and not found) and not found.endswith("…"):
            found += "…"
    found = re.sub(r"\{[^}]*\}", "…", found) if is_format else found
    return found.replace('\\"', '"').replace("\\\\", "\\").strip()


def sentences(trunk: Path) -> dict[str, list[tuple[str, str]]]:
    """(kind, sentence) by group, sorted."""
    found: dict[str, set] = {}
    for path, text in shipped(trunk):
        group = ROOMS.get(path.relative_to(trunk / "src").parts[0])
        for match in re.finditer(r"\bError\(\s*Errc::(\w+),\s*", text) if group else []:
            tokens = expression_at(text, match.end())
            if len(tokens) > 1:
                found.setdefault(group, set()).add((match[1], sentence_of(tokens)))
    # Without a word it says nothing.
    return {group: sorted((row for row in rows if re.search(r'[a-z]{2}', row[1])), key=lambda row: row[1].lower()) for group, rows in sorted(found.items())}


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def tables(trunk: Path) -> str:
    lines = ["## Numeric codes", "", "| code | meaning |", "| --- | --- |", *(f"| {number} | {meaning} |" for number, meaning in numbers(trunk)), "",
             "## Kinds", "", "| kind | meaning |", "| --- | --- |", *(f"| `{name}` | {cell(meaning)} |" for name, meaning in kinds(trunk)), "", "## Sentences", ""]
    for group, rows in sentences(trunk).items():
        lines += [f"### {group}", "", "| kind | sentence |", "| --- | --- |", *(f"| {cell(kind)} | {cell(sentence)} |" for kind, sentence in rows), ""]
    return "\n".join(lines)
