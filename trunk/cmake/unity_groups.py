"""Which sources may be compiled as one, for quick builds: prints "GROUP;FILE" lines for the files it is given.

Files of one folder belong together, but a file that keeps a name to itself (in an unnamed namespace) cannot stand beside one that gives
the same name another meaning. What this does not see, the compiler says.

    unity_groups.py FILES_IN_A_GROUP FILE...
"""

import re
import sys
from pathlib import Path

UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
ALIAS = re.compile(r"^(?:using|namespace) (\w+) = (.*);$", re.MULTILINE)
TYPE = re.compile(r"^(?:template .*)?(?:class|struct|union|enum|enum class) (\w+)", re.MULTILINE)
# A function, a constant or a variable: the last word in front of what a declarator may be followed by.
DECLARED = re.compile(r"^(?!using |namespace |class |struct |enum |template |return |#|//)[A-Za-z].*?(\w+)(?:\(|\{| = |\[|;)", re.MULTILINE)
# Inside a test's body; elsewhere a type inside another is nobody's neighbour.
LOCAL = re.compile(r"^ +struct (\w+) \{", re.MULTILINE)
MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)


def names_of(file: str) -> dict[str, str]:
    """Name to meaning. Two files agree on a name only when both say that it is the same alias."""
    text = Path(file).read_text(encoding="utf-8")
    names = {name: file for name in MACRO.findall(text) + (LOCAL.findall(text) if file.endswith("_test.cpp") else [])}
    for block in UNNAMED.findall(text):
        # Tests and checks are macros in capitals.
        names.update({name: file for name in TYPE.findall(block) + DECLARED.findall(block) if not name.isupper()})
        names.update(dict(ALIAS.findall(block)))
    return names


def main() -> None:
    size, files = int(sys.argv[1]), sys.argv[2:]
    groups: dict[Path, list[tuple[list[str], dict[str, str]]]] = {}
    for file in files:
        names = names_of(file)
        neighbours = groups.setdefault(Path(file).parent, [])
        for members, taken in neighbours:
            if len(members) < size and all(taken.get(name, meaning) == meaning for name, meaning in names.items()):
                break
        else:
            members, taken = [], {}
            neighbours.append((members, taken))
        members.append(file)
        taken.update(names)
    for folder, neighbours in groups.items():
        for number, (members, _) in enumerate(neighbours):
            for file in members:
                print(f"{folder.parent.name}_{folder.name}_{number};{file}")


if __name__ == "__main__":
    main()
