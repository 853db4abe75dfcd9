#include "base/config/row.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/config/conf_parser.hpp"
#include "base/config/nearest.hpp"
#include "base/time.hpp"

namespace live::config {
namespace {

enum class Colour : std::uint8_t { red, green };
constexpr std::array kColours = {Named<Colour>{"red", Colour::red}, Named<Colour>{"green", Colour::green}};
constexpr std::array<std::string_view, 2> kWords = {"one", "two"};

struct Inner {
    bool enabled = false;
    std::uint32_t size = 3;
};
constexpr auto kInnerRows = config::Rows{
    row(&Inner::enabled, "enabled", Reload::live, "Switch."),
    row(&Inner::size, "size", 1, 10, Reload::live, "Size."),
};

struct Flat {
    std::string text = "t";
};
constexpr auto kFlatRows = config::Rows{row(&Flat::text, "text", Reload::live, "Text.")};

struct Many {
    std::string name;
    std::uint32_t size = 0;
};
constexpr auto kManyRows = config::Rows{row(&Many::size, "size", 0, 9, Reload::live, "Size.")};

struct Outer {
    bool on = true;
    bool off = false;
    bool lax = false;
    bool strict = true;
    std::uint32_t whole = 5;
    std::uint32_t clamped = 5;
    std::uint32_t default_back = 5;
    std::int64_t negative = -1;
    double number = 0.5;
    std::chrono::milliseconds wait{350};
    std::chrono::milliseconds period = 10s;
    std::chrono::microseconds gap{0};
    Colour colour = Colour::red;
    std::string text;
    std::string lenient;
    std::string word = "one";
    std::string password;
    std::vector<std::string> list;
    std::vector<std::string> listen = {"80"};
    std::vector<std::vector<std::string>> rules;
    ArgumentsKind::Value arguments;
    Flat flat;
    Inner inner;
    std::uint32_t scoped = 0;
    std::vector<Many> many;
};
void prepare_many(const Outer& outer, Many& many) { many.size = outer.whole; }

constexpr auto kScopeRows = config::Rows{row(&Outer::scoped, "value", 0, 9, Reload::live, "Value.")};
constexpr auto kOuterRows = config::Rows{
    row(&Outer::on, "on", Reload::live, "Default on."),
    row(&Outer::off, "off", Reload::next_session, "Default off."),
    row(&Outer::lax, "lax", Reload::live, "Anything but off.").rule(BoolRule::off_is_off),
    row(&Outer::strict, "strict", Reload::live, "Only on.").rule(BoolRule::needs_on),
    row(&Outer::whole, "whole", 1, 100, Reload::restart, "Whole."),
    row(&Outer::clamped, "clamped", 1, 100, Reload::restart, "Clamped.").clamped(),
    row(&Outer::default_back, "default_back", 1, 100, Reload::restart, "Default.").or_default(),
    row(&Outer::negative, "negative", -1, 1LL << 40, Reload::restart, "Negative."),
    row(&Outer::number, "number", 0, 1, Reload::restart, "Number.").pending(),
    row(&Outer::wait, "wait", 0ms, 1000ms, Reload::live, "Milliseconds."),
    row(&Outer::period, "period", 0s, 60s, Reload::live, "Seconds."),
    row(&Outer::gap, "gap", 0ms, 10ms, Reload::live, "Fine."),
    row(&Outer::colour, "colour", kColours, Reload::live, "Colour."),
    row(&Outer::text, "text_of_outer", Reload::live, "Text.").also_variable("SRS_TEXT"),
    row(&Outer::lenient, "lenient", Reload::live, "Text.").may_be_empty(),
    row(&Outer::word, "word", kWords, Reload::live, "Word."),
    row(&Outer::password, "password", Reload::live, "Secret.").secret(),
    row(&Outer::list, "list", Reload::live, "List."),
    endpoints(&Outer::listen, "listen", Reload::live, "Endpoints."),
    row(&Outer::rules, "rule", Reload::live, "Rules.").not_in_environment(),
    row(&Outer::arguments, "arguments", Reload::live, "Arguments.").not_in_environment(),
    flat(&Outer::flat, kFlatRows),
    block(&Outer::inner, "inner", kInnerRows, "Block.").pending(),
    scope<Outer>("scope", kScopeRows, "Scope."),
    named_blocks(&Outer::many, "many", &Many::name, "name", SameName::is_error, kManyRows, "Many.", prepare_many),
};

struct Bound {
    Outer outer;
    std::string error;
    std::vector<std::string> warnings;
    std::set<std::string, std::less<>> used;
};

Bound bind(const std::string& text, const Environment& environment = {}) {
    const Directive root = MUST(parse_conf("a", [&text](const std::string&) -> Result<std::string> { return text; }));
    Loading loading(environment);
    Bound bound;
    const auto result = bind_rows(kOuterRows, bound.outer, root, loading);
    if (!result.ok())
        bound.error = result.error().sentence();
    bound.warnings = loading.warnings();
    bound.used = loading.environment_used();
    return bound;
}

TEST(Row, MissingDirectiveTakesTheDefault) {
    const Bound bound = bind("");
    EXPECT_EQ(bound.error, "");
    EXPECT_TRUE(bound.warnings.empty());
    EXPECT_EQ(bound.outer.whole, 5U);
    EXPECT_EQ(bound.outer.listen, std::vector<std::string>{"80"});
}

TEST(Row, NumbersHoldAtTheirBounds) {
    EXPECT_EQ(bind("whole 1;").outer.whole, 1U);
    EXPECT_EQ(bind("whole 100;").outer.whole, 100U);
    EXPECT_EQ(bind("whole 0;").error, "a:1:7: found 0 for \"whole\", expected a whole number from 1..100 (line 1)");
    EXPECT_EQ(bind("whole 101;").error, "a:1:7: found 101 for \"whole\", expected a whole number from 1..100 (line 1)");
    EXPECT_EQ(bind("negative -1;").outer.negative, -1);
    EXPECT_NE(bind("negative -2;").error, "");
    EXPECT_EQ(bind("negative 1099511627776;").outer.negative, 1LL << 40);
    for (const char* text :
         {"whole 1e400;", "whole nan;", "whole inf;", "whole 0x10;", "whole 5s;", "whole 1.5;", "number 1.1;", "number -0.1;"})
        EXPECT_NE(bind(text).error, "") << text;
    EXPECT_EQ(bind("number 0.25;").outer.number, 0.25);
}

TEST(Row, ClampedAndDefaultedNumbersWarn) {
    EXPECT_EQ(bind("clamped 500;").outer.clamped, 100U);
    EXPECT_EQ(bind("clamped 0;").outer.clamped, 1U);
    EXPECT_EQ(bind("default_back 500;").outer.default_back, 5U);
    EXPECT_EQ(bind("clamped 500;").warnings.at(0),
              "a:1:9: found 500 for \"clamped\", expected a whole number from 1..100; 100 is used (line 1)");
    EXPECT_TRUE(bind("clamped 100;").warnings.empty());
    EXPECT_NE(bind("clamped many;").error, "") << "what is no number is refused even there";
}

TEST(Row, DurationsAreInTheUnitOfTheirBounds) {
    EXPECT_EQ(bind("wait 20;").outer.wait, 20ms);
    EXPECT_EQ(bind("period 20;").outer.period, 20s);
    EXPECT_EQ(bind("period 0.25;").outer.period, 250ms);
    EXPECT_EQ(bind("gap 2.5;").outer.gap, 2500us);
    EXPECT_NE(bind("period 61;").error, "");
}

TEST(Row, WordsMustBeKnown) {
    EXPECT_EQ(bind("colour green;").outer.colour, Colour::green);
    EXPECT_EQ(bind("colour gren;").error,
              "a:1:8: found \"gren\" for \"colour\", expected one of red, green, did you mean \"green\"? (line 1)");
    EXPECT_EQ(bind("word two;").outer.word, "two");
    EXPECT_EQ(bind("word three;").error, "a:1:6: found \"three\" for \"word\", expected one of one, two (line 1)");
}

TEST(Row, TextMayBeEmptyAndExtraWordsWarn) {
    EXPECT_EQ(bind("text_of_outer \"two words\";").outer.text, "two words");
    EXPECT_EQ(bind("text_of_outer \"\";").outer.text, "");
    EXPECT_EQ(bind("text_of_outer ;").error,
              "a:1:1: found no value behind \"text_of_outer\", expected a text; \"\" is an empty one (line 1)");
    EXPECT_EQ(bind("lenient ;").error, "");
    EXPECT_EQ(bind("word ;").error,
              "a:1:1: found no value behind \"word\", expected one of one, two; \"\" is an empty one (line 1)");
    EXPECT_EQ(bind("word \"\";").outer.word, "");
    EXPECT_EQ(bind("text_of_outer a b;").outer.text, "a");
    EXPECT_EQ(bind("text_of_outer a b;").warnings.at(0),
              "a:1:17: \"text_of_outer\" takes one value, \"b\" and what follows is not used (line 1)");
    EXPECT_EQ(bind("text_of_outer { }").error,
              "a:1:1: found a block behind \"text_of_outer\", expected a text and \";\" (line 1)");
}

TEST(Row, ListsRulesAndArguments) {
    EXPECT_EQ(bind("list a b;").outer.list, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(bind("list \"\";").outer.list.empty());
    EXPECT_EQ(bind("list \"\";").error, "");
    EXPECT_EQ(bind("list ;").error, "a:1:1: found no value behind \"list\", expected a list; \"\" is an empty one (line 1)");
    EXPECT_EQ(bind("rule a b; rule c;").outer.rules, (std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}}));
    EXPECT_EQ(bind("arguments { re; f flv; }").outer.arguments, (ArgumentsKind::Value{{"re", ""}, {"f", "flv"}}));
    EXPECT_EQ(bind("arguments x;").error, "a:1:1: found no block behind \"arguments\", expected \"{\" (line 1)");
    EXPECT_EQ(bind("arguments { a { } }").error, "a:1:13: found a block behind \"a\", expected a value and \";\" (line 1)");
    EXPECT_EQ(bind("listen 1 [::1]:2;").outer.listen, (std::vector<std::string>{"1", "[::1]:2"}));
    EXPECT_NE(bind("listen 1 x;").error.find("a:1:10: found \"x\" for \"listen\""), std::string::npos);
    EXPECT_NE(bind("listen;").error, "");
}

TEST(Row, BlocksFlatAndScopes) {
    const Bound bound = bind("inner { size 7; } text flat; scope { value 4; } many a { size 1; } many b { }");
    EXPECT_EQ(bound.error, "");
    EXPECT_EQ(bound.outer.inner.size, 7U);
    EXPECT_EQ(bound.outer.flat.text, "flat");
    EXPECT_EQ(bound.outer.scoped, 4U);
    ASSERT_EQ(bound.outer.many.size(), 2U);
    EXPECT_EQ(bound.outer.many[0].name, "a");
    EXPECT_EQ(bound.outer.many[1].size, 5U) << "prepared from the block around it";
    EXPECT_EQ(bind("many a { } many a { }").error,
              "a:1:12: \"many\" has the name \"a\" a second time, the first is at a:1:1 (line 1)");
    EXPECT_EQ(bind("many { }").error, "a:1:1: found \"many\" without its name, expected one before \"{\" (line 1)");
    EXPECT_EQ(bind("inner;").error, "a:1:1: found no block behind \"inner\", expected \"{\" (line 1)");
    EXPECT_EQ(bind("inner x { }").warnings.at(0), "a:1:7: \"inner\" takes no word before \"{\", \"x\" is not used (line 1)");
}

TEST(Row, UnknownNamesNameTheBlockAndTheNearest) {
    EXPECT_EQ(bind("whole 1; whoel 2;").error, "a:1:10: illegal directive whoel, did you mean \"whole\"? (line 1)");
    EXPECT_EQ(bind("inner { sise 2; }").error, "a:1:9: illegal inner.sise, did you mean \"size\"? (line 1)");
    EXPECT_EQ(bind("many v { sise 2; }").error, "a:1:10: illegal many.sise of v, did you mean \"size\"? (line 1)");
    EXPECT_EQ(bind("txet x;").error, "a:1:1: illegal directive txet, did you mean \"text\"? (line 1)")
        << "names of flat rows count";
    EXPECT_EQ(bind("completely_different x;").error, "a:1:1: illegal directive completely_different (line 1)");
}

TEST(Row, WarnsWhenAnUnimplementedDirectiveIsUsed) {
    EXPECT_TRUE(bind("number 0.5;").warnings.empty()) << "the default changes nothing";
    EXPECT_EQ(bind("number 0.6;").warnings.at(0), "a:1:1: \"number\" is not implemented (line 1)");
    EXPECT_TRUE(bind("inner { size 4; }").warnings.empty()) << "not enabled";
    EXPECT_EQ(bind("inner { enabled on; size 4; }").warnings.size(), 1U);
}

TEST(RowEnvironment, WinsAndSplitsOnlyLists) {
    const Bound bound = bind("whole 1; list x; text_of_outer y; many a { size 1; }", {{"SRS_WHOLE", "2"},
                                                                                      {"SRS_LIST", " a  b "},
                                                                                      {"SRS_TEXT_OF_OUTER", "two words"},
                                                                                      {"SRS_INNER_SIZE", "9"},
                                                                                      {"SRS_MANY_SIZE", "8"},
                                                                                      {"SRS_RULE", "no"},
                                                                                      {"SRS_ON", ""}});
    EXPECT_EQ(bound.error, "");
    EXPECT_EQ(bound.outer.whole, 2U);
    EXPECT_EQ(bound.outer.list, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(bound.outer.text, "two words");
    EXPECT_EQ(bound.outer.inner.size, 9U);
    EXPECT_EQ(bound.outer.many[0].size, 8U);
    EXPECT_TRUE(bound.outer.rules.empty());
    EXPECT_EQ(bound.used.size(), 5U);
    EXPECT_EQ(bind("", {{"SRS_TEXT", "alias"}}).outer.text, "alias");
    EXPECT_EQ(bind("", {{"SRS_WHOLE", "x"}}).error,
              "environment variable SRS_WHOLE: found \"x\" for \"whole\", expected a whole number from 1..100");
}

TEST(RowDescription, DocumentsARow) {
    std::vector<RowInfo> rows;
    kOuterRows.describe(Outer{}, Describing{rows});
    const auto find = [&rows](std::string_view path) {
        for (const RowInfo& one : rows) {
            if (one.path == path)
                return one;
        }
        ADD_FAILURE() << path;
        return RowInfo{};
    };
    EXPECT_EQ(find("whole").range, "1..100");
    EXPECT_EQ(find("whole").by_default, "5");
    EXPECT_EQ(find("period").type, "seconds");
    EXPECT_EQ(find("period").by_default, "10");
    EXPECT_EQ(find("gap").type, "milliseconds");
    EXPECT_EQ(find("colour").type, "one of red, green");
    EXPECT_EQ(find("text").by_default, "t");
    EXPECT_EQ(find("inner.size").facts.support, Support::pending) << "from the block";
    EXPECT_EQ(find("inner.size").environment, std::vector<std::string>{"SRS_INNER_SIZE"});
    EXPECT_EQ(find("text_of_outer").environment, (std::vector<std::string>{"SRS_TEXT_OF_OUTER", "SRS_TEXT"}));
    EXPECT_TRUE(find("rule").environment.empty());
    EXPECT_TRUE(find("rule").repeatable);
    EXPECT_EQ(find("many").argument, "name");
    EXPECT_EQ(find("many.size").depth, 1U);
}

TEST(RowValues, AreShownAsTheyWouldBeWritten) {
    const Bound bound = bind(
        "off on; wait 20; colour green; text_of_outer \"a b\"; list a \"b c\"; rule a; rule b; many x { size 2; } password s;");
    std::vector<ValueInfo> values;
    kOuterRows.show(bound.outer, Showing{values});
    const auto text = [&values](std::string_view path) {
        for (const ValueInfo& one : values) {
            if (one.path == path)
                return one.text;
        }
        return std::string("missing");
    };
    EXPECT_EQ(text("off"), "on");
    EXPECT_EQ(text("wait"), "20");
    EXPECT_EQ(text("colour"), "green");
    EXPECT_EQ(text("text_of_outer"), "\"a b\"");
    EXPECT_EQ(text("list"), "a \"b c\"");
    EXPECT_EQ(text("rule"), "a; b");
    EXPECT_EQ(text("many[x].size"), "2");
    EXPECT_EQ(text("inner.size"), "3");
    EXPECT_EQ(text("number"), "0.5");
}

TEST(Loading, WarningsAreBounded) {
    const Environment nothing;
    Loading loading(nothing);
    for (std::size_t i = 0; i < 1000; ++i)
        loading.warn("again");
    EXPECT_EQ(loading.warnings().size(), Loading::kWarningsMax + 1);
    EXPECT_EQ(loading.warnings().back(), "more than 100 warnings, the rest is not shown");
}

TEST(Nearest, CountsEdits) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("abc", ""), 3U);
    EXPECT_EQ(edit_distance("listen", "listne"), 1U) << "two neighbours swapped";
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
    const std::array<std::string_view, 3> known = {"listen", "pid", "daemon"};
    EXPECT_EQ(nearest_name("lisen", known), "listen");
    EXPECT_EQ(nearest_name("pjd", known), "pid");
    EXPECT_EQ(nearest_name("xyz", known), "");
    EXPECT_EQ(nearest_name("heartbeat", known), "");
    EXPECT_EQ(nearest_name(std::string(10'000, 'l'), known), "") << "long names are not compared";
}

TEST(EnvironmentName, IsThePathInCapitals) {
    EXPECT_EQ(environment_name("vhost.hls.hls_fragment"), "SRS_VHOST_HLS_HLS_FRAGMENT");
}

}  // namespace
}  // namespace live::config
