"""The sentences that expressions of the sources can make: literals as they are, and an ellipsis for each part that differs.

It reads as much C++ as the sources have in their errors: concatenation, fmt::format, conditional operators, and functions that put a
prefix in front of their argument.
"""

import re

LITERAL = re.compile(r'(?:u8)?"((?:[^"\\]|\\.)*)"')
ELLIPSIS = "…"
TEXTS_MAX = 16  # of one expression
OPEN, CLOSED = "([{", ")]}"


def skip_literal(text: str, at: int) -> int:
    """The end of the literal at `at`; `at` itself if there is none."""
    found = LITERAL.match(text, at) or re.compile(r"'(?:[^'\\]|\\.)'").match(text, at)
    return found.end() if found else at


def arguments_at(text: str, start: int) -> list[str]:
    """The arguments of a call, or of a braced list, from the character behind its bracket."""
    found, depth, begin, at = [], 0, start, start
    while at < len(text):
        end = skip_literal(text, at)
        if end > at:
            at = end
            continue
        letter = text[at]
        if letter in OPEN:
            depth += 1
        elif letter in CLOSED:
            if depth == 0:
                break
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return [*found, text[begin:at].strip()]


def split_at(text: str, separator: str) -> list[str]:
    """The parts of an expression between separators outside of brackets and literals."""
    found, depth, begin, at = [], 0, 0, 0
    while at < len(text):
        end = skip_literal(text, at)
        if end > at:
            at = end
            continue
        depth += (text[at] in OPEN) - (text[at] in CLOSED)
        if depth == 0 and text.startswith(separator, at) and text[at - 1:at + 2] not in ("::",):
            found.append(text[begin:at])
            begin = at = at + len(separator)
            continue
        at += 1
    return [*found, text[begin:]]


def choices(expression: str) -> list[str]:
    """The branches of conditional operators."""
    before, *rest = split_at(expression, "?")
    if not rest:
        return [expression]
    # c ? a : d ? e : f
    branches = split_at(re.sub(r"::", "\x01\x01", "?".join(rest)), ":")
    found = []
    for branch in branches:
        found += [split_at(branch, "?")[-1].replace("\x01\x01", "::")]
    return found if before else [expression]


def term_texts(term: str, values: dict[str, list[str]]) -> list[str]:
    term = term.strip()
    literals = LITERAL.findall(term)
    if literals and not LITERAL.sub("", term).strip():
        return ["".join(literals).replace('\\"', '"').replace("\\\\", "\\").replace("\\n", " ")]
    name = re.fullmatch(r"(?:std::move\()?(\w+)\)?", term)
    if name and name[1] in values:
        return values[name[1]]
    call = re.fullmatch(r"(fmt::format|std::string|std::string_view|std::move)?[({](.*)[)}]", term, re.S)
    if call:
        arguments = arguments_at(term, len(call[1] or "") + 1)
        if call[1] == "fmt::format":
            return formatted(arguments, values)
        if len(arguments) == 1:
            return texts(arguments[0], values)
    return [ELLIPSIS]


def formatted(arguments: list[str], values: dict[str, list[str]]) -> list[str]:
    found = []
    for pattern in texts(arguments[0], {}):
        fields = iter(arguments[1:])

        def field(match, fields=fields):
            given = arguments[1 + int(match[1])] if match[1] else next(fields, "")
            name = re.fullmatch(r"(?:std::move\()?(\w+)\)?", given)
            return values[name[1]][0] if name and len(values.get(name[1], [])) == 1 else ELLIPSIS
        found.append(re.sub(r"\{(\d*)(?::[^}]*)?\}", field, pattern.replace("{{", "\x02").replace("}}", "\x03")).replace("\x02", "{").replace("\x03", "}"))
    return found


def texts(expression: str, values: dict[str, list[str]] | None = None) -> list[str]:
    """All texts of an expression; `values` has those of its names."""
    found = []
    for choice in choices(expression):
        made = [""]
        for term in split_at(choice, "+"):
            made = [before + behind for before in made for behind in term_texts(term, values or {})][:TEXTS_MAX]
        found += made
    return [re.sub(ELLIPSIS + "+", ELLIPSIS, text) for text in found]
