#include "base/config/conf_parser.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/config/facts.hpp"
#include "base/config/scanner.hpp"

namespace live::config {
namespace {

using Files = std::map<std::string, std::string>;

ReadFile reader_of(const Files& files) {
    return [&files](const std::string& path) -> Result<std::string> {
        const auto found = files.find(path);
        if (found == files.end())
            return Error(Errc::not_found, "no such file");
        return found->second;
    };
}

// The tree on one line: `name arg arg;` and `name arg{...}`, with arguments in angle brackets.
std::string written(const Directive& block) {
    std::string out;
    for (const Directive& child : block.children) {
        out += child.name;
        for (const Argument& argument : child.args)
            out += "<" + argument.text + ">";
        out += child.is_block ? "{" + written(child) + "}" : ";";
    }
    return out;
}

std::string parsed(const std::string& text) {
    const Files files{{"a.conf", text}};
    const auto root = parse_conf("a.conf", reader_of(files));
    return root.ok() ? written(*root) : root.error().sentence();
}

struct Case {
    const char* text;
    const char* tree;
};

TEST(ConfParser, ReadsEveryFormOfTheGrammar) {
    const Case cases[] = {
        {"", ""},
        {"\xEF\xBB\xBFlisten 1935;", "listen<1935>;"},
        {"listen 1935;", "listen<1935>;"},
        {"listen\t 1935  19350 ;", "listen<1935><19350>;"},
        {"listen 1935;\r\npid a;\r\n", "listen<1935>;pid<a>;"},
        {"daemon;", "daemon;"},
        {"a 1;b 2;c{d 3;}", "a<1>;b<2>;c{d<3>;}"},
        {"vhost v {\n}\n", "vhost<v>{}"},
        {"a { b { c { d; } } }", "a{b{c{d;}}}"},
        {"a{}b{}", "a{}b{}"},
        // Comments: only a # at the start of a word begins a comment.
        {"# all\na 1; # rest; }\nb 2;", "a<1>;b<2>;"},
        {"a b#c #d;", "found the end of the file in \"a\""},
        {"a b#c;", "a<b#c>;"},
        {"a #{}\n;", "found the end of the line in \"a\""},
        {"a { # comment }\n b; }", "a{b;}"},
        {"a;# comment without newline", "a;"},
        // Quotes: one word, no escapes.
        {"a \"b c\" 'd;e' \"f{g}\" '#h';", "a<b c><d;e><f{g}><#h>;"},
        {"a \"it's\" 'say \"x\"';", "a<it's><say \"x\">;"},
        {"a \"b\\\" c;", "a<b\\><c>;"},
        {"a \"\" b '';", "a<b>;"},
        {"a \"b\"{c;}", "a<b>{c;}"},
        {"a b\"c;", "a<b\"c>;"},
        {"\"a\" b;", "a<b>;"},
        {"a \"b\"\tc;", "a<b><c>;"},
    };
    for (const Case& one : cases) {
        if (std::string_view(one.tree).starts_with("found")) {
            EXPECT_NE(parsed(one.text).find(one.tree), std::string::npos) << one.text << " -> " << parsed(one.text);
        } else {
            EXPECT_EQ(parsed(one.text), one.tree) << one.text;
        }
    }
}

TEST(ConfParser, ErrorsNameFileLineColumnFoundAndExpected) {
    const Case cases[] = {
        {"listen 1935\n;",
         "a.conf:1:12: found the end of the line in \"listen\", expected \";\" or \"{\" on the same line (line 1)"},
        {"listen 1935",
         "a.conf:1:12: found the end of the file in \"listen\", expected \";\" or \"{\" on the same line (line 1)"},
        {"listen", "a.conf:1:7: found the end of the file in \"listen\", expected \";\" or \"{\" on the same line (line 1)"},
        {"listen 1 }", "a.conf:1:10: found \"}\" in \"listen\", expected \";\" or \"{\" on the same line (line 1)"},
        {"a;\n  ;", "a.conf:2:3: found \";\", expected a directive (line 2)"},
        {"a;;", "a.conf:1:3: found \";\", expected a directive (line 1)"},
        {"\n{ }", "a.conf:2:1: found \"{\", expected a directive (line 2)"},
        {"\"\" a;", "a.conf:1:1: found empty quotes, expected a directive (line 1)"},
        {"a; }", "a.conf:1:4: found \"}\" where no block is open, expected a directive or the end of the file (line 1)"},
        {"a { b; ", "a.conf:1:8: found the end of the file, expected \"}\" to close \"a\" of a.conf:1:1 (line 1)"},
        {"a {\n b {\n c; }\n", "a.conf:4:1: found the end of the file, expected \"}\" to close \"a\" of a.conf:1:1 (line 4)"},
        {"a \"b", "a.conf:1:3: found the end of the file inside quotes, expected \" on the same line (line 1)"},
        {"a 'b\n';", "a.conf:1:3: found the end of the line inside quotes, expected ' on the same line (line 1)"},
        {"a \"b\"c;", "a.conf:1:6: found \"c\" right behind a closing quote, expected a space, \";\" or \"{\" (line 1)"},
        {"a {\"b\"}", "a.conf:1:7: found \"}\" right behind a closing quote, expected a space, \";\" or \"{\" (line 1)"},
        {"include;", "a.conf:1:1: found no file after \"include\", expected at least one (line 1)"},
        {"include b {}", "a.conf:1:1: found a block behind \"include\", expected file names and \";\" (line 1)"},
        {"include none.conf;", "a.conf:1:9: cannot include \"none.conf\" (line 1): no such file"},
    };
    for (const Case& one : cases)
        EXPECT_EQ(parsed(one.text), one.tree) << one.text;
    EXPECT_NE(parsed(std::string("a b\0c;", 6)).find("zero byte"), std::string::npos);
    EXPECT_NE(parsed(std::string("a \"b\0c\";", 8)).find("zero byte"), std::string::npos);
}

TEST(ConfParser, RecordsThePlaceOfEveryWord) {
    const Files files{{"a.conf", "a;\n  vhost  'x y' {\n\tb 1 22;\n}"}};
    const Directive root = MUST(parse_conf("a.conf", reader_of(files)));
    const Directive& vhost = root.children[1];
    EXPECT_EQ(vhost.at.text(), "a.conf:2:3");
    EXPECT_EQ(vhost.args[0].at.text(), "a.conf:2:10");
    EXPECT_EQ(vhost.children[0].at.text(), "a.conf:3:2");
    EXPECT_EQ(vhost.children[0].args[1].at.text(), "a.conf:3:6");
}

TEST(ConfParser, EveryTruncationIsATreeOrAnErrorWithALine) {
    const std::string text = "listen 1935 '19 350'; # c\nvhost a { play { gop_cache off; } }\n";
    for (std::size_t length = 0; length < text.size(); ++length) {
        const Files files{{"a.conf", text.substr(0, length)}};
        const auto root = parse_conf("a.conf", reader_of(files));
        if (!root.ok()) {
            EXPECT_NE(root.error().sentence().find("(line "), std::string::npos) << root.error().sentence();
        }
    }
}

TEST(ConfInclude, SplicesFilesWhereTheyAreNamed) {
    const Files files{{"a.conf", "x; include b.conf c.conf; vhost v { include d/d.conf; } y;"},
                      {"b.conf", "b { 1; }"},
                      {"c.conf", "c; include e.conf;"},
                      {"d/d.conf", "include e.conf; d;"},
                      {"e.conf", "e;"}};
    EXPECT_EQ(written(MUST(parse_conf("a.conf", reader_of(files)))), "x;b{1;}c;e;vhost<v>{e;d;}y;");
}

TEST(ConfInclude, ABlockMayNotReachOverAFile) {
    const Files files{
        {"a.conf", "v { include b.conf; }"}, {"b.conf", "b; }"}, {"c.conf", "include d.conf; }"}, {"d.conf", "v {"}};
    EXPECT_EQ(parse_conf("a.conf", reader_of(files)).error().sentence(),
              "b.conf:1:4: found \"}\" where no block is open, expected a directive or the end of the file (line 1)");
    EXPECT_EQ(parse_conf("c.conf", reader_of(files)).error().sentence(),
              "d.conf:1:4: found the end of the file, expected \"}\" to close \"v\" of d.conf:1:1 (line 1)");
}

TEST(ConfInclude, AFileThatIncludesItselfIsALimitError) {
    const Files files{{"a.conf", "include a.conf;"}};
    const auto root = parse_conf("a.conf", reader_of(files));
    ASSERT_FALSE(root.ok());
    EXPECT_EQ(root.code(), Errc::limit);
    EXPECT_NE(root.error().sentence().find("does a file include itself?"), std::string::npos);
}

// Each file includes another twice: without a bound on the count this would be 2^16 files.
TEST(ConfInclude, TheNumberOfIncludesIsBounded) {
    Files files;
    for (int i = 0; i < 12; ++i)
        files[std::to_string(i)] = "include " + std::to_string(i + 1) + " " + std::to_string(i + 1) + ";";
    files["12"] = "";
    const auto root = parse_conf("0", reader_of(files));
    ASSERT_FALSE(root.ok());
    EXPECT_EQ(root.code(), Errc::limit);
}

TEST(ConfLimits, NestingIsBoundedAtSixtyFour) {
    const auto nested = [](std::size_t depth) {
        std::string text;
        for (std::size_t i = 0; i < depth; ++i)
            text += "a{";
        return text + std::string(depth, '}');
    };
    EXPECT_EQ(ParseLimits{}.depth_max, 64U);
    const Files files{{"ok", nested(64)}, {"deep", nested(65)}, {"very", nested(10'000)}, {"in", "a{include ok;}"}};
    EXPECT_TRUE(parse_conf("ok", reader_of(files)).ok());
    EXPECT_EQ(parse_conf("deep", reader_of(files)).code(), Errc::limit);
    EXPECT_EQ(parse_conf("very", reader_of(files)).code(), Errc::limit);
    EXPECT_EQ(parse_conf("in", reader_of(files)).code(), Errc::limit);
}

TEST(ConfLimits, FileSizeAndDirectivesAreBounded) {
    const Files files{{"ten", "a;b;c;d;e;"}, {"two", "include ten ten;"}};
    EXPECT_TRUE(parse_conf("ten", reader_of(files), {.file_bytes_max = 10}).ok());
    EXPECT_EQ(parse_conf("ten", reader_of(files), {.file_bytes_max = 9}).code(), Errc::limit);
    EXPECT_TRUE(parse_conf("two", reader_of(files), {.total_bytes_max = 36}).ok());
    EXPECT_EQ(parse_conf("two", reader_of(files), {.total_bytes_max = 35}).code(), Errc::limit);
    EXPECT_TRUE(parse_conf("ten", reader_of(files), {.directives_max = 5}).ok());
    EXPECT_EQ(parse_conf("ten", reader_of(files), {.directives_max = 4}).code(), Errc::limit);
}

TEST(ConfLimits, AWordIsBounded) {
    const std::string fits(Scanner::kWordBytesMax, 'x');
    EXPECT_EQ(parsed("a " + fits + " \"" + fits + "\";"), "a<" + fits + "><" + fits + ">;");
    EXPECT_EQ(parsed("a " + fits + "x;"), "a.conf:1:3: found a word of 4097 bytes, expected at most 4096 (line 1)");
    EXPECT_EQ(parsed("a '" + fits + "x';"), "a.conf:1:3: found a word of 4097 bytes, expected at most 4096 (line 1)");
}

TEST(ConfParser, ReportsUnreadableFiles) {
    const auto root = parse_conf("none", reader_of({}));
    EXPECT_EQ(root.code(), Errc::not_found);
    EXPECT_EQ(root.error().sentence(), "no such file");
}

// Writable text reads back unchanged.
TEST(ConfParser, QuotedTextIsReadBack) {
    for (const char* text : {"plain", "two words", "it's", "say \"x\"", "#no", "a;b", "{}", "\"", "'"}) {
        const Files files{{"a.conf", "a " + config::quoted(text) + ";"}};
        EXPECT_EQ(MUST(parse_conf("a.conf", reader_of(files))).children[0].arg(0), text);
    }
}

}  // namespace
}  // namespace live::config
