#include "media/ring/relay_mark.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::media {
namespace {

TEST(RelayMark, IsReadAsItWasWritten) {
    const Slice body = write_relay_mark({"hls", "1 2 3", -1500us});
    EXPECT_TRUE(is_relay_mark(body.bytes()));
    const auto read = read_relay_mark(body.bytes());
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->series, "hls");
    EXPECT_EQ(read->text, "1 2 3");
    EXPECT_EQ(read->to_origin, -1500us);
}

TEST(RelayMark, CutAnywhereItIsRefused) {
    const Slice body = write_relay_mark({"dash", "1 2 3", 7us});
    for (std::size_t bytes = 0; bytes < body.size(); ++bytes)
        EXPECT_FALSE(read_relay_mark(body.bytes().first(bytes)).ok()) << bytes;
}

TEST(RelayMark, OtherDataIsNone) {
    EXPECT_FALSE(is_relay_mark({}));
    EXPECT_FALSE(is_relay_mark(hex("02 0003 414243")));
    EXPECT_FALSE(read_relay_mark(hex("02 0003 414243 02 0001 41 02 0001 41 00 0000000000000000")).ok());
    // No number, too large a number, and none at all (NaN).
    auto body = write_relay_mark({"hls", "1", {}});
    for (const std::string_view number : {"7ff8000000000000", "7fe0000000000000"}) {
        std::vector<std::uint8_t> bytes(body.bytes().begin(), body.bytes().end() - 8);
        const auto end = hex(std::string(number));
        bytes.insert(bytes.end(), end.begin(), end.end());
        EXPECT_FALSE(read_relay_mark(bytes).ok()) << number;
    }
}

}  // namespace
}  // namespace live::media
