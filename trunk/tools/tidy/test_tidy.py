"""Tests of tidy: each builds a small tree in a temporary folder and checks the findings. Run: python3 -m unittest in this folder."""

import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import alone  # noqa: E402
import classes  # noqa: E402
import commits  # noqa: E402
import cpp  # noqa: E402
import documents  # noqa: E402
import includes  # noqa: E402
import language  # noqa: E402
import rules  # noqa: E402
import tidy  # noqa: E402
from tree import Problem, Tree  # noqa: E402

ARROWS = """
wire -> base
io -> base
session/flv -> session/http
session/* -> session/common
outside openssl/ : engine io
"""


class TreeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trunk = Path(self.folder.name) / "repository" / "trunk"
        (self.trunk / "src").mkdir(parents=True)

    def write(self, name, text):
        path = self.trunk / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def source(self, name, text):
        self.write("src/" + name, text)

    def rules_of(self, found):
        return sorted((p.path, p.rule) for p in found)

    def arrows(self):
        return self.rules_of(includes.check_arrows(Tree(self.trunk), includes.Arrows(ARROWS)))

    def banned(self, name, text):
        self.source(name, text)
        return [p.rule for p in rules.check_banned(Tree(self.trunk)) if p.path == name]


class Functions(unittest.TestCase):
    def functions(self, text):
        return [(f.name, f.lines) for f in cpp.read(text).functions]

    def test_counts_from_head_to_brace(self):
        self.assertEqual(self.functions("int f(int a,\n      int b) {\n    return a;\n}\n"), [("f", 4)])

    def test_sees_methods_and_nested_namespaces(self):
        text = "namespace a::b {\nclass C {\npublic:\n    int f() const { return 1; }\n};\nvoid C::g() {\n}\n}\n"
        self.assertEqual(self.functions(text), [("f", 1), ("C::g", 2)])

    def test_blocks_and_lambdas_belong_to_their_function(self):
        text = "void f() {\n    if (x) {\n    }\n    auto l = [](int a) {\n        return a;\n    };\n    T t{1, {2}};\n}\n"
        self.assertEqual(self.functions(text), [("f", 8)])

    def test_a_constructor_with_brace_initialisers_is_one_function(self):
        text = "A::A(int a) : x_{a}, y_{std::move(b)} {\n    go();\n}\nvoid next() {}\n"
        self.assertEqual(self.functions(text), [("A::A", 3), ("next", 1)])

    def test_a_constructor_with_lambdas_among_its_initialisers_is_one_function(self):
        text = ("A::A(int a)\n    : b_([this] { return f(); }, a),\n      c_{a, 2},\n"
                "      d_(\n          a, [](int& x) { g(x); }, e),\n      h_(a) {\n    go();\n}\nvoid next() {}\n")
        self.assertEqual(self.functions(text), [("A::A", 8), ("next", 1)])

    def test_a_braced_argument_of_a_macro_is_no_function(self):
        self.assertEqual(self.functions("INSTANTIATE(A, B, testing::Values(C{1}, D{f(2)}));\nvoid f() {}\n"), [("f", 1)])

    def test_templates_trailing_returns_and_test_bodies(self):
        text = "template <class T, int N = 3>\nauto f(T t) -> std::vector<T> {\n}\nTEST(Reader, Reads) {\n}\n"
        self.assertEqual(self.functions(text), [("f", 3), ("TEST(Reader, Reads)", 2)])

    def test_braces_in_strings_and_comments_do_not_count(self):
        text = 'void f() {\n    g("{{", \'{\', R"(}}})");  // }\n    /* } */\n}\nint h() { return 1\'000; }\n'
        self.assertEqual(self.functions(text), [("f", 4), ("h", 1)])

    def test_a_table_is_not_a_function(self):
        self.assertEqual(self.functions("constexpr Row kRows[] = {\n  {1, f(2)},\n};\n"), [])

    def test_macros_are_not_functions(self):
        self.assertEqual(self.functions("#define A(x) \\\n    do { \\\n    } while (false)\nvoid f() {}\n"), [("f", 1)])


