#include "base/text/variables.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(Variables, AreReplacedOnceAndUnknownOnesStay) {
    const Variables variables = {{"vhost", "[port]"}, {"port", "1935"}};
    EXPECT_EQ(replace_variables("rtmp://h:[port]/live?vhost=[vhost]&x=[y]", variables), "rtmp://h:1935/live?vhost=[port]&x=[y]");
    EXPECT_EQ(replace_variables("[port", variables), "[port");
    EXPECT_EQ(replace_variables("", variables), "");
    EXPECT_EQ(replace_variables("]a[port]b]", variables), "]a1935b]");
}

TEST(Variables, ReplacesVariablesOfTime) {
    using namespace std::chrono;
    const auto moment = system_clock::time_point(seconds(1'715'000'007) + milliseconds(9));
    EXPECT_EQ(replace_variables("[2006]-[01]-[02] [15]:[04]:[05].[999] [timestamp]", time_variables(moment, Zone::utc)),
              "2024-05-06 12:53:27.009 1715000007009");
}

}  // namespace
}  // namespace live
