#include "media/ring/track_aligner.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

constexpr TrackId kSource{0};
constexpr TrackId kRung{255};

Packet frame_at(MediaTime at, TrackId track, bool key = false, std::size_t bytes = 10) {
    Packet packet;
    packet.kind = MediaKind::video;
    packet.content = Content::frame;
    packet.track = track;
    packet.extra = track != kSource;
    packet.key = key;
    packet.dts = at;
    packet.payload = Slice::allocate(bytes);
    return packet;
}

Packet config_of(TrackId track) {
    Packet packet = frame_at({}, track);
    packet.content = Content::config;
    return packet;
}

class TrackAlignerTest : public testing::Test {
protected:
    void source(MediaTime at, bool key = false) { aligner_.push(frame_at(at, kSource, key), {expected_, present_, false}); }
    void rung(MediaTime at, bool key = false) { aligner_.push(frame_at(at, kRung, key), {expected_, present_, true}); }
    // "S0 R0": the tracks and times in milliseconds of all released packets.
    std::string out() {
        std::string text;
        while (const auto packet = aligner_.pop()) {
            text += text.empty() ? "" : " ";
            text += packet->track == kSource ? "S" : "R";
            text += packet->is_config() ? "c" : std::to_string(to_ms(packet->dts));
        }
        return text;
    }

    TrackAligner aligner_;
    std::size_t expected_ = 1;
    std::size_t present_ = 1;
};

TEST_F(TrackAlignerTest, PassesAStreamWithoutRenditions) {
    expected_ = present_ = 0;
    source(0ms, true);
    EXPECT_EQ(out(), "S0");
    source(40ms);
    EXPECT_EQ(out(), "S40");
    EXPECT_TRUE(aligner_.is_idle());
}

TEST_F(TrackAlignerTest, WaitsForTheRenditionAndMergesByTime) {
    source(0ms, true);
    source(40ms);
    source(80ms);
    EXPECT_EQ(out(), "");
    rung(0ms, true);
    EXPECT_EQ(out(), "S0 R0");
    rung(40ms);
    rung(80ms);
    EXPECT_EQ(out(), "S40 R40 S80 R80");
    source(120ms);
    EXPECT_EQ(out(), "");
    EXPECT_EQ(aligner_.bytes(), 10U);
    rung(120ms);
    EXPECT_EQ(out(), "S120 R120");
    EXPECT_EQ(aligner_.bytes(), 0U);
}

// A segment begins with the key frame of the source: the frames of the rendition before it belong to the previous segment.
TEST_F(TrackAlignerTest, ReleasesTheFramesBeforeACutFirst) {
    source(0ms, true);
    rung(0ms, true);
    source(1000ms, true);
    EXPECT_EQ(out(), "S0 R0");
    rung(500ms);
    rung(999ms);
    EXPECT_EQ(out(), "R500 R999");
    rung(1000ms, true);
    EXPECT_EQ(out(), "S1000 R1000");
}

TEST_F(TrackAlignerTest, ReleasesConfigurationsBeforeTheFirstFrame) {
    aligner_.push(config_of(kSource), {1, 1, false});
    source(0ms, true);
    EXPECT_EQ(out(), "Sc");
    // A node that joins gets it before the frames of the rendition, which are older than those of the stream.
    aligner_.push(config_of(kRung), {1, 1, true});
    EXPECT_EQ(out(), "Rc");
    rung(0ms, true);
    EXPECT_EQ(out(), "S0 R0");
    // Later ones are in the order of their track.
    source(40ms);
    rung(20ms);
    aligner_.push(config_of(kSource), {1, 1, false});
    EXPECT_EQ(out(), "R20");
}

TEST_F(TrackAlignerTest, DoesNotWaitLongerThanTheLimit) {
    for (MediaTime at = 0ms; at <= TrackAligner::kLagMax; at += 1000ms)
        source(at, true);
    EXPECT_EQ(out(), "");
    source(TrackAligner::kLagMax + 1ms);
    EXPECT_EQ(out(), "S0 S1000 S2000 S3000 S4000 S5000 S6000 S6001");
}

TEST_F(TrackAlignerTest, ALateRenditionContinuesAtAKeyFrameInTime) {
    source(0ms, true);
    rung(0ms, true);
    source(7000ms);  // the rendition is too far behind
    EXPECT_EQ(out(), "S0 R0 S7000");
    rung(2000ms, true);  // now it is not
    source(7040ms);
    EXPECT_EQ(out(), "");
    rung(7000ms);
    EXPECT_EQ(out(), "") << "not a key frame";
    rung(7040ms);
    EXPECT_EQ(out(), "S7040");
    rung(7080ms, true);
    source(7080ms, true);
    EXPECT_EQ(out(), "S7080 R7080");
}

