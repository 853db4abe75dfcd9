#include "engine/websocket/frame_writer.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::engine::websocket {
namespace {

using enum Opcode;

TEST(WebSocketWriter, WritesControlFrames) {
    EXPECT_EQ(control_frame(ping, as_bytes("Hello")), hex("89 05 48656c6c6f"));
    EXPECT_EQ(control_frame(pong, std::vector<std::uint8_t>(kControlBytesMax)).size(), 127u);
    EXPECT_EQ(close_frame(CloseCode::protocol_error), hex("88 02 03ea"));
    EXPECT_EQ(close_frame(CloseCode::normal, "bye"), hex("88 05 03e8 627965"));
}

TEST(WebSocketWriterDeathTest, ALongerControlFrameAborts) {
    EXPECT_DEATH(control_frame(pong, std::vector<std::uint8_t>(kControlBytesMax + 1)), "CHECK failed");
}

TEST(WebSocketWriter, MasksTheControlFramesOfAClient) {
    EXPECT_EQ(masked_control_frame(pong, as_bytes("Hello"), 0x37fa213d), hex("8a 85 37fa213d 7f9f4d5158"));  // RFC 6455, 5.7
    EXPECT_EQ(masked_control_frame(ping, {}, 0x01020304), hex("89 80 01020304"));
}

TEST(WebSocketWriter, CutsALongReasonBetweenCharacters) {
    const auto plain = close_frame(CloseCode::normal, std::string(200, 'x'));
    EXPECT_EQ(plain.size(), 2 + kControlBytesMax);
    std::string reason(122, 'x');
    reason += "\xE2\x82\xAC";  // Two of its three bytes do not fit.
    EXPECT_EQ(close_frame(CloseCode::normal, reason).size(), 2u + 2 + 122);
    EXPECT_EQ(close_frame(CloseCode::normal, std::string(120, 'x') + "\xE2\x82\xAC").size(), 2u + 2 + 123) << "it just fits";
}

TEST(WebSocketWriter, AnswersPingsAndCloses) {
    EXPECT_EQ(answer_to({ping, "Hello"}), hex("8a 05 48656c6c6f"));
    EXPECT_EQ(answer_to({close,
                         "\x03\xE8"
                         "bye"}),
              hex("88 02 03e8"));
    EXPECT_EQ(answer_to({close, ""}), hex("88 00"));
    EXPECT_FALSE(answer_to({pong, "x"}).has_value());
    EXPECT_FALSE(answer_to({text, "x"}).has_value());
    EXPECT_FALSE(answer_to({binary, "x"}).has_value());
}

}  // namespace
}  // namespace live::engine::websocket
