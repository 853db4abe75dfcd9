#include "wire/mp4/event_message.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::mp4 {
namespace {

const EventMessage kMessage{
    .scheme = "urn:x", .value = "v", .timescale = 1'000, .time = 0x1'0000'0002, .duration = 5, .id = 7, .data = {1, 2}};
constexpr std::string_view kBox =
    "0000002a 656d7367 01000000 000003e8 0000000100000002 00000005 00000007 75726e3a78 00 76 00 0102";

TEST(EventMessage, WritesVersion1) {
    ByteWriter out;
    write_event_message(out, kMessage);
    EXPECT_EQ(out.release(), hex(kBox));
    EXPECT_TRUE(parse_event_message(hex(kBox)).value() == kMessage);
}

TEST(EventMessage, CuesHaveALanguageAndADuration) {
    using namespace std::chrono_literals;
    ByteWriter out;
    write_event_message(out, cue_at(2s, 1'500ms, std::string_view("e\0n", 3), hex("c3a9")));
    const EventMessage cue = parse_event_message(out.written()).value();
    EXPECT_EQ(cue.scheme, "urn:millrace:subtitle");
    EXPECT_EQ(cue.value, "e");
    EXPECT_EQ(cue.time, 180'000u);
    EXPECT_EQ(cue.duration, 135'000u);
    EXPECT_EQ(cue.data, hex("c3a9"));
    EXPECT_EQ(cue_at(0s, 24h, "", {}).duration, EventMessage::kUnknownDuration - 1);
}

TEST(EventMessage, ReadsVersion0) {
    const auto box = hex("00000026 656d7367 00000000 75726e3a78 00 76 00 000003e8 00000002 00000005 00000007 0102");
    EventMessage message = kMessage;
    message.is_relative = true;
    message.time = 2;
    EXPECT_TRUE(parse_event_message(box).value() == message);
}

TEST(EventMessage, NeedsTheWholeBox) {
    const auto box = hex(kBox);
    for (std::size_t size = 0; size < box.size(); ++size)
        EXPECT_EQ(parse_event_message(Bytes(box).first(size)).code(), Errc::need_more) << size;
}

TEST(EventMessage, RejectsShortBoxesAndOthers) {
    auto box = hex(kBox);
    for (std::uint8_t size = 0; size < 0x28; ++size) {  // the members without data
        box[3] = size;
        EXPECT_EQ(parse_event_message(box).code(), Errc::malformed) << unsigned{size};
    }
    EXPECT_EQ(parse_event_message(hex("0000000c 656d7368 00000000")).code(), Errc::malformed);
    EXPECT_EQ(parse_event_message(hex("0000000c 656d7367 02000000")).code(), Errc::unsupported);
    EXPECT_EQ(parse_event_message(hex("00008001 656d7367 02000000")).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::mp4
