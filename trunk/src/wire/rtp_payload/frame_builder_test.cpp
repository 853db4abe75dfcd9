#include "wire/rtp_payload/frame_builder.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

// Each packet carries one letter; a packet with a capital letter may begin a frame.
class Builder {
public:
    bool push(std::uint64_t sequence, std::uint32_t timestamp, bool marker, char letter) {
        const Octets payload{static_cast<std::uint8_t>(letter)};
        const Fragment fragment{sequence, timestamp, marker, payload};
        const bool admitted = frames.admit(fragment, letter >= 'A' && letter <= 'Z');
        if (admitted)
            frames.append(payload);
        frames.finish(fragment);
        while (const auto frame = frames.poll()) {
            if (!text.empty())
                text += ' ';
            text += frame->follows_loss ? "!" : "";
            text += as_text(frame->data);
        }
        return admitted;
    }
    FrameBuilder frames;
    std::string text;
};

TEST(FrameBuilder, ReturnsFramesAtTheirMarkers) {
    Builder builder;
    builder.push(1, 10, false, 'A');
    builder.push(2, 10, true, 'b');
    builder.push(3, 20, true, 'c');
    EXPECT_EQ(builder.text, "Ab c") << "behind no loss anything may begin";
    EXPECT_EQ(builder.frames.lost_frames(), 0U);
}

TEST(FrameBuilder, NewTimestampEndsFrameWithoutMarker) {
    Builder builder;
    builder.push(1, 10, false, 'A');
    builder.push(2, 20, true, 'B');
    EXPECT_EQ(builder.text, "A B");
}

TEST(FrameBuilder, GapDropsOnlyItsFrame) {
    Builder builder;
    builder.push(1, 10, false, 'A');
    builder.push(3, 10, false, 'b');
    builder.push(4, 10, true, 'c');
    builder.push(5, 20, true, 'd');
    EXPECT_EQ(builder.text, "!d");
    EXPECT_EQ(builder.frames.lost_frames(), 1U);
}

TEST(FrameBuilder, LostEndDropsFrameAndPossiblyNext) {
    Builder sure;
    sure.push(1, 10, false, 'A');
    sure.push(3, 20, true, 'B');
    EXPECT_EQ(sure.text, "!B");
    Builder unsure;
    unsure.push(1, 10, false, 'A');
    unsure.push(3, 20, true, 'b');
    unsure.push(4, 30, true, 'c');
    EXPECT_EQ(unsure.text, "!c") << "b may have lost its beginning";
    EXPECT_EQ(unsure.frames.lost_frames(), 2U);
}

TEST(FrameBuilder, MarksFrameAfterLostFrame) {
    Builder builder;
    builder.push(1, 10, true, 'A');
    builder.push(3, 30, true, 'C');
    builder.push(4, 40, true, 'D');
    EXPECT_EQ(builder.text, "A !C D");
}

TEST(FrameBuilder, IgnoresDuplicateAndLatePackets) {
    Builder builder;
    EXPECT_TRUE(builder.push(5, 10, false, 'A'));
    EXPECT_FALSE(builder.push(5, 10, false, 'A'));
    EXPECT_FALSE(builder.push(4, 10, false, 'x'));
    EXPECT_TRUE(builder.push(6, 10, true, 'b'));
    EXPECT_EQ(builder.text, "Ab");
}

TEST(FrameBuilder, DropsPacketsBeforeFirstFrameBegins) {
    Builder builder;
    builder.push(1, 10, true, 'a');
    builder.push(2, 20, true, 'b');
    EXPECT_EQ(builder.text, "!b");
}

TEST(FrameBuilder, DropsFrameAboveMaximumSize) {
    FrameBuilder frames;
    const Fragment fragment{1, 1, false, {}};
    ASSERT_TRUE(frames.admit(fragment, true));
    const Octets most(kFrameBytesMax);
    frames.append(most);
    EXPECT_TRUE(frames.is_open());
    frames.append(Bytes(most).first(1));
    EXPECT_FALSE(frames.is_open());
    EXPECT_EQ(frames.lost_frames(), 1U);
}

// One frame of `bytes`, in the memory that the builder gave it.
std::vector<std::uint8_t> memory_of_frame(std::uint64_t sequence, std::size_t bytes) {
    FrameBuilder frames;
    const Octets payload(bytes, 7);
    const Fragment fragment{sequence, 10, true, payload};
    EXPECT_TRUE(frames.admit(fragment, true));
    frames.append(payload);
    frames.finish(fragment);
    auto frame = frames.poll();
    EXPECT_TRUE(frame && frame->data == payload);
    return frame ? std::move(frame->data) : std::vector<std::uint8_t>();
}

TEST(FrameBuilder, TakesTheMemoryOfAFrameThatHasEnded) {
    FrameBuilder::recycle(memory_of_frame(1, 20'000));
    auto second = memory_of_frame(2, 100);
    EXPECT_GE(second.capacity(), 20'000U) << "of another stream";
    EXPECT_LT(memory_of_frame(3, 100).capacity(), 20'000U) << "it is in use";
    FrameBuilder::recycle(std::move(second));
    FrameBuilder::recycle(memory_of_frame(4, 200'000));
    EXPECT_LT(memory_of_frame(5, 100).capacity(), 100'000U) << "that of a large frame is given back";
}

}  // namespace
}  // namespace live::wire::rtp_payload