class Variables(unittest.TestCase):
    def variables(self, text):
        return [text for _, text in cpp.read(text).variables]

    def test_finds_mutable_globals_and_statics(self):
        text = "namespace {\nint count = 0;\nstd::string name;\n}\nvoid f() {\n    static int calls = 0;\n}\n"
        self.assertEqual(self.variables(text), ["int count = 0", "std::string name", "static int calls = 0"])

    def test_constants_types_and_declarations_are_fine(self):
        text = "namespace a {\nconst int k = 1;\nconstexpr auto kTwo = 2;\nusing T = int;\nnamespace b = c;\nclass D;\nint f();\nenum class E { x };\n}\n"
        self.assertEqual(self.variables(text), [])

    def test_members_and_locals_are_fine(self):
        self.assertEqual(self.variables("class C {\n    int a_ = 0;\n};\nvoid f() {\n    int b = 1;\n    static const int c = 2;\n}\n"), [])


class Arrows(TreeTest):
    def test_a_listed_arrow_is_fine(self):
        self.source("base/bytes/bytes.hpp", "")
        self.source("wire/amf.cpp", '#include "base/bytes/bytes.hpp"\n')
        self.assertEqual(self.arrows(), [])

    def test_an_arrow_that_is_not_listed_fails(self):
        self.source("wire/amf.hpp", "")
        self.source("base/bytes/bytes.cpp", '#include "wire/amf.hpp"\n')
        self.assertEqual(self.arrows(), [("base/bytes/bytes.cpp", "arrow")])

    def test_folders_of_a_room_need_a_line(self):
        self.source("session/http/a.hpp", "")
        self.source("session/common/c.hpp", "")
        self.source("session/plain.hpp", "")
        self.source("session/flv/b.cpp", '#include "session/http/a.hpp"\n#include "session/common/c.hpp"\n#include "session/plain.hpp"\n')
        self.source("session/rtmp/b.cpp", '#include "session/http/a.hpp"\n#include "session/common/c.hpp"\n')
        self.assertEqual(self.arrows(), [("session/rtmp/b.cpp", "arrow")])

    def test_a_folder_with_lines_about_a_lower_room_sees_only_those_of_its_folders(self):
        self.source("wire/rtp/a.hpp", "")
        self.source("wire/sdp/b.hpp", "")
        arrows = includes.Arrows("engine -> wire\nengine/rtp -> wire/rtp\n")
        for folder in ("rtp", "ice"):
            self.source(f"engine/{folder}/x.cpp", '#include "wire/rtp/a.hpp"\n#include "wire/sdp/b.hpp"\n')
        self.assertEqual(self.rules_of(includes.check_arrows(Tree(self.trunk), arrows)), [("engine/rtp/x.cpp", "arrow")])

    def test_a_folder_with_a_line_only_sees_the_headers_of_these_names(self):
        self.source("wire/rtp/a.hpp", "")
        self.source("wire/rtp/option_rows.hpp", "")
        arrows = includes.Arrows("engine -> wire\nonly engine/rtp -> wire : *option_rows.hpp\n")
        for folder in ("rtp", "ice"):
            self.source(f"engine/{folder}/x.cpp", '#include "wire/rtp/a.hpp"\n#include "wire/rtp/option_rows.hpp"\n')
        self.assertEqual(self.rules_of(includes.check_arrows(Tree(self.trunk), arrows)), [("engine/rtp/x.cpp", "arrow")])

    def test_outside_headers_have_rooms(self):
        self.source("base/x.cpp", "#include <openssl/ssl.h>\n#include <vector>\n")
        self.source("io/x.cpp", "#include <openssl/ssl.h>\n")
        self.assertEqual(self.arrows(), [("base/x.cpp", "arrow")])

    def test_a_header_that_does_not_exist_fails(self):
        self.source("base/x.cpp", '#include "base/gone.hpp"\n// #include "base/comment.hpp"\n')
        self.assertEqual(self.arrows(), [("base/x.cpp", "include")])

    def test_heavy_headers_stay_out_of_headers(self):
        self.source("base/log/log_format.hpp", "")
        self.source("base/a.hpp", '#include "base/log/log_format.hpp"\n#include <nlohmann/json.hpp>\n')
        self.source("base/a.cpp", '#include "base/log/log_format.hpp"\n')
        found = self.rules_of(includes.check_header_weight(Tree(self.trunk)))
        self.assertEqual(found, [("base/a.hpp", "header-weight")] * 2)

    def helpers(self):
        return self.rules_of(includes.check_helper_names(Tree(self.trunk)))

    def test_a_header_that_only_tests_include_has_a_suffix(self):
        self.source("wire/a.hpp", "")
        self.source("wire/peer.hpp", "")
        self.source("wire/a.cpp", '#include "wire/a.hpp"\n')
        tests = '#include "wire/a.hpp"\n#include "wire/peer.hpp"\n'
        for name in ("wire/a_test.cpp", "wire/a_fuzz.cpp", "wire/a_bench.cpp", "wire/a_fixture.hpp", "wire/a_vectors.hpp"):
            self.source(name, tests)
        self.assertEqual(self.helpers(), [("wire/peer.hpp", "helper-name")])
        self.source("wire/b.hpp", '#include "wire/peer.hpp"\n')
        self.assertEqual(self.helpers(), [])

    def test_a_header_with_gtest_has_a_suffix(self):
        for name in ("wire/test_a", "wire/a_fixture", "wire/a_vectors"):
            self.source(name + ".hpp", "#include <gtest/gtest.h>\n")
        self.source("wire/a_test.cpp", "#include <gtest/gtest.h>\n")
        self.assertEqual(self.helpers(), [("wire/test_a.hpp", "helper-name")])

    def test_product_code_includes_no_helpers(self):
        self.source("wire/a_fixture.hpp", "")
        self.source("wire/a_test.cpp", '#include "wire/a_fixture.hpp"\n')
        self.assertEqual(self.helpers(), [])
        self.source("wire/a.cpp", '#include "wire/a_fixture.hpp"\n')
        self.assertEqual(self.helpers(), [("wire/a.cpp", "helper-use")])

    def test_cycles_between_units_are_found_through_sources(self):
        self.source("base/a.hpp", "")
        self.source("base/a.cpp", '#include "base/a.hpp"\n#include "base/b.hpp"\n')
        self.source("base/b.hpp", '#include "base/c.hpp"\n')
        self.source("base/c.hpp", "")
        self.assertEqual(list(includes.check_cycles(Tree(self.trunk))), [])
        self.source("base/c.cpp", '#include "base/a.hpp"\n')
        found = list(includes.check_cycles(Tree(self.trunk)))
        self.assertEqual(len(found), 1)
        self.assertIn("base/a base/b base/c", found[0].text)

    def test_cycles_between_folders_are_found_without_one_between_units(self):
        self.source("io/st/low.hpp", "")
        self.source("io/high.cpp", '#include "io/st/low.hpp"\n')
        self.source("io/deadline.hpp", "")
        self.source("io/st/low_test.cpp", '#include "io/deadline.hpp"\n')
        self.assertEqual(list(includes.check_cycles(Tree(self.trunk))), [])
        self.source("io/st/low.cpp", '#include "io/deadline.hpp"\n')
        found = list(includes.check_cycles(Tree(self.trunk)))
        self.assertEqual([problem.text for problem in found], ["these folders include each other: io io/st"])


