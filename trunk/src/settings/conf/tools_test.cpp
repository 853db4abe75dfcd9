#include "settings/conf/tools.hpp"

#include <gtest/gtest.h>

#include "settings/conf/load.hpp"

namespace live::settings {
namespace {

Settings load_tools(const std::string& text) {
    LoadInput input;
    input.path = "a.conf";
    return MUST(load_settings(input, [&text](const std::string&) -> Result<std::string> { return text; })).settings;
}

std::string changes(const std::string& before, const std::string& after) {
    std::string out;
    for (const Change& change : changes_between(load_tools(before), load_tools(after))) {
        out +=
            change.path + ": " + change.before + " -> " + change.after + " (" + std::string(name_of(change.takes_effect)) + ")\n";
    }
    return out;
}

TEST(Changes, EqualSettingsHaveNoChanges) {
    const std::string text = "listen 1935; vhost a { play { gop_cache off; } ingest i { } }";
    EXPECT_EQ(changes(text, text), "");
    EXPECT_EQ(changes(text, "listen 1935;\n# another order\nvhost a { ingest i { } play { gop_cache off; } }"), "");
}

TEST(Changes, NameTheOptionAndWhenItTakesEffect) {
    EXPECT_EQ(changes("listen 1935; pid a; vhost a { }",
                      "listen 1935 1936; pid b; vhost a { play { gop_cache off; } publish { mr on; } }"),
              "listen: 1935 -> 1935 1936 (live)\npid: a -> b (restart)\nvhost[a].play.gop_cache: on -> off (next session)\n"
              "vhost[a].publish.mr: off -> on (next session)\n");
}

TEST(Changes, AddedOrRemovedVhostListsAllValues) {
    const std::string one = "listen 1935; vhost a { }";
    const std::string two = "listen 1935; vhost a { } vhost b { }";
    EXPECT_NE(changes(one, two).find("vhost[b].enabled:  -> on (live)\n"), std::string::npos);
    EXPECT_NE(changes(two, one).find("vhost[b].enabled: on ->  (live)\n"), std::string::npos);
    EXPECT_EQ(changes(one, two).find("vhost[a]"), std::string::npos);
}

TEST(Changes, SecretsAreNotShown) {
    const std::string text = changes("listen 1935; vhost a { } http_api { auth { password one; } }",
                                     "listen 1935; vhost a { } http_api { auth { password two; } }");
    EXPECT_EQ(text, "http_api.auth.password: *** -> *** (next session)\n");
}

TEST(Reload, CannotTurnAnOriginIntoAnEdge) {
    const Settings local = load_tools("listen 1935; vhost a { } vhost b { }");
    const Settings remote = load_tools("listen 1935; vhost a { } vhost b { cluster { mode remote; origin h; } }");
    EXPECT_TRUE(check_reload(local, local).ok());
    EXPECT_EQ(check_reload(local, remote).code(), Errc::conflict);
    EXPECT_TRUE(check_reload(load_tools("listen 1935; vhost a { }"), remote).ok()) << "a new virtual host may be an edge";
}

}  // namespace
}  // namespace live::settings
