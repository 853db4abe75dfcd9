#include "base/text/wall_time_text.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

struct Vector {
    std::string_view text;
    std::string_view canonical;
};
constexpr Vector kVectors[] = {
    {"2026-11-29T14:05:09Z", "2026-11-29T14:05:09.000000Z"},
    {"2026-11-29T14:05:09.042123Z", "2026-11-29T14:05:09.042123Z"},
    {"2026-11-29T14:05:09.5z", "2026-11-29T14:05:09.500000Z"},
    {"2026-11-29T14:05:09.123456789Z", "2026-11-29T14:05:09.123456Z"},
    {"2026-11-29T14:05:09+01:30", "2026-11-29T12:35:09.000000Z"},
    {"2026-11-29T14:05:09 01:00", "2026-11-29T13:05:09.000000Z"},
    {"2026-12-31t23:59:59.9-00:01", "2027-01-01T00:00:59.900000Z"},
};

TEST(WallTimeText, ReadsEachFormAndWritesOne) {
    for (const auto& [text, canonical] : kVectors)
        EXPECT_EQ(wall_time_text(MUST(parse_wall_time(text))), canonical) << text;
}

TEST(WallTimeText, RefusesEveryTruncationAndOtherForms) {
    const std::string_view whole = "2026-11-29T14:05:09.042123+01:00";
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(parse_wall_time(whole.substr(0, size)).ok()) << size;
    for (const char* text :
         {"2026-11-29T14:05:09.Z", "2026-11-29T14:05:09.0123456789Z", "2026-11-29T14:05:09+24:00", "2026-11-29T14:05:09+01:60",
          "2026-11-29T14:05:09+0100", "2026-13-29T14:05:09Z", "2026-11-29T14:05:09ZZ", "1764424800", "now"})
        EXPECT_FALSE(parse_wall_time(text).ok()) << text;
}

}  // namespace
}  // namespace live