class Banned(TreeTest):
    def test_each_banned_call_is_found(self):
        cases = {
            "st-call": "st_sleep(1);",
            "time-call": "time(nullptr);",
            "clock-call": "std::chrono::steady_clock::now();",
            "printf-call": 'std::printf("x");',
            "rand-call": "rand();",
            "thread": "std::thread t;",
            "reinterpret-cast": "reinterpret_cast<char*>(p);",
            "new-delete": "auto p = new int;",
            "shell": 'system("ls");',
            "unbounded-copy": "strcpy(a, b);",
            "ranges-copy": "std::ranges::copy(a, b.begin());",
            "blocking-sleep": "usleep(1);",
        }
        for rule, text in cases.items():
            with self.subTest(rule=rule):
                self.assertEqual(self.banned("wire/a.cpp", f"void f() {{\n    {text}\n}}\n"), [rule])

    def test_words_that_only_look_banned_are_fine(self):
        text = 'int start_time(int);\nC(const C&) = delete;\nvoid f() { x.time(0); first_sleep(); std::ranges::copy(a, std::back_inserter(b)); snprintf(a, 1, "printf("); }  // new\n'
        self.assertEqual(self.banned("wire/a.cpp", text), [])

    def test_the_wall_clock_is_for_wet_rooms(self):
        text = "void f() { std::chrono::system_clock::now(); }\n"
        self.assertEqual(self.banned("media/a.cpp", text), ["clock-call"])
        self.assertEqual(self.banned("api/a.cpp", text), [])

    def test_a_shared_pointer_names_its_owners(self):
        self.assertEqual(self.banned("io/a.hpp", "std::shared_ptr<int> p;\n"), ["shared-ptr"])
        for comment in ("The worker thread is the second owner.", "Owned by the caller and by the worker."):
            self.assertEqual(self.banned("io/a.hpp", f"// {comment}\nstd::shared_ptr<int> p;\n"), [])

    def test_rooms_that_may_are_left_alone(self):
        self.assertEqual(self.banned("io/a.cpp", "void f() { st_sleep(1); reinterpret_cast<char*>(p); }\n"), [])
        self.assertEqual(self.banned("base/bytes/ref.hpp", "void f() { delete p; }\n"), [])


