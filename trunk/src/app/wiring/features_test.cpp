#include "app/wiring/features.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "settings/conf/tools.hpp"

namespace live::app {
namespace {

TEST(Features, ComeFromTheOptionRows) {
    auto rows = settings::describe_settings();
    // HDS has no rows.
    EXPECT_EQ(features_text(rows),
              "rch:on, dash:on, hls:on, hds:off, srt:on, hc:on, ha:on, hs:on, hp:on, dvr:on, trans:on, inge:on, stat:on, sc:on");
    for (config::RowInfo& row : rows)
        row.facts.support = config::Support::pending;
    EXPECT_EQ(features_text(rows),
              "rch:on, dash:off, hls:off, hds:off, srt:off, hc:off, ha:off, hs:off, hp:on, dvr:off, trans:off, "
              "inge:off, stat:on, sc:off");
}

TEST(Features, AreTheSameInTheApi) {
    const auto all = features_of(settings::describe_settings());
    EXPECT_EQ(all.size(), 15U);
    for (const auto& [name, is_able] : all)
        EXPECT_EQ(is_able, name != "hds") << name;
}

}  // namespace
}  // namespace live::app
