"""The error codes and sentences of the server, read from its sources."""

import re
from pathlib import Path

from sentences import ELLIPSIS, arguments_at, texts

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

# Those of the openRtpServer calls of ZLMediaKit, which have codes of their own.
RTP_SERVER = "rtp_server_handler.hpp"
RTP_SERVER_CODES = {
    "kFailed": "An `/index/api/` call for GB28181 failed; `msg` has the reason.",
    "kDenied": "The `secret` of an `/index/api/` call is wrong or missing.",
    "kInvalid": "A parameter of an `/index/api/` call is missing or invalid.",
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
    """The numeric codes: of exit statuses, logs and the HTTP API, and those that a sentence ends with."""
    found: dict[int, str] = {}
    for rows in sentences(trunk).values():
        for _, sentence in rows:
            coded = re.fullmatch(r"(.*) \(([1-9]\d{3})\)", sentence)
            if coded:
                sentence = coded[1][0].upper() + coded[1][1:] + "."
                found[int(coded[2])] = f"{found[int(coded[2])]} {sentence}" if int(coded[2]) in found else sentence
    for path, text in shipped(trunk):
        if path.relative_to(trunk / "src").parts[0] in ("app", "api", "session", "service"):
            for name, number in re.findall(r"constexpr int (k\w+) = ([1-9]\d{3});", text):
                found[int(number)] = CODES[name]
        if path.name == RTP_SERVER:
            found |= {int(number): RTP_SERVER_CODES[name] for name, number in re.findall(r"constexpr int (k\w+) = (-\d+);", text)}
    return sorted(found.items())


# A constructor of an error, or a call whose first argument is its kind: Error(Errc::x, ...), Error name(Errc::x, ...), return {Errc::x, ...}.
MADE = re.compile(r"(?:\b(?:return|Error)\s+)?\b([\w.>-]*)\s*[({]\s*Errc::(\w+),\s*")
# A function that makes errors of one kind from a text: Error malformed(std::string_view why) { return {Errc::malformed, ...}; }
HELPER = re.compile(r"\bError (\w+)\(([^)]*)\)(?: const)? \{(?:[^{}]|\{[^{}]*\}){0,400}?return (?:Error)?[({]\s*Errc::(\w+),\s*")
# Functions that add the reason of a library to their text.
ADDED = ("tls_error", "error")
PLACES = "{} (with file, line and column)"


def words_of(expressions: list[str]) -> list[str]:
    """Those that a reader can recognise."""
    return [text.strip() for text in expressions if re.search(r"[a-z]{2}", text)]


def helpers_in(text: str) -> dict[str, tuple[str, int, str, str]]:
    """Kind, number of the argument, its name and the expression, by the name of the function."""
    found = {}
    for match in HELPER.finditer(text):
        names = [one.split()[-1].strip("&*") for one in match[2].split(",") if one.split()]
        expression = arguments_at(text, match.end())[0]
        used = [at for at, name in enumerate(names) if re.search(rf"\b{name}\b", expression)]
        if used:
            found[match[1]] = (match[3], used[-1], names[used[-1]], expression)
    return found


def made_in(text: str) -> list[tuple[str, str]]:
    """(kind, sentence) of the errors that are made where they are."""
    found = []
    helpers = helpers_in(text)
    text = HELPER.sub(lambda match: "" if match[1] in helpers else match[0], text)
    for match in MADE.finditer(text):
        sentence = arguments_at(text, match.end())[0]
        reason = f": {ELLIPSIS}" if re.split(r"[.>]", match[1])[-1] in ADDED else ""
        found += [(match[2], words + reason) for words in words_of(texts(sentence)) if '"' in sentence]
    for match in re.finditer(r"\bsystem_error\(", text):
        sentence = arguments_at(text, match.end())[0]
        found += [("system", f"{words}: {ELLIPSIS}") for words in words_of(texts(sentence)) if '"' in sentence]
    for match in re.finditer(r"\bat\.error\(", text):
        found += [("malformed", PLACES.format(words)) for words in words_of(texts(arguments_at(text, match.end())[0]))]
    return found


def made_by(text: str, helpers: dict[str, tuple[str, int, str, str]]) -> list[tuple[str, str]]:
    found = []
    for name, (kind, at, parameter, expression) in helpers.items():
        for match in re.finditer(rf"(?<!Error )\b{name}\(", text):
            given = arguments_at(text, match.end())
            if len(given) > at:
                found += [(kind, words) for words in words_of(texts(expression, {parameter: texts(given[at])}))]
    return found


def sentences(trunk: Path) -> dict[str, list[tuple[str, str]]]:
    """(kind, sentence) by group, sorted."""
    found: dict[str, set] = {}
    files = [(path.relative_to(trunk / "src").parts[0], path, text) for path, text in shipped(trunk)]
    shared = {room: {name: helper for other, path, text in files if other == room and path.suffix == ".hpp" for name, helper in helpers_in(text).items()} for room in ROOMS}
    for room, _, text in files:
        if room in ROOMS:
            found.setdefault(ROOMS[room], set()).update(made_in(text), made_by(text, shared[room] | helpers_in(text)))
    return {group: sorted(rows, key=lambda row: (row[1].lower(), row)) for group, rows in sorted(found.items())}


def contexts(trunk: Path) -> list[str]:
    """The texts that are put before the sentence of an error, with a colon."""
    found = set()
    for path, text in shipped(trunk):
        if path.relative_to(trunk / "src").parts[0] in ROOMS:
            for match in re.finditer(r"\.during\(", text):
                found |= set(words_of(texts(arguments_at(text, match.end())[0])))
    return sorted(found, key=str.lower)


def answers(trunk: Path) -> list[tuple[int, str]]:
    """(status, sentence) of the answers over HTTP that are no errors of another part."""
    status = {name: int(number) for name, number in re.findall(r"^\s*(\w+) = (\d{3}),", (trunk / "src/wire/http/status.hpp").read_text(), re.M)}
    found = set()
    for _, text in shipped(trunk):
        for match in re.finditer(r"\b(?:error_reply\((?:[\w:]*::)?(\w+)|(method_not_allowed)\()", text):
            name, given = match[1] or match[2], arguments_at(text, match.end())
            if name in status:
                found |= {(status[name], words) for one in given if '"' in one for words in words_of(texts(one)) if " " in words}
    return sorted(found)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def tables(trunk: Path) -> str:
    lines = ["## Numeric codes", "", "| code | meaning |", "| --- | --- |", *(f"| {number} | {meaning} |" for number, meaning in numbers(trunk)), "",
             "## Kinds", "", "| kind | meaning |", "| --- | --- |", *(f"| `{name}` | {cell(meaning)} |" for name, meaning in kinds(trunk)), "", "## Sentences", "",
             "The name of a file or of a setting, or one of these, may be in front of a sentence:", "",
             "| context |", "| --- |", *(f"| {cell(words)}: … |" for words in contexts(trunk)), ""]
    for group, rows in sentences(trunk).items():
        lines += [f"### {group}", "", "| kind | sentence |", "| --- | --- |", *(f"| {cell(kind)} | {cell(sentence)} |" for kind, sentence in rows), ""]
    lines += ["### Answers over HTTP", "", "| status | sentence |", "| --- | --- |", *(f"| {status} | {cell(sentence)} |" for status, sentence in answers(trunk)), ""]
    return "\n".join(lines)