class Sizes(TreeTest):
    def body(self, lines, note=""):
        return f"{note}void f() {{\n" + "    g();\n" * (lines - 2) + "}\n"

    def test_seventy_lines_are_fine_and_seventy_one_are_not(self):
        self.source("base/a.cpp", self.body(70))
        self.assertEqual(list(rules.check_sizes(Tree(self.trunk))), [])
        self.source("base/a.cpp", self.body(71))
        self.assertEqual(self.rules_of(rules.check_sizes(Tree(self.trunk))), [("base/a.cpp", "long-function")])

    def test_an_excused_function_is_counted_but_no_problem(self):
        self.source("base/a.cpp", self.body(80, "// tidy-long: flat switch over message types\n"))
        tree = Tree(self.trunk)
        self.assertEqual(list(rules.check_sizes(tree)), [])
        self.assertEqual([excused for _, _, excused in rules.long_functions(tree)], [True])

    def test_a_thousand_lines_are_fine_and_one_more_is_not(self):
        self.source("base/a.cpp", "\n" * 1000)
        self.assertEqual(list(rules.check_sizes(Tree(self.trunk))), [])
        self.source("base/a.cpp", "\n" * 1001)
        self.assertEqual(self.rules_of(rules.check_sizes(Tree(self.trunk))), [("base/a.cpp", "long-file")])

    def test_a_parser_wants_a_fuzz_target(self):
        self.source("wire/a.hpp", "Result<A> parse_a(Bytes body);\n")
        self.source("wire/b.hpp", "A make_a(int);\n")
        self.assertEqual(self.rules_of(rules.check_fuzz(Tree(self.trunk))), [("wire/a.hpp", "no-fuzz")])
        self.source("wire/a.cpp", '#include "wire/c.hpp"\n')
        self.source("wire/c.hpp", "Result<C> read_c(ByteReader& in);\n")
        self.source("wire/a_fuzz.cpp", '#include "wire/a.hpp"\n')
        self.assertEqual(list(rules.check_fuzz(Tree(self.trunk))), [])


    def test_a_folder_has_at_most_fifteen_units(self):
        for number in range(15):
            for suffix in (".hpp", ".cpp", "_test.cpp", "_fuzz.cpp"):
                self.source(f"wire/unit{number}{suffix}", "")
        self.assertEqual(rules.oversized_folders(Tree(self.trunk)), [])
        self.source("wire/sub/unit.cpp", "")
        self.assertEqual(rules.oversized_folders(Tree(self.trunk)), [])
        self.source("wire/one_more.hpp", "")
        self.assertEqual(rules.oversized_folders(Tree(self.trunk)), [("wire", 16)])

    def test_a_test_file_imports_no_test_file(self):
        self.write("test/e2e/test_a.py", "import os\nfrom helper import start\n")
        self.write("test/e2e/test_b.py", "import test_tools_of_others\n")
        self.assertEqual(list(documents.check_test_imports(Tree(self.trunk))), [])
        self.write("test/e2e/test_b.py", "import os, test_a\n")
        self.write("test/e2e/helper.py", "def start():\n    from test_a import x\n")
        found = sorted((p.path, p.line, p.rule) for p in documents.check_test_imports(Tree(self.trunk)))
        self.assertEqual(found, [("trunk/test/e2e/helper.py", 2, "test-import"), ("trunk/test/e2e/test_b.py", 1, "test-import")])

    def test_each_test_that_valgrind_leaves_out_exists(self):
        self.source("base/a_test.cpp", "TEST(Ring, IsBounded) {}\nTEST_F(RingTest, Grows) {}\n")
        self.write("scripts/valgrind.sh", '# Ring.WasRenamed\napart="*Slow*:Ring.IsB*"\napart="$apart:RingTest.*"\n')
        self.assertEqual(list(documents.check_valgrind_list(Tree(self.trunk))), [])
        self.write("scripts/valgrind.sh", '# Ring.WasRenamed\napart="*Slow*:Ring.IsB*"\napart="$apart:RingTest.*:Ring.WasRenamed"\n')
        found = [(p.path, p.line, p.rule, p.text) for p in documents.check_valgrind_list(Tree(self.trunk))]
        self.assertEqual(found, [("scripts/valgrind.sh", 3, "valgrind-list", "Ring.WasRenamed matches no test")])


