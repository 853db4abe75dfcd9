"""Reads C++ well enough for tidy: text without comments and strings, includes, and the functions with their lengths.

It is not a compiler: it knows braces, namespaces, classes and function heads, which is all that the rules need.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\\ ]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|(?<![0-9a-zA-Z_])'(?:[^'\\\n]|\\.)+'""",
    re.DOTALL,
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*$")
TEMPLATE = re.compile(r"\btemplate\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
MEMBER_INIT = re.compile(r"\)[^{};]*[^:]:[^:{};][^;]*[\w>]\s*$", re.DOTALL)
BRACES = re.compile(r"\{[^{}]*\}")
CONSTANT = re.compile(r"\b(const|constexpr|constinit|using|typedef|static_assert|friend|template|class|struct|enum|union|extern|concept|namespace|return)\b")


@dataclass
class Function:
    name: str
    first: int  # line of the head, from 1
    last: int  # line of the closing brace

    @property
    def lines(self):
        return self.last - self.first + 1


@dataclass
class Unit:
    """The structure of one file."""

    code: str  # comments and strings blanked out, same length and lines
    comment_lines: int
    code_lines: int
    includes: list = field(default_factory=list)  # (line, header, is_ours)
    functions: list = field(default_factory=list)
    variables: list = field(default_factory=list)  # (line, text): mutable, at namespace scope or static in a function


def blank(text):
    """The text with every comment and literal replaced by blanks; a string keeps its quotes so that it stays a token."""

    def replace(match):
        found = match.group(0)
        keep = found[0] if found[0] in "\"'" else " "
        body = re.sub(r"[^\n]", " ", found)
        return keep + body[1:-1] + keep if keep != " " and len(found) > 1 and "\n" not in found else body

    return TOKEN.sub(replace, text)


def comment_line_count(text):
    lines = set()
    for match in TOKEN.finditer(text):
        if match.group(0).startswith(("//", "/*")):
            first = text.count("\n", 0, match.start())
            lines.update(range(first, first + match.group(0).count("\n") + 1))
    return len(lines)


def without_preprocessor(code):
    """Blanks preprocessor lines, continued ones too: macros are not functions."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.MULTILINE)


def without_braces(head):
    """The head with a mark in place of each pair of braces: initialisers and the lambdas in them."""
    previous = None
    while previous != head:
        previous, head = head, BRACES.sub("]", head)
    return head


def name_of(head):
    before = TEMPLATE.sub(" ", head).split("(")[0].strip()
    words = re.findall(r"[\w:~]+", before)
    if words and words[-1] in ("TEST", "TEST_F", "TEST_P", "BENCHMARK"):
        return words[-1] + "(" + head.split("(", 1)[1].split(")")[0].strip() + ")"
    return words[-1] if words else "?"


class Scanner:
    """Walks the braces once; self.stack has the kind of each open brace: scope, function, init or inner."""

    def __init__(self, code):
        self.code = code
        self.functions = []
        self.variables = []
        self.stack = []
        self.head_start = 0
        self.line_of = self._line_index()

    def _line_index(self):
        starts = [0] + [m.end() for m in re.finditer("\n", self.code)]

        def line_of(offset):
            low, high = 0, len(starts)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if starts[middle] <= offset else (low, middle)
            return low + 1

        return line_of

    def run(self):
        for match in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:(?!:)", self.code):
            mark = match.group(0)
            if mark == "{":
                self.open(match.start())
            elif mark == "}":
                self.close(match.start())
            elif mark == ";":
                self.statement(match.start())
            else:
                self.head_start = match.end()
        return self.functions, self.variables

    def in_scope(self):
        return all(kind == "scope" for kind, *_ in self.stack)

    def at_namespace(self):
        return all(kind == "scope" and what == "namespace" for kind, what, *_ in self.stack)

    def open(self, at):
        head = self.code[self.head_start : at]
        plain = TEMPLATE.sub(" ", without_braces(head))
        if not self.in_scope():
            self.stack.append(("inner", "", 0, None))
        elif plain.count("(") > plain.count(")"):
            # A lambda or a braced argument inside of parentheses, as in a constructor's initialisers.
            self.stack.append(("init", "", 0, self.head_start))
            return
        elif "(" in plain and MEMBER_INIT.search(plain):
            self.stack.append(("init", "", 0, self.head_start))
            return
        elif SCOPE.search(plain) and not re.search(r"\)\s*(const|noexcept|override|final|->.*)?\s*$", plain):
            kind = "namespace" if re.search(r"\bnamespace\b|\bextern\s*$|extern \"", plain) else "class"
            self.stack.append(("scope", kind, 0, None))
        elif "(" in plain and not re.search(r"=\s*$", plain):
            first = self.head_start + len(head) - len(head.lstrip())
            self.stack.append(("function", name_of(head), self.line_of(first), None))
        else:
            self.stack.append(("init", "", 0, self.head_start))
            return
        self.head_start = at + 1

    def close(self, at):
        if not self.stack:
            return
        kind, name, first, head_start = self.stack.pop()
        if kind == "function":
            self.functions.append(Function(name, first, self.line_of(at)))
        # An initialiser's braces are part of the statement.
        self.head_start = head_start if kind == "init" and head_start is not None else at + 1

    def statement(self, at):
        text = self.code[self.head_start : at]
        if any(kind == "init" for kind, *_ in self.stack):
            return
        if self.at_namespace():
            self.check_variable(text)
        elif not self.in_scope() and re.search(r"\bstatic\b", text.split("=")[0]) and not CONSTANT.search(text.split("=")[0]):
            self.variables.append((self.line_of(at), " ".join(text.split())[:80]))
        self.head_start = at + 1

    def check_variable(self, text):
        declared = re.split(r"=|\{", text)[0].strip()
        if not declared or CONSTANT.search(declared) or "(" in declared or "operator" in declared:
            return
        if len(re.findall(r"[\w:]+", declared)) < 2:
            return
        self.variables.append((self.line_of(self.head_start + len(text)), " ".join(text.split())[:80]))


def read(text):
    code = blank(text)
    includes = []
    for match in INCLUDE.finditer(text):
        # The blanked text shows whether the line is code.
        if code[match.start() : match.end()].lstrip().startswith("#"):
            line = text.count("\n", 0, match.start(1) if match.group(1) else match.start(2)) + 1
            includes.append((line, match.group(1) or match.group(2), match.group(1) is not None))
    functions, variables = Scanner(without_preprocessor(code)).run()
    code_lines = sum(1 for line in code.split("\n") if line.strip())
    return Unit(code, comment_line_count(text), code_lines, includes, functions, variables)
