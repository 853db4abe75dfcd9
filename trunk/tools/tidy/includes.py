"""Arrows between rooms and folders, weight of headers, cycles between units and between folders."""

from fnmatch import fnmatch

from tree import Problem

TEST_LIBRARIES = ("gtest/", "gmock/")
HEAVY = ("base/log/log_format.hpp", "fmt/", "nlohmann/", "spdlog/")


class Arrows:
    """tools/arrows.txt, read."""

    def __init__(self, text):
        self.rooms = {}
        self.folders = []
        self.outside = []
        self.only = []
        for raw in text.split("\n"):
            line = raw.split("#")[0].strip()
            if not line:
                continue
            if line.startswith("outside "):
                header, rooms = line[len("outside ") :].split(":")
                self.outside.append((header.strip(), rooms.split()))
                continue
            left, right = (side.strip() for side in line.split("->"))
            if left.startswith("only "):
                rooms, names = right.split(":")
                self.only.append((left.removeprefix("only ").strip(), rooms.split(), names.split()))
                continue
            if "/" in left:
                self.folders.extend((left, target) for target in right.split())
            else:
                self.rooms.setdefault(left, set()).update(right.split())

    def allows_room(self, source, target):
        return source == target or target in self.rooms.get(source, ())

    def allows_folder(self, source, target):
        # All folders of a room see the files directly in the room.
        if source == target or "/" not in target:
            return True
        return any(fnmatch(source, left) and fnmatch(target, right) for left, right in self.folders)

    def allows_below(self, source, target):
        """A folder with a line about folders of a lower room sees no others of that room."""
        named = [right for left, right in self.folders if fnmatch(source, left) and right.split("/")[0] == target.split("/")[0]]
        return not named or any(fnmatch(target, right) for right in named)

    def allows_header(self, folder, target):
        """A folder with a line `only` sees no other headers of the rooms of that line."""
        return all(
            any(fnmatch(target.name, name) for name in names)
            for left, rooms, names in self.only
            if fnmatch(folder, left) and target.room in rooms
        )

    def knows_outside(self, header):
        return any(header.startswith(prefix) for prefix, _ in self.outside)

    def allows_outside(self, room, header):
        for prefix, rooms in self.outside:
            if header.startswith(prefix):
                return room in rooms
        return True


def check_arrows(tree, arrows):
    for source in tree.sources:
        for line, header, ours in source.cpp.includes:
            target = tree.by_name.get(header)
            if target is None:
                if ours and header not in GENERATED and not arrows.knows_outside(header):
                    yield Problem(source.name, line, "include", f'"{header}" is not below src/')
                elif not arrows.allows_outside(source.room, header):
                    yield Problem(source.name, line, "arrow", f"{source.room} may not include <{header}>")
            elif not arrows.allows_room(source.room, target.room):
                yield Problem(source.name, line, "arrow", f"{source.room} -> {target.room} is not in arrows.txt ({header})")
            elif source.room != target.room and not arrows.allows_below(source.folder, target.folder):
                yield Problem(source.name, line, "arrow", f"{source.folder} -> {target.folder} is not in arrows.txt ({header})")
            elif not arrows.allows_header(source.folder, target):
                yield Problem(source.name, line, "arrow", f"{source.folder} may not include {header}: it sees only some headers of {target.room}")
            elif source.room == target.room and source.is_product and not folder_fine(arrows, source, target):
                yield Problem(source.name, line, "arrow", f"{source.folder} -> {target.folder} is not in arrows.txt ({header})")


# Written by CMake.
GENERATED = ("build_info.hpp",)


def folder_fine(arrows, source, target):
    # The files of the room itself (app/server.cpp) put its folders together.
    return "/" not in source.folder or arrows.allows_folder(source.folder, target.folder)


def check_header_weight(tree):
    for source in tree.sources:
        if not source.is_header:
            continue
        for line, header, _ in source.cpp.includes:
            if header.startswith(HEAVY):
                yield Problem(source.name, line, "header-weight", f"a header may not include {header}")


def check_helper_names(tree):
    """A header for tests has a suffix, and product code includes none of them."""
    users = {}
    for source in tree.sources:
        for line, header, _ in source.cpp.includes:
            users.setdefault(header, []).append((source, line))
    for header in tree.sources:
        if not header.is_header:
            continue
        found = users.get(header.name, [])
        if header.is_helper:
            for source, line in found:
                if source.is_product:
                    yield Problem(source.name, line, "helper-use", f"product code may not include {header.name}")
        elif any(name.startswith(TEST_LIBRARIES) for _, name, _ in header.cpp.includes):
            yield Problem(header.name, 1, "helper-name", "a header with gtest ends in _fixture.hpp or _vectors.hpp")
        elif found and not any(source.is_product for source, _ in found):
            yield Problem(header.name, 1, "helper-name", "only tests include it: its name ends in _fixture.hpp or _vectors.hpp")


def include_graph(sources, tree, node_of):
    """The graph of includes between units or folders; node_of maps a source to its node."""
    graph = {}
    for source in sources:
        edges = graph.setdefault(node_of(source), set())
        for _, header, _ in source.cpp.includes:
            target = tree.by_name.get(header)
            if target is not None and node_of(target) != node_of(source):
                edges.add(node_of(target))
    return graph


def unit_graph(tree):
    return include_graph(tree.sources, tree, lambda source: source.unit)


def folder_graph(tree):
    """Of the product only: a test may include higher folders."""
    return include_graph([source for source in tree.sources if source.is_product], tree, lambda source: source.folder)


def cycles(graph):
    """Strongly connected components of more than one unit, each sorted. Tarjan's method, without recursion."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, edges = work[-1]
            for target in edges:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(graph.get(target, ())))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        top = stack.pop()
                        on_stack.discard(top)
                        component.append(top)
                        if top == node:
                            break
                    if len(component) > 1:
                        found.append(sorted(component))
    return found


def check_cycles(tree):
    for kind, graph in (("units", unit_graph(tree)), ("folders", folder_graph(tree))):
        for component in cycles(graph):
            yield Problem(component[0], 1, "cycle", f"these {kind} include each other: " + " ".join(component))