class Classes(TreeTest):
    def sizes(self, text):
        return [(c.name, c.functions, c.data_members) for c in classes.classes(cpp.read(text).code)]

    def test_counts_functions_and_data_members(self):
        text = """
            class Source final : public Base<int> {
            public:
                Source(Private, int a) : a_{a}, b_(1) { go(); }
                ~Source() override;
                Source(const Source&) = delete;
                [[nodiscard]] bool empty() const { return b_ == 0; }
                template <class T> void each(T visit) const;
                bool operator==(const Source&) const = default;
                using Callback = std::function<void(int)>;
                enum class Kind { audio, video };
                static constexpr int kMax = 3;
                static int count(std::span<const int> of);
            private:
                friend class Other;
                std::function<void(int)> done_;
                int a_ = 1;
                int b_{2};
                int c_, d_;
                std::vector<std::pair<int, int>> pairs_ = {{1, 2}};
                const Log& log_;
            };
        """
        self.assertEqual(self.sizes(text), [("Source", 6, 7)])

    def test_a_nested_class_is_counted_by_itself(self):
        text = "class A {\n    class B {\n        int x_;\n        void f();\n    };\n    struct Row {\n        int a, b;\n    };\n    int y_;\n};\n"
        self.assertEqual(self.sizes(text), [("A", 0, 1), ("B", 1, 1)])

    def test_structs_enums_and_template_parameters_are_no_classes(self):
        self.assertEqual(self.sizes("struct S {\n    int a;\n};\nenum class E { a };\ntemplate <class T> void f(T t) {\n}\nclass D;\n"), [])

    def test_forty_functions_and_twenty_members_are_the_limit(self):
        def define(functions, members):
            self.source("base/a.hpp", "class A {\n" + "void f();\n" * functions + "int m_;\n" * members + "};\n")
            return [c.name for _, c in classes.oversized(Tree(self.trunk))]

        self.assertEqual(define(40, 20), [])
        self.assertEqual(define(41, 20), ["A"])
        self.assertEqual(define(40, 21), ["A"])


class Language(TreeTest):
    def kinds(self, *lines):
        self.source("base/a.cpp", "\n".join(lines) + "\n")
        return [(line, kind) for _, line, kind, _ in language.findings(Tree(self.trunk))]

    def test_each_kind_is_found(self):
        cases = {
            "clause-as-noun": "What an address has is counted in two cells.",
            "genitive-without-noun": "Of a file that each worker has for itself.",
            "code-as-person": "The next master hears them.",
            "missing-as-none": "Events that are none.",
            "history": "The place is not held any more.",
        }
        self.assertEqual(sorted(cases), sorted(language.KINDS))
        for kind, text in cases.items():
            with self.subTest(kind=kind):
                self.assertEqual(self.kinds("int a;  // " + text), [(1, kind)])

    def test_plain_sentences_questions_and_strings_are_fine(self):
        self.assertEqual(self.kinds("// Returns nullptr if there is none.", "// What happens at the bound?", 'f("// Of what it says");'), [])

    def test_a_sentence_inside_of_a_line_counts(self):
        self.assertEqual(self.kinds("// Sends all. Who waits is woken."), [(1, "clause-as-noun")])


class Documents(TreeTest):
    def test_a_room_has_a_short_readme(self):
        self.source("base/a.cpp", "")
        self.assertEqual(self.rules_of(documents.check_readmes(Tree(self.trunk))), [("base/README.md", "room-readme")])
        self.source("base/README.md", "x\n" * 61)
        self.assertEqual(self.rules_of(documents.check_readmes(Tree(self.trunk))), [("base/README.md", "room-readme")])
        self.source("base/README.md", "x\n" * 60)
        self.assertEqual(list(documents.check_readmes(Tree(self.trunk))), [])

    def test_dead_links_and_headings_are_found(self):
        self.write("doc/a.md", "# Some `Head` ing\n[ok](b.md) [no](gone.md) [web](https://x.y/z) [here](#some-head-ing) [not](#other)\n`[code](x.md)`\n")
        self.write("doc/b.md", "")
        found = [p.text for p in documents.check_links(Tree(self.trunk))]
        self.assertEqual(found, ["gone.md", "#other: no such heading"])

    def test_a_page_under_a_second_name_is_checked_once(self):
        self.write("doc/manual/a.md", "[beside](b.md) [no](gone.md)\n")
        self.write("doc/manual/b.md", "")
        (Path(self.trunk) / "doc/a.md").symlink_to("manual/a.md")
        self.assertEqual([(p.path, p.text) for p in documents.check_links(Tree(self.trunk))], [("trunk/doc/manual/a.md", "gone.md")])

    def test_notes_need_an_issue(self):
        self.source("base/a.cpp", "// TODO later\n// TODO(#12) fine\n// FIXME\n")
        self.write("scripts/a.sh", "mktemp -d /tmp/XXXXXX\n")
        self.assertEqual([p.text.split()[0] for p in documents.check_notes(Tree(self.trunk))], ["TODO", "FIXME"])

    def test_paths_of_a_machine_are_found(self):
        self.write("doc/a.md", "run /home/somebody/live/srs or /usr/local/srs, $HOME/work/x, https://x/work/y\n")
        self.assertEqual([p.text for p in documents.check_machine_paths(Tree(self.trunk))], ["/home/somebody/live"])


