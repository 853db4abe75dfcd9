#include "app/vhosts/vhost_table.hpp"

#include <gtest/gtest.h>

namespace live::app {
namespace {

using settings::CurrentSettings;
using settings::kDefaultVhost;
using settings::Settings;

Settings settings_with(std::vector<std::string> names) {
    Settings made;
    for (std::string& name : names)
        made.vhosts.emplace_back().name = std::move(name);
    return made;
}

TEST(VhostTable, FindsTheServingVirtualHost) {
    Settings settings = settings_with({std::string(kDefaultVhost), "closed"});
    settings.vhosts[1].enabled = false;
    settings.vhosts[1].http_hooks.enabled = true;
    settings.vhosts[1].http_hooks.on_play = {"http://127.0.0.1/"};
    const CurrentSettings current(std::move(settings));
    const VhostTable table(current);
    EXPECT_EQ(table.find("any.example")->name, kDefaultVhost);
    EXPECT_FALSE(table.find("any.example")->guards_play);
    EXPECT_FALSE(table.find("closed")->enabled);
    EXPECT_TRUE(table.find("closed")->guards_play);
    EXPECT_EQ(&table.find("closed")->http_hooks, &current->vhosts[1].http_hooks);
    EXPECT_EQ(table.serving("any.example"), kDefaultVhost);
}

TEST(VhostTable, FindsNothingWithoutADefault) {
    const CurrentSettings current(settings_with({"one"}));
    const VhostTable table(current);
    EXPECT_FALSE(table.find("two"));
    EXPECT_EQ(table.serving("two"), "two");
}

TEST(VhostTable, FollowsAReload) {
    CurrentSettings current(settings_with({"one"}));
    const VhostTable table(current);
    current.propose(settings_with({"two"}));
    EXPECT_FALSE(table.find("two")) << "not in force yet";
    current.replace();
    EXPECT_TRUE(table.find("two"));
    EXPECT_FALSE(table.find("one"));
}

}  // namespace
}  // namespace live::app
