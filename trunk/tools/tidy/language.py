"""Finds phrases in comments that CONTRIBUTING.md rules out under Language. The count of each kind may only fall."""

import re


# kind, pattern on the text of one comment line.
PATTERNS = [
    ("clause-as-noun", r"^(?:What|Who|Whoever|Whatever|Whose)\b(?!.*\?)|(?<=\. )(?:What|Who|Whoever|Whatever|Whose)\b(?!.*\?)"),
    ("genitive-without-noun", r"^Of\b|(?<=\. )Of\b"),
    ("code-as-person", r"\b(?:tells?|told|hears?|heard|says|said|asks|knows?|wants?|welcomes?|has had enough|lets? go)\b"),
    ("missing-as-none", r"\bthat (?:is|are) (?:no|none)\b|\b(?:is|are) none of\b|\bto be had\b"),
    ("history", r"\bany more\b|\bno longer\b|\bhad been\b|\bof before\b"),
]
PATTERNS = [(kind, re.compile(pattern)) for kind, pattern in PATTERNS]
KINDS = [kind for kind, _ in PATTERNS]


def comment_lines(source):
    """(line, text) of each line comment. A slash pair inside of a string is no comment: the blanked text has none there."""
    code_lines = source.cpp.code.split("\n")
    for number, line in enumerate(source.lines, 1):
        at = line.find("//")
        if at >= 0 and not code_lines[number - 1][at : at + 2].strip() and line.count('"', 0, at) % 2 == 0:
            yield number, line[at + 2 :].strip()


def findings(tree):
    """(file, line, kind, text)"""
    for source in tree.sources:
        for number, text in comment_lines(source):
            for kind, pattern in PATTERNS:
                if pattern.search(text):
                    yield source.name, number, kind, text