class Allowed(unittest.TestCase):
    def test_an_excuse_excuses_and_an_unused_one_is_a_problem(self):
        allowed = tidy.read_allowed("# note\na.cpp | thread | the pool\nb.cpp | thread | nobody\n")
        left = tidy.apply_allowed([Problem("a.cpp", 1, "thread", ""), Problem("c.cpp", 1, "thread", "")], allowed)
        self.assertEqual([(p.path, p.rule) for p in left], [("c.cpp", "thread"), ("tools/tidy/allowed.txt", "unused")])

    def test_an_excuse_without_a_reason_is_refused(self):
        with self.assertRaises(SystemExit):
            tidy.read_allowed("a.cpp | thread |\n")

    def test_counts_may_only_fall(self):
        self.assertEqual(len(list(tidy.check_limits({"x": 2}, {"x": 1}))), 1)
        self.assertEqual(len(list(tidy.check_limits({"x": 1}, {"x": 2}))), 1)
        self.assertEqual(list(tidy.check_limits({"x": 1}, {"x": 1})), [])


class Commits(unittest.TestCase):
    def count(self, subject, body="The reason."):
        return len(list(commits.problems_of(subject, body)))

    def test_the_form_is_room_and_imperative_with_a_body(self):
        self.assertEqual(self.count("wire/rtmp: refuse chunks over the message limit"), 0)
        self.assertEqual(self.count("app, doc: print the reason"), 0)
        self.assertEqual(self.count("wire: refuse chunks", body=" \n"), 1)
        self.assertEqual(self.count("refuse chunks over the limit"), 1)
        self.assertEqual(self.count("wire: fixes chunks"), 1)

    def test_seventy_two_characters_are_the_limit(self):
        self.assertEqual(self.count("wire: " + "x" * 66), 0)
        self.assertEqual(self.count("wire: " + "x" * 67), 1)


@unittest.skipUnless(shutil.which("c++"), "no compiler")
class Alone(TreeTest):
    def stands(self, *names):
        entries = [{"directory": str(self.trunk), "file": str(self.trunk / name),
                    "command": f"env A=1 {shutil.which('c++')} -std=c++20 -Isrc -Wall -Werror -MD -MF x.d -o x.o -c {self.trunk / name}"}
                   for name in ("src/base/a.cpp", "src/base/b.cpp")]
        self.write("compile_commands.json", json.dumps(entries))
        with open(os.devnull, "w") as nowhere:
            return alone.all_stand_alone(self.trunk / "compile_commands.json", 2, [self.trunk / name for name in names], nowhere)

    def test_a_source_that_lives_on_its_neighbours_includes_is_found(self):
        self.source("base/a.cpp", "#include <vector>\nstd::vector<int> a;\n")
        self.source("base/b.cpp", "std::vector<int> b;\n")
        self.assertTrue(self.stands("src/base/a.cpp"))
        self.assertFalse(self.stands("src/base/a.cpp", "src/base/b.cpp"))

    def test_a_header_that_forgets_what_it_needs_is_found(self):
        self.source("base/good.hpp", "#pragma once\n#include <vector>\nstd::vector<int> good();\n")
        self.source("base/bad.hpp", "#pragma once\nstd::vector<int> bad();\n")
        self.assertTrue(self.stands("src/base/good.hpp"))
        self.assertFalse(self.stands("src/base/bad.hpp"))

    def test_what_the_tree_does_not_compile_is_left_out(self):
        self.assertTrue(self.stands("src/base/other_flavour.cpp"))


if __name__ == "__main__":
    unittest.main()
