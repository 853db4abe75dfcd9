"""Tests of cover.py: what counts as code, and when it fails. Run: python3 -m unittest in this folder."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cover  # noqa: E402


def line(number, count, *branches):
    """`branches` are (count, whether it only unwinds an exception)."""
    return {"line_number": number, "count": count, "branches": [{"count": c, "throw": t} for c, t in branches]}


def document(**files):
    """As gcov writes it; "__" stands for "/" and each name is a source."""
    return {
        "current_working_directory": "/tree",
        "files": [{"file": f"/trunk/src/{name.replace('__', '/')}.cpp", "lines": lines} for name, lines in files.items()],
    }


def collect(*documents):
    return cover.collect(documents, Path("/trunk/src"))


class Collecting(unittest.TestCase):
    def test_a_line_is_covered_when_one_of_the_objects_that_have_it_ran_it(self):
        lines, _ = collect(document(base__hex=[line(1, 0), line(2, 0)]), document(base__hex=[line(1, 3)]))
        self.assertEqual(lines["base/hex.cpp"], {1: 3, 2: 0})

    def test_tests_and_what_only_they_use_are_not_code(self):
        lines, _ = collect(document(base__hex_test=[line(1, 1)], base__hex_fuzz=[line(1, 1)], base__hex_bench=[line(1, 1)],
                                    base__log_fixture=[line(1, 1)], base__amf_vectors=[line(1, 1)]))
        self.assertEqual(dict(lines), {})

    def test_what_is_not_ours_is_left_out(self):
        foreign = {"current_working_directory": "/tree", "files": [{"file": "/usr/include/c++/vector", "lines": [line(1, 1)]}]}
        self.assertEqual(dict(collect(foreign)[0]), {})

    def test_branches_of_exceptions_do_not_count(self):
        _, branches = collect(document(base__hex=[line(1, 3, (2, False), (0, True), (0, False))]))
        self.assertEqual(cover.share(list(branches["base/hex.cpp"].values())), 50.0)


class Floors(unittest.TestCase):
    def rows(self, floors, **files):
        lines, branches = collect(document(**files))
        return {row[0]: row[1:] for row in cover.table_rows(lines, branches, cover.read_floors(floors))}

    def lines_of(self, covered):
        return [line(number, int(number <= covered)) for number in range(1, 101)]

    def verdicts(self, floors, **files):
        return {folder: row[2] for folder, row in self.rows(floors, **files).items()}

    def test_a_folder_counts_in_its_room_and_has_floors_of_its_own(self):
        rows = self.rows("session 75 100\nsession/common 100 100", session__rtc=self.lines_of(50), session__common__a=self.lines_of(100))
        self.assertEqual(rows, {"session": (75.0, 100.0, []), "session/common": (100.0, 100.0, [])})

    def test_a_name_that_begins_alike_is_another_folder(self):
        self.assertEqual(self.rows("", io=[], iota__a=self.lines_of(50))["iota"][0], 50.0)
        self.assertIsNone(cover.share_of({"iota/a.cpp": {1: 1}}, "io"))

    def test_at_the_floor_and_just_above_it_passes(self):
        for floor in (90, 88.5):
            self.assertEqual(self.verdicts(f"wire {floor} 99", wire__a=self.lines_of(90)), {"wire": []})

    def test_below_a_floor_fails(self):
        self.assertEqual(self.verdicts("wire 91 99", wire__a=self.lines_of(90)), {"wire": [(True, "lines are below the floor")]})

    def test_two_points_above_a_floor_says_so_and_passes(self):
        self.assertEqual(self.verdicts("wire 88 99", wire__a=self.lines_of(90)), {"wire": [(False, "the floor of lines may rise to 90")]})

    def test_branches_have_a_floor_too(self):
        half = [line(1, 1, (1, False), (0, False))]
        self.assertEqual(self.verdicts("wire 100 60", wire__a=half), {"wire": [(True, "branches are below the floor")]})

    def test_a_room_without_floors_is_told_what_they_may_be_and_passes(self):
        self.assertEqual(self.verdicts("", wire__a=self.lines_of(90))["wire"],
                         [(False, "the floor of lines may rise to 90"), (False, "the floor of branches may rise to 100")])

    def test_floors_of_no_folder_fail(self):
        self.assertEqual(self.verdicts("lane 1 1")["lane"], [(True, "there is no such folder")])

    def test_the_list_of_floors_reads_as_comments_say(self):
        self.assertEqual(cover.read_floors("# words\n\nwire 90 80  # why\n"), {"wire": (90.0, 80.0)})

    def test_the_list_of_floors_in_the_tree_is_well_formed(self):
        floors = cover.read_floors((Path(__file__).resolve().parent / "cover-floors.txt").read_text())
        self.assertTrue(floors)
        for folder, percentages in floors.items():
            self.assertTrue(all(0 <= percentage <= 100 for percentage in percentages), folder)


class Ranges(unittest.TestCase):
    def test_neighbours_are_one(self):
        self.assertEqual(cover.ranges([9, 3, 4, 5]), "3-5 9")


if __name__ == "__main__":
    unittest.main()
