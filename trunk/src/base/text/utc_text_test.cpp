#include "base/text/utc_text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace live {
namespace {

TEST(UtcText, WritesAndReadsTheSameForm) {
    struct Known {
        std::int64_t ms;
        const char* text;
    };
    constexpr std::array<Known, 4> kKnown = {{{0, "1970-01-01T00:00:00.000Z"},
                                              {951'782'400'007, "2000-02-29T00:00:00.007Z"},
                                              {1'795'788'309'042, "2026-11-27T14:05:09.042Z"},
                                              {1'767'225'599'999, "2025-12-31T23:59:59.999Z"}}};
    for (const auto& [ms, text] : kKnown) {
        const UtcTime time{std::chrono::milliseconds(ms)};
        EXPECT_EQ(utc_text(time), text);
        const auto read = parse_utc_text(text);
        ASSERT_TRUE(read.ok()) << text;
        EXPECT_EQ(*read, time);
    }
}

TEST(UtcText, RefusesOtherForms) {
    const std::string good = "2000-02-29T00:00:00.007Z";
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(parse_utc_text(std::string_view(good).substr(0, size)).ok()) << size;
    for (const char* bad :
         {"2001-02-29T00:00:00.007Z", "2000-02-29T24:00:00.007Z", "2000-02-29T00:60:00.007Z", "2000-02-29T00:00:61.007Z",
          "2000-02-29 00:00:00.007Z", "2000-02-29T00:00:00.007+", "1969-12-31T00:00:00.000Z", "9999-12-31T00:00:00.000Z",
          "2000-13-01T00:00:00.000Z", "2000-02-29T00:00:00.0078Z"})
        EXPECT_FALSE(parse_utc_text(bad).ok()) << bad;
}

}  // namespace
}  // namespace live
