#include "settings/conf/docs.hpp"

#include <gtest/gtest.h>

#include <set>

#include "settings/conf/load.hpp"
#include "settings/conf/tools.hpp"

namespace live::settings {
namespace {

Result<LoadedSettings> load(const std::string& text) {
    LoadInput input;
    input.path = "full.conf";
    return load_settings(input, [&text](const std::string&) -> Result<std::string> { return text; });
}

TEST(FullConf, IsRefusedUntilItsMarkIsRemoved) {
    std::string text = full_conf_text(describe_settings());
    auto loaded = load(text);
    ASSERT_FALSE(loaded.ok());
    EXPECT_NE(loaded.error().sentence().find("is_full is on"), std::string::npos) << loaded.error().sentence();
    const std::size_t mark = text.find("\nis_full on;");
    ASSERT_NE(mark, std::string::npos);
    text.erase(mark, std::string_view("\nis_full on;").size());
    loaded = load(text);
    EXPECT_TRUE(loaded.ok()) << loaded.error().sentence();
}

// A written default reads back as the default.
TEST(FullConf, ShowsTheDefaults) {
    std::string text = full_conf_text(describe_settings());
    text.erase(text.find("\nis_full on;"), std::string_view("\nis_full on;").size());
    const LoadedSettings full = MUST(load(text));
    const LoadedSettings plain = MUST(load("listen 1935; vhost __defaultVhost__ { }"));
    std::set<std::string> with_example;
    for (const config::RowInfo& row : describe_settings()) {
        if (!row.facts.example.empty())
            with_example.insert(std::string(row.facts.name));
    }
    for (const Change& change : changes_between(plain.settings, full.settings)) {
        const std::string name = change.path.substr(change.path.rfind('.') + 1);
        const bool in_repeatable =
            change.path.find("ingest[") != std::string::npos || change.path.find("transcode[") != std::string::npos ||
            change.path.find("rendition[") != std::string::npos || change.path.find("stream_caster[") != std::string::npos;
        EXPECT_TRUE(in_repeatable || with_example.contains(name))
            << change.path << ": " << change.before << " -> " << change.after;
    }
}

TEST(ConfigDocument, NamesEveryDirectiveAndItsVariable) {
    const std::vector<config::RowInfo> rows = describe_settings();
    const std::string text = config_document_text(rows);
    EXPECT_GT(rows.size(), 350U);
    for (const config::RowInfo& row : rows) {
        EXPECT_NE(text.find(std::string(row.facts.name)), std::string::npos) << row.path;
        EXPECT_FALSE(row.facts.doc.empty()) << row.path;
        for (const std::string& variable : row.environment) {
            if (!row.is_block) {
                EXPECT_NE(text.find("`" + variable + "`"), std::string::npos) << variable;
            }
        }
    }
    EXPECT_NE(text.find("| `hls_fragment` | seconds 0..3600 | `10` | next session | works | `SRS_VHOST_HLS_HLS_FRAGMENT` |"),
              std::string::npos);
}

TEST(ConfigDocument, ExplainsTheStatesOfItsDirectives) {
    std::vector<config::RowInfo> rows = describe_settings();
    EXPECT_EQ(config_document_text(rows).find("`not yet`"), std::string::npos) << "all directives are implemented";
    rows.front().facts.support = config::Support::pending;
    EXPECT_NE(config_document_text(rows).find("`not yet` is accepted"), std::string::npos);
}

TEST(Rows, PathsAreUnique) {
    std::set<std::string> seen;
    for (const config::RowInfo& row : describe_settings())
        EXPECT_TRUE(seen.insert(row.path).second) << row.path;
}

}  // namespace
}  // namespace live::settings
