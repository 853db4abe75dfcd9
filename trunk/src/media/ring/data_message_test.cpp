#include "media/ring/data_message.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::media {
namespace {

Packet data_packet(Content content, bool is_marked, std::string_view payload) {
    Packet packet;
    packet.codec = Codec::rtp_data;
    packet.content = content;
    packet.key = is_marked;
    packet.track = TrackId(3);
    packet.payload = Slice::copy_of(as_bytes(payload));
    return packet;
}

TEST(DataMessage, ReadsWhatItWrote) {
    struct {
        Content content;
        bool is_marked;
        std::string payload;
    } const vectors[] = {{Content::frame, false, "<a/>"},
                         {Content::frame, true, std::string("\0\xff\x80", 3)},
                         {Content::frame, true, std::string(65'000, 'x')},
                         {Content::config, false, "vnd.onvif.metadata/90000\r\nx-kind=events"}};
    for (const auto& vector : vectors) {
        const Slice body = write_data_message(data_packet(vector.content, vector.is_marked, vector.payload), 0xFFFF'FFFF);
        EXPECT_TRUE(is_data_message(body.bytes()));
        const auto read = read_data_message(body.bytes());
        ASSERT_TRUE(read.ok());
        EXPECT_EQ(read->time_ms, 0xFFFF'FFFFU);
        EXPECT_EQ(read->frame.codec, Codec::rtp_data);
        EXPECT_EQ(read->frame.content, vector.content);
        EXPECT_EQ(read->frame.key, vector.is_marked);
        EXPECT_EQ(read->frame.track, TrackId(3));
        EXPECT_EQ(as_text(read->frame.data.bytes()), vector.payload);
    }
}

TEST(DataMessage, RefusesTruncatedBodies) {
    const Slice body = write_data_message(data_packet(Content::frame, true, "payload"), 7);
    for (std::size_t bytes = 0; bytes < body.size(); ++bytes)
        EXPECT_FALSE(read_data_message(body.bytes().first(bytes)).ok()) << bytes;
}

TEST(DataMessage, RefusesOtherData) {
    EXPECT_FALSE(is_data_message({}));
    EXPECT_FALSE(is_data_message(hex("02 0003 414243")));
    const Slice written = write_data_message(data_packet(Content::frame, true, "payload"), 7);
    const std::vector<std::uint8_t> body(written.bytes().begin(), written.bytes().end());
    constexpr std::size_t kNumberBytes = 9;
    const std::size_t first = 3 + kDataMessageName.size() + 1;
    // 256, then 2^32, then 3, and not a number.
    const char* const numbers[] = {"4070000000000000", "41f0000000000000", "4008000000000000"};
    for (std::size_t i = 0; i < 3; ++i)
        for (const std::string_view number : {numbers[i], "7ff8000000000000", "bff0000000000000"}) {
            auto changed = body;
            const auto bytes = hex(std::string(number));
            copy_bytes(bytes, MutBytes(changed).subspan(first + i * kNumberBytes));
            EXPECT_EQ(read_data_message(changed).code(), Errc::malformed) << i << ' ' << number;
        }
}

}  // namespace
}  // namespace live::media
