#include "media/timeline.hpp"

#include <gtest/gtest.h>

namespace live::media {
namespace {

std::int64_t ms(MediaTime time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); }

TEST(Timeline, StartsAtZeroWhateverThePublisherSends) {
    Timeline timeline;
    EXPECT_EQ(ms(timeline.map(Kind::video, 900'000).dts), 0);
    EXPECT_EQ(ms(timeline.map(Kind::video, 900'040).dts), 40);
    EXPECT_EQ(ms(timeline.map(Kind::audio, 900'023).dts), 23);
    EXPECT_EQ(ms(timeline.publisher_offset()), 900'000);
}

TEST(Timeline, GoesOnOverTheWrapOf32Bits) {
    Timeline timeline;
    timeline.map(Kind::video, 0xFFFFFFF0U);
    const auto stamp = timeline.map(Kind::video, 0x10U);
    EXPECT_EQ(ms(stamp.dts), 32);
    EXPECT_FALSE(stamp.jumped);
    EXPECT_EQ(ms(timeline.map(Kind::audio, 0xFFFFFFFFU).dts), 15);
}

TEST(Timeline, LoopedClipMovesBothKindsByOneShift) {
    Timeline timeline;
    timeline.map(Kind::video, 0);
    timeline.map(Kind::audio, 0);
    for (std::uint32_t at = 0; at <= 60'000; at += 40) {
        timeline.map(Kind::video, at);
        timeline.map(Kind::audio, at + 5);
    }
    const auto video = timeline.map(Kind::video, 0);
    EXPECT_TRUE(video.jumped);
    EXPECT_EQ(ms(video.dts), 60'015);
    // Audio still on the old base is not moved; audio on the new base keeps its distance.
    EXPECT_EQ(ms(timeline.map(Kind::audio, 60'010).dts), 60'010);
    const auto audio = timeline.map(Kind::audio, 5);
    EXPECT_FALSE(audio.jumped);
    EXPECT_EQ(ms(audio.dts), 60'020);
    EXPECT_EQ(timeline.jumps(), 1U);
}

TEST(Timeline, SmallStepsBackAreHeldNotJumped) {
    Timeline timeline;
    timeline.map(Kind::audio, 1000);
    timeline.map(Kind::audio, 1100);
    const auto stamp = timeline.map(Kind::audio, 1050);
    EXPECT_FALSE(stamp.jumped);
    EXPECT_EQ(ms(stamp.dts), 100);
}

TEST(Timeline, LeapAheadBecomesANewBase) {
    Timeline timeline;
    timeline.map(Kind::video, 0);
    const auto stamp = timeline.map(Kind::video, 5'000'000);
    EXPECT_TRUE(stamp.jumped);
    EXPECT_EQ(ms(stamp.dts), 10);
}

TEST(Timeline, AudioThatComesLateKeepsItsPlace) {
    Timeline timeline;
    for (std::uint32_t at = 0; at <= 40'000; at += 40)
        timeline.map(Kind::video, at);
    const auto stamp = timeline.map(Kind::audio, 39'990);
    EXPECT_FALSE(stamp.jumped);
    EXPECT_EQ(ms(stamp.dts), 39'990);
}

TEST(Timeline, NewPublisherGoesOnAfterTheNewestPacket) {
    Timeline timeline;
    timeline.map(Kind::video, 0);
    timeline.map(Kind::video, 2000);
    timeline.start_publisher();
    EXPECT_EQ(ms(timeline.map(Kind::audio, 77'000).dts), 2010);
    EXPECT_EQ(ms(timeline.map(Kind::video, 77'020).dts), 2030);
}

TEST(Timeline, DataWithStampZeroDoesNotMoveAnything) {
    Timeline timeline;
    timeline.map(Kind::video, 0);
    timeline.map(Kind::video, 8000);
    EXPECT_EQ(ms(timeline.map(Kind::data, 0).dts), 0);
    EXPECT_EQ(ms(timeline.map(Kind::data, 0).dts), 0);
    EXPECT_EQ(ms(timeline.map(Kind::video, 8040).dts), 8040);
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, AnotherTrackFollowsTheFirstOfItsKind) {
    constexpr TrackId kOther{1};
    constexpr TrackId kThird{2};
    Timeline timeline;
    EXPECT_EQ(timeline.follow(Kind::video, kOther, 1'000), 0ms) << "it was there first";
    EXPECT_EQ(timeline.map(Kind::video, 1'000).dts, 0ms);
    EXPECT_EQ(timeline.follow(Kind::video, kOther, 1'020), 20ms);
    EXPECT_EQ(timeline.map(Kind::video, 1'040).dts, 40ms);
    EXPECT_EQ(timeline.follow(Kind::video, kOther, 1'500), 500ms);
    EXPECT_EQ(timeline.map(Kind::video, 1'080).dts, 80ms) << "nobody has to catch up with another track";
    EXPECT_EQ(timeline.follow(Kind::video, kThird, 1'030), 30ms);
    EXPECT_EQ(timeline.follow(Kind::video, kThird, 1'010), 30ms) << "not backwards within a track";
    EXPECT_EQ(timeline.follow(Kind::video, kOther, 3'000), 1'080ms) << "it leads by too much";
}

TEST(Timeline, TheFirstTrackMayBeginBeforeAnotherOne) {
    Timeline timeline;
    timeline.map(Kind::video, 1'000);
    EXPECT_EQ(timeline.follow(Kind::audio, TrackId{1}, 1'200), 200ms);
    EXPECT_EQ(timeline.map(Kind::audio, 1'023).dts, 23ms);
    // As in transport streams: audio comes in units of several frames.
    for (const std::uint32_t at : {1'046U, 1'069U, 1'092U})
        EXPECT_EQ(timeline.map(Kind::audio, at).dts, std::chrono::milliseconds(at - 1'000));
    EXPECT_EQ(timeline.follow(Kind::audio, TrackId{1}, 1'232), 232ms);
    // Another publisher's stamps are not before those of this one.
    timeline.start_publisher();
    EXPECT_GE(timeline.follow(Kind::audio, TrackId{1}, 0), 232ms);
    EXPECT_GE(timeline.map(Kind::audio, 0).dts, 92ms);
}

TEST(Timeline, TracksThatAreFarApartMakeNoTimeBase) {
    constexpr TrackId kLate{1};
    constexpr TrackId kEarly{2};
    Timeline timeline;
    for (std::uint32_t at = 0; at < 20'000; at += 40) {
        const auto first = timeline.map(Kind::audio, 5'000 + at);
        EXPECT_FALSE(first.jumped);
        EXPECT_EQ(first.dts, std::chrono::milliseconds(at));
        EXPECT_EQ(timeline.follow(Kind::audio, kLate, at), first.dts - Timeline::kTrackDistance) << "five seconds late";
        EXPECT_EQ(timeline.follow(Kind::audio, kEarly, 60'000 + at), first.dts + Timeline::kTrackDistance) << "a minute early";
    }
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, AnotherTrackWrapsWithTheFirst) {
    Timeline timeline;
    timeline.map(Kind::audio, 0xFFFF'FFF0U);
    EXPECT_EQ(timeline.follow(Kind::audio, TrackId{1}, 0x10U), 32ms);
    EXPECT_EQ(timeline.map(Kind::audio, 0x14U).dts, 36ms);
}

TEST(Timeline, AnotherNodesStampsAreKept) {
    Timeline timeline;
    timeline.start_relay(600'000);
    EXPECT_EQ(timeline.map(Kind::video, 600'000).dts, 600s);
    EXPECT_EQ(timeline.map(Kind::audio, 599'990).dts, 599'990ms);
    EXPECT_EQ(timeline.publisher_offset(), 0s);
    // It connects again, and has gone on.
    timeline.start_publisher();
    timeline.start_relay(601'000);
    EXPECT_EQ(timeline.map(Kind::video, 601'000).dts, 601s);
    // It connects again, and repeats: the times are moved, all by the same.
    timeline.start_publisher();
    timeline.start_relay(600'500);
    const MediaTime moved = -timeline.publisher_offset();
    EXPECT_EQ(timeline.map(Kind::video, 600'500).dts, 601s + Timeline::kRelayJoin);
    EXPECT_EQ(timeline.map(Kind::audio, 600'480).dts, 600'480ms + moved);
    // Another publisher at the same origin: moved by the same as before.
    timeline.start_publisher();
    timeline.start_relay(602'000);
    EXPECT_EQ(timeline.map(Kind::video, 602'000).dts, 602s + moved);
}

}  // namespace
}  // namespace live::media