TEST_F(TrackAlignerTest, DoesNotWaitForRenditionsThatHaveLeft) {
    source(0ms, true);
    rung(0ms, true);
    source(40ms);
    EXPECT_EQ(out(), "S0 R0");
    expected_ = present_ = 0;
    source(80ms);
    EXPECT_EQ(out(), "S40 S80");
    rung(40ms);  // was in the ring still
    EXPECT_EQ(out(), "");
    source(120ms);
    EXPECT_EQ(out(), "S120");
    EXPECT_TRUE(aligner_.is_idle());
}

TEST_F(TrackAlignerTest, FlushReleasesAllInOrder) {
    source(0ms, true);
    source(40ms);
    aligner_.flush();
    EXPECT_EQ(out(), "S0 S40");
    source(80ms);
    EXPECT_EQ(out(), "") << "waits again";
}

TEST_F(TrackAlignerTest, WaitsForTheRenditionsOfTheNextPublisher) {
    source(0ms, true);
    rung(0ms, true);
    source(9000ms);
    EXPECT_EQ(out(), "S0 R0 S9000");
    aligner_.flush();
    EXPECT_EQ(out(), "");
    aligner_.restart();
    source(9010ms, true);
    EXPECT_EQ(out(), "");
    rung(9010ms, true);
    EXPECT_EQ(out(), "S9010 R9010");
}

// A node joins at the newest key frame of the stream: the renditions are still before it.
TEST_F(TrackAlignerTest, DropsTheFramesBeforeAJoin) {
    aligner_.push(config_of(kSource), {1, 1, false});
    aligner_.push(config_of(kRung), {1, 1, true});
    EXPECT_EQ(out(), "Sc Rc");
    source(1000ms, true);
    rung(400ms);
    source(1040ms);
    rung(440ms, true);
    EXPECT_EQ(out(), "");
    rung(960ms);
    EXPECT_EQ(out(), "");
    rung(1000ms, true);
    EXPECT_EQ(out(), "S1000 R1000");
    rung(1040ms);
    EXPECT_EQ(out(), "S1040 R1040");
}

// Another connection repeats packets, with times of its own.
TEST_F(TrackAlignerTest, ARestartDropsThePacketsThatWait) {
    source(5000ms, true);
    rung(5000ms, true);
    source(5040ms);
    EXPECT_EQ(out(), "S5000 R5000");
    aligner_.restart();
    EXPECT_EQ(aligner_.bytes(), 0U);
    EXPECT_TRUE(aligner_.is_idle());
    EXPECT_EQ(out(), "");
    source(1000ms, true);
    EXPECT_EQ(out(), "");
    rung(1000ms, true);
    EXPECT_EQ(out(), "S1000 R1000");
}

// The order of packets with one time does not depend on the track that was first.
TEST_F(TrackAlignerTest, OrdersEqualTimesByTrack) {
    constexpr TrackId kOther{254};
    const auto audio = [this](MediaTime at) {
        Packet packet = frame_at(at, kSource);
        packet.kind = MediaKind::audio;
        aligner_.push(packet, {2, 2, false});
    };
    const auto other = [this](MediaTime at, bool key) { aligner_.push(frame_at(at, kOther, key), {2, 2, true}); };
    expected_ = present_ = 2;
    const auto kinds = [this] {
        std::string text;
        while (const auto packet = aligner_.pop())
            text += packet->kind == MediaKind::audio ? "A" : packet->track == kSource ? "S" : packet->track == kOther ? "2" : "5";
        return text;
    };
    audio(0ms);
    rung(0ms, true);
    source(0ms, true);
    other(0ms, true);
    EXPECT_EQ(kinds(), "SA25");
    aligner_.restart();
    source(0ms, true);
    audio(0ms);
    rung(0ms, true);
    other(0ms, true);
    EXPECT_EQ(kinds(), "SA25");
}

TEST_F(TrackAlignerTest, ReleasesAllBeyondTheByteLimit) {
    aligner_.push(frame_at(0ms, kSource, true, TrackAligner::kBytesMax), {1, 1, false});
    EXPECT_EQ(out(), "");
    source(40ms);
    EXPECT_EQ(out(), "S0");
    EXPECT_EQ(aligner_.bytes(), 10U);
}

}  // namespace
}  // namespace live::media
