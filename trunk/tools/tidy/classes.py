"""Counts the member functions and data members of each class. Reads declarations only: overload sets and types do not matter here."""

import re
from dataclasses import dataclass

import cpp

DATA_MEMBERS_MAX = 20
FUNCTIONS_MAX = 40
HEAD = re.compile(r"\bclass\s+(?:alignas\s*\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*([A-Za-z_][\w:]*)[^;{}()]*$")
NOT_MEMBER = re.compile(r"\s*(?:using|friend|typedef|static_assert|enum|class|struct|union|template\s*<[^;]*>\s*(?:class|struct|using)|namespace)\b")
CONSTANT = re.compile(r"\bstatic\b.*\bconst(?:expr|init)?\b|\bstatic\s+const(?:expr)?\b")


@dataclass
class ClassSize:
    name: str
    line: int
    functions: int
    data_members: int

    @property
    def is_over(self):
        return self.functions > FUNCTIONS_MAX or self.data_members > DATA_MEMBERS_MAX


def matching_brace(code, at):
    """Offset of the brace that closes the one at `at`."""
    depth = 0
    for index in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return len(code)


def without_templates(text):
    """Drops template arguments, innermost first: `std::function<void(int)> done_` is no function."""
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"<[^<>;]*>", " ", text)
    return text


def declarations(body):
    """The declarations of a class body, each without initialiser and function body; the second value reports a function body."""
    start = index = 0
    while index < len(body):
        if body[index] == "{":
            end = matching_brace(body, index)
            text = body[start:index]
            plain = without_templates(re.sub(r"\b(?:public|private|protected)\s*:", " ", text))
            if re.match(r"\s*(?:class|struct|union|enum)\b", plain):
                # A nested type is counted separately; the declarators after it, up to the semicolon, are members.
                semicolon = body.find(";", end)
                start = index = (semicolon if semicolon >= 0 else len(body)) + 1
                continue
            if "(" in plain.split("=")[0]:
                yield plain, True
                # The braces of a constructor's initialisers come before its body.
                rest = re.match(r"\s*(?:,|\{)", body[end + 1 :])
                while rest:
                    end = matching_brace(body, body.index("{", end + 1))
                    rest = re.match(r"\s*(?:,|\{)", body[end + 1 :])
                start = index = end + 1
                continue
            index = end + 1
        elif body[index] == ";":
            yield without_templates(re.sub(r"\b(?:public|private|protected)\s*:", " ", body[start:index])), False
            start = index = index + 1
        else:
            index += 1


def size_of(body):
    functions = data_members = 0
    for text, has_body in declarations(body):
        declared = re.split(r"(?<![=!<>])=(?!=)|\{", text)[0] if "operator" not in text else text
        if not declared.strip() or NOT_MEMBER.match(declared):
            continue
        if "= delete" in text or "=delete" in text:
            continue
        if has_body or "(" in declared:
            functions += 1
        elif not CONSTANT.search(declared):
            data_members += declared.count(",") + 1
    return functions, data_members


def classes(code):
    """The classes that a file defines. Structs are rows of data and are not counted."""
    plain = cpp.without_preprocessor(code)
    for match in re.finditer(r"\{", plain):
        head = re.split(r"[;{}]|\b(?:public|private|protected)\s*:(?!:)", plain[max(0, match.start() - 600) : match.start()])[-1]
        found = HEAD.search(cpp.TEMPLATE.sub(" ", head))
        if not found or re.search(r"\benum\s+class\b", head):
            continue
        functions, data_members = size_of(plain[match.end() : matching_brace(plain, match.start())])
        yield ClassSize(found.group(1), plain.count("\n", 0, match.start()) + 1, functions, data_members)


def oversized(tree):
    """(file, class) of each product class over a limit, the largest first."""
    found = [(s, c) for s in tree.sources if s.is_product for c in classes(s.cpp.code) if c.is_over]
    return sorted(found, key=lambda pair: -(pair[1].functions / FUNCTIONS_MAX + pair[1].data_members / DATA_MEMBERS_MAX))
