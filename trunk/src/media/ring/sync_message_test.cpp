#include "media/ring/sync_message.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::media {
namespace {

TEST(SyncMessage, ReadsWhatItWrote) {
    const Slice body = write_sync_message({"hls", "1 2 3", -1500us});
    EXPECT_TRUE(is_sync_message(body.bytes()));
    const auto read = read_sync_message(body.bytes());
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->series, "hls");
    EXPECT_EQ(read->text, "1 2 3");
    EXPECT_EQ(read->to_origin, -1500us);
}

TEST(SyncMessage, RefusesTruncatedBodies) {
    const Slice body = write_sync_message({"dash", "1 2 3", 7us});
    for (std::size_t bytes = 0; bytes < body.size(); ++bytes)
        EXPECT_FALSE(read_sync_message(body.bytes().first(bytes)).ok()) << bytes;
}

TEST(SyncMessage, RefusesOtherData) {
    EXPECT_FALSE(is_sync_message({}));
    EXPECT_FALSE(is_sync_message(hex("02 0003 414243")));
    EXPECT_FALSE(read_sync_message(hex("02 0003 414243 02 0001 41 02 0001 41 00 0000000000000000")).ok());
    // The offset is missing, too large, or not a number.
    auto body = write_sync_message({"hls", "1", {}});
    for (const std::string_view number : {"7ff8000000000000", "7fe0000000000000"}) {
        std::vector<std::uint8_t> bytes(body.bytes().begin(), body.bytes().end() - 8);
        const auto end = hex(std::string(number));
        bytes.insert(bytes.end(), end.begin(), end.end());
        EXPECT_FALSE(read_sync_message(bytes).ok()) << number;
    }
}

}  // namespace
}  // namespace live::media
