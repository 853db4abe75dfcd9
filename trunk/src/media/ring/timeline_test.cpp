#include "media/ring/timeline.hpp"

#include <random>

#include <gtest/gtest.h>

namespace live::media {
namespace {

using Event = Timeline::Event;

std::int64_t ms(MediaTime time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); }

TEST(Timeline, StartsAtZeroForAnyFirstStamp) {
    Timeline timeline;
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 900'000).dts), 0);
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 900'040).dts), 40);
    EXPECT_EQ(ms(timeline.map(MediaKind::audio, 900'023).dts), 23);
    EXPECT_EQ(ms(timeline.publisher_offset()), 900'000);
}

TEST(Timeline, ContinuesAcrossWrapOf32Bits) {
    Timeline timeline;
    timeline.map(MediaKind::video, 0xFFFFFFF0U);
    const auto stamp = timeline.map(MediaKind::video, 0x10U);
    EXPECT_EQ(ms(stamp.dts), 32);
    EXPECT_EQ(stamp.event, Event::none);
    EXPECT_EQ(ms(timeline.map(MediaKind::audio, 0xFFFFFFFFU).dts), 15);
}

TEST(Timeline, LoopedClipMovesBothKindsByOneShift) {
    Timeline timeline;
    timeline.map(MediaKind::video, 0);
    timeline.map(MediaKind::audio, 0);
    for (std::uint32_t at = 0; at <= 60'000; at += 40) {
        timeline.map(MediaKind::video, at);
        timeline.map(MediaKind::audio, at + 5);
    }
    // It may be a stray frame, or the first of a new base.
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 0).dts), 60'010);
    // Audio still on the old base is not moved.
    const auto old = timeline.map(MediaKind::audio, 60'010);
    EXPECT_EQ(old.event, Event::none);
    EXPECT_EQ(ms(old.dts), 60'010);
    EXPECT_EQ(ms(timeline.map(MediaKind::audio, 5).dts), 60'020);
    const auto video = timeline.map(MediaKind::video, 40);
    EXPECT_EQ(video.event, Event::jump);
    EXPECT_EQ(ms(video.dts), 60'055);
    const auto audio = timeline.map(MediaKind::audio, 28);
    EXPECT_EQ(audio.event, Event::none);
    EXPECT_EQ(ms(audio.dts), 60'043) << "they keep their distance";
    EXPECT_EQ(timeline.jumps(), 1U);
}

TEST(Timeline, SmallStepsBackAreHeldNotJumped) {
    Timeline timeline;
    timeline.map(MediaKind::audio, 1000);
    timeline.map(MediaKind::audio, 1100);
    const auto stamp = timeline.map(MediaKind::audio, 1050);
    EXPECT_EQ(stamp.event, Event::none);
    EXPECT_EQ(ms(stamp.dts), 100);
}

TEST(Timeline, LeapAheadBecomesANewBase) {
    Timeline timeline;
    timeline.map(MediaKind::video, 0);
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 5'000'000).dts), 10);
    const auto stamp = timeline.map(MediaKind::video, 5'000'040);
    EXPECT_EQ(stamp.event, Event::jump);
    EXPECT_EQ(ms(stamp.dts), 50);
}

TEST(Timeline, AudioThatComesLateKeepsItsPlace) {
    Timeline timeline;
    for (std::uint32_t at = 0; at <= 40'000; at += 40)
        timeline.map(MediaKind::video, at);
    const auto stamp = timeline.map(MediaKind::audio, 39'990);
    EXPECT_EQ(stamp.event, Event::none);
    EXPECT_EQ(ms(stamp.dts), 39'990);
}

TEST(Timeline, NewPublisherContinuesAfterNewestPacket) {
    Timeline timeline;
    timeline.map(MediaKind::video, 0);
    timeline.map(MediaKind::video, 2000);
    timeline.start_publisher();
    EXPECT_EQ(ms(timeline.map(MediaKind::audio, 77'000).dts), 2010);
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 77'020).dts), 2030);
}

TEST(Timeline, DataWithStampZeroDoesNotMoveAnything) {
    Timeline timeline;
    timeline.map(MediaKind::video, 0);
    timeline.map(MediaKind::video, 8000);
    EXPECT_EQ(ms(timeline.map(MediaKind::data, 0).dts), 0);
    EXPECT_EQ(ms(timeline.map(MediaKind::data, 0).dts), 0);
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 8040).dts), 8040);
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, AnotherTrackFollowsTheFirstOfItsKind) {
    constexpr TrackId kOther{1};
    constexpr TrackId kThird{2};
    Timeline timeline;
    EXPECT_EQ(timeline.follow(MediaKind::video, kOther, 1'000), 0ms) << "it was there first";
    EXPECT_EQ(timeline.map(MediaKind::video, 1'000).dts, 0ms);
    EXPECT_EQ(timeline.follow(MediaKind::video, kOther, 1'020), 20ms);
    EXPECT_EQ(timeline.map(MediaKind::video, 1'040).dts, 40ms);
    EXPECT_EQ(timeline.follow(MediaKind::video, kOther, 1'500), 500ms);
    EXPECT_EQ(timeline.map(MediaKind::video, 1'080).dts, 80ms) << "nobody has to catch up with another track";
    EXPECT_EQ(timeline.follow(MediaKind::video, kThird, 1'030), 30ms);
    EXPECT_EQ(timeline.follow(MediaKind::video, kThird, 1'010), 30ms) << "not backwards within a track";
    EXPECT_EQ(timeline.follow(MediaKind::video, kOther, 3'000), 500ms) << "it may be a stray stamp";
    EXPECT_EQ(timeline.follow(MediaKind::video, kOther, 3'040), 1'080ms) << "it leads by too much";
}

TEST(Timeline, TheFirstTrackMayBeginBeforeAnotherOne) {
    Timeline timeline;
    timeline.map(MediaKind::video, 1'000);
    EXPECT_EQ(timeline.follow(MediaKind::audio, TrackId{1}, 1'200), 200ms);
    EXPECT_EQ(timeline.map(MediaKind::audio, 1'023).dts, 23ms);
    // As in transport streams: audio comes in units of several frames.
    for (const std::uint32_t at : {1'046U, 1'069U, 1'092U})
        EXPECT_EQ(timeline.map(MediaKind::audio, at).dts, std::chrono::milliseconds(at - 1'000));
    EXPECT_EQ(timeline.follow(MediaKind::audio, TrackId{1}, 1'232), 232ms);
    // Another publisher's stamps are not before those of this one.
    timeline.start_publisher();
    EXPECT_GE(timeline.follow(MediaKind::audio, TrackId{1}, 0), 232ms);
    EXPECT_GE(timeline.map(MediaKind::audio, 0).dts, 92ms);
}

TEST(Timeline, TracksThatAreFarApartMakeNoTimeBase) {
    constexpr TrackId kLate{1};
    constexpr TrackId kEarly{2};
    Timeline timeline;
    for (std::uint32_t at = 0; at < 20'000; at += 40) {
        const auto first = timeline.map(MediaKind::audio, 5'000 + at);
        EXPECT_EQ(first.event, Event::none);
        EXPECT_EQ(first.dts, std::chrono::milliseconds(at));
        EXPECT_EQ(timeline.follow(MediaKind::audio, kLate, at), first.dts - Timeline::kTrackDistance) << "five seconds late";
        EXPECT_EQ(timeline.follow(MediaKind::audio, kEarly, 60'000 + at), first.dts + Timeline::kTrackDistance)
            << "a minute early";
    }
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, AnotherTrackWrapsWithTheFirst) {
    Timeline timeline;
    timeline.map(MediaKind::audio, 0xFFFF'FFF0U);
    EXPECT_EQ(timeline.follow(MediaKind::audio, TrackId{1}, 0x10U), 32ms);
    EXPECT_EQ(timeline.map(MediaKind::audio, 0x14U).dts, 36ms);
}

TEST(Timeline, AnotherNodesStampsAreKept) {
    Timeline timeline;
    timeline.start_relay(600'000);
    EXPECT_EQ(timeline.map(MediaKind::video, 600'000).dts, 600s);
    EXPECT_EQ(timeline.map(MediaKind::audio, 599'990).dts, 599'990ms);
    EXPECT_EQ(timeline.publisher_offset(), 0s);
    // The publisher reconnects with timestamps that have advanced.
    timeline.start_publisher();
    timeline.start_relay(601'000);
    EXPECT_EQ(timeline.map(MediaKind::video, 601'000).dts, 601s);
    // It connects again, and repeats: the times are moved, all by the same.
    timeline.start_publisher();
    timeline.start_relay(600'500);
    const MediaTime moved = -timeline.publisher_offset();
    EXPECT_EQ(timeline.map(MediaKind::video, 600'500).dts, 601s + Timeline::kRelayJoin);
    EXPECT_EQ(timeline.map(MediaKind::audio, 600'480).dts, 600'480ms + moved);
    // Another publisher at the same origin: moved by the same as before.
    timeline.start_publisher();
    timeline.start_relay(602'000);
    EXPECT_EQ(timeline.map(MediaKind::video, 602'000).dts, 602s + moved);
}

// A busy encoder makes renditions seconds later.
TEST(Timeline, AnotherNodesTracksMayBeFarApart) {
    constexpr TrackId kRung{255};
    Timeline timeline;
    timeline.start_relay(600'000);
    for (std::uint32_t at = 600'000; at < 604'000; at += 40) {
        timeline.map(MediaKind::video, at);
        EXPECT_EQ(timeline.follow(MediaKind::video, kRung, at - 3'000), std::chrono::milliseconds(at - 3'000));
    }
}

// Sends frames every 40 ms of both kinds until `until_ms` of the publisher's time, which begins at zero.
void run_until(Timeline& timeline, std::uint32_t& at, std::uint32_t until_ms) {
    for (; at < until_ms; at += 40) {
        EXPECT_EQ(ms(timeline.map(MediaKind::video, at).dts), at);
        EXPECT_EQ(ms(timeline.map(MediaKind::audio, at + 5).dts), at + 5);
    }
}

TEST(Timeline, SingleStrayFrameKeepsTheTimeBase) {
    for (const std::uint32_t stray : {0U, 1'000U, 9'000U, 5'000'000U, 0x8000'0000U, 0xFFFF'FFFFU}) {
        Timeline timeline;
        std::uint32_t at = 0;
        run_until(timeline, at, 6'000);
        EXPECT_EQ(ms(timeline.map(MediaKind::video, stray).dts), 5'970) << stray;
        const auto next = timeline.map(MediaKind::video, 6'000);
        EXPECT_EQ(next.event, Event::stray) << stray;
        EXPECT_EQ(ms(next.dts), 6'000) << stray;
        run_until(timeline, at, 9'000);
        EXPECT_EQ(timeline.jumps(), 0U) << stray;
    }
}

TEST(Timeline, StreamReturnsAfterSeveralStrayFrames) {
    Timeline timeline;
    std::uint32_t at = 0;
    run_until(timeline, at, 6'000);
    for (int i = 0; i < 5; ++i) {
        timeline.map(MediaKind::video, 0);
        timeline.map(MediaKind::audio, 0);
    }
    EXPECT_EQ(timeline.jumps(), 1U) << "they agree";
    run_until(timeline, at, 9'000);
    EXPECT_EQ(timeline.publisher_offset(), 0ms);
}

TEST(Timeline, HeadersMoveNothing) {
    Timeline timeline;
    EXPECT_EQ(timeline.header_time(MediaKind::video), 0ms);
    timeline.map(MediaKind::data, 0);
    EXPECT_EQ(timeline.map(MediaKind::video, 900'000).dts, 0ms) << "data before it starts no time base";
    EXPECT_EQ(timeline.header_time(MediaKind::audio), 0ms);
    EXPECT_EQ(timeline.map(MediaKind::video, 900'040).dts, 40ms);
    EXPECT_EQ(timeline.header_time(MediaKind::video), 40ms);
    timeline.start_publisher();
    EXPECT_EQ(timeline.header_time(MediaKind::audio), 40ms);
    EXPECT_EQ(timeline.map(MediaKind::audio, 0).dts, 50ms);
    EXPECT_EQ(timeline.header_time(MediaKind::video), 50ms);
}

TEST(Timeline, StrayFirstFrameOfAKind) {
    Timeline timeline;
    timeline.map(MediaKind::video, 900'000);
    EXPECT_EQ(timeline.map(MediaKind::audio, 0).dts, 0ms);
    EXPECT_EQ(timeline.map(MediaKind::video, 900'040).dts, 40ms);
    EXPECT_EQ(timeline.map(MediaKind::audio, 900'023).dts, 23ms);
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, KindsWithClocksOfTheirOwnAdvanceTogether) {
    Timeline timeline;
    for (std::uint32_t at = 0; at < 20'000; at += 40) {
        EXPECT_EQ(ms(timeline.map(MediaKind::video, 900'000 + at).dts), at);
        const std::int64_t audio = ms(timeline.map(MediaKind::audio, 7 + at).dts);
        EXPECT_LE(std::abs(audio - at), 20);
    }
}

TEST(Timeline, GapWithinTheTimeoutIsNoJump) {
    Timeline timeline;
    timeline.allow_gap(60s);
    for (std::uint32_t at = 0; at <= 600'000; at += 20'000)
        EXPECT_EQ(ms(timeline.map(MediaKind::video, at).dts), at);
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, GapThatHasPassedIsNoJump) {
    Timeline timeline;
    const TimePoint start{1h};
    for (std::uint32_t at = 0; at <= 1'000; at += 40)
        timeline.map(MediaKind::video, at, start + std::chrono::milliseconds(at));
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 31'000, start + 31s).dts), 31'000);
    EXPECT_EQ(ms(timeline.map(MediaKind::video, 31'040, start + 31'040ms).dts), 31'040);
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, UnpacedGapMovesOneFrame) {
    Timeline timeline;
    std::uint32_t at = 0;
    run_until(timeline, at, 1'000);
    at = 6'000;
    EXPECT_EQ(ms(timeline.map(MediaKind::video, at).dts), 970);
    const auto next = timeline.map(MediaKind::video, at + 40);
    EXPECT_EQ(next.event, Event::none);
    EXPECT_EQ(ms(next.dts), 6'040);
    EXPECT_EQ(ms(timeline.map(MediaKind::audio, 6'045).dts), 6'045);
    EXPECT_EQ(timeline.jumps(), 0U);
}

TEST(Timeline, StrayFrameOfAnotherTrackMovesNoOther) {
    constexpr TrackId kOther{1};
    Timeline timeline;
    for (std::uint32_t at = 0; at < 4'000; at += 40) {
        timeline.map(MediaKind::video, at);
        const bool is_stray = at == 1'000 || at == 2'000;
        const auto placed = ms(timeline.follow(MediaKind::video, kOther, is_stray ? at * 100 : at));
        EXPECT_EQ(placed, is_stray ? at - 40 : at);
    }
}

// A publisher for the property test: audio and video on one clock that may begin anywhere, and audio that may lag in the
// multiplex.
struct Sent {
    MediaKind kind = MediaKind::video;
    std::int64_t true_ms = 0;  // since the publisher's first frame
    enum class Form : std::uint8_t { frame, stray, header } form = Form::frame;
    std::uint32_t stamp_ms = 0;
};

std::vector<Sent> random_stream(std::mt19937& random) {
    const auto below = [&random](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    const auto origin = static_cast<std::uint32_t>(random());
    const std::int64_t frame_ms = 10 + below(90);
    const std::int64_t lag_ms = below(2) == 0 ? 0 : below(900);
    const std::uint32_t stray_every = 20 + below(100);
    const bool are_zero = below(2) == 0;
    std::vector<Sent> sent;
    std::array<bool, 2> was_stray{true, true};  // the first frames of a publisher are not
    std::array<std::int64_t, 2> next_ms{lag_ms, 0};
    while (sent.size() < 2'000) {
        const bool is_video = next_ms[1] <= next_ms[0];
        const auto kind = is_video ? MediaKind::video : MediaKind::audio;
        std::int64_t& at = next_ms[index_of(kind)];
        Sent one{.kind = kind, .true_ms = is_video ? at : at - lag_ms};
        one.stamp_ms = origin + static_cast<std::uint32_t>(one.true_ms);
        const auto careless = are_zero ? 0 : static_cast<std::uint32_t>(random());
        if (below(30) == 0)
            sent.push_back({kind, one.true_ms, Sent::Form::header, careless});
        // A stray stamp that is nearly right is not recognised.
        const auto off = static_cast<std::int32_t>(careless - one.stamp_ms);
        bool& stray = was_stray[index_of(kind)];
        stray = !stray && sent.size() > 50 && below(stray_every) == 0 && (off < -2'000 || off > 2'000);
        if (stray) {
            one.form = Sent::Form::stray;
            one.stamp_ms = careless;
        }
        sent.push_back(one);
        at += is_video ? frame_ms : 23;
    }
    return sent;
}

// The naive model: each frame has the publisher's true time, whatever came before it.
TEST(TimelineProperty, StrayStampsAndHeadersLeaveEveryOtherFrameInPlace) {
    constexpr std::int64_t kJoin = Timeline::kJoin.count();
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        Timeline timeline;
        std::array<std::int64_t, 2> last{-1, -1};
        for (const Sent& one : random_stream(random)) {
            std::int64_t& before = last[index_of(one.kind)];
            if (one.form == Sent::Form::header) {
                const std::int64_t at = ms(timeline.header_time(one.kind));
                ASSERT_TRUE(at >= std::max<std::int64_t>(before, 0) && at <= one.true_ms + kJoin) << "seed " << seed;
                continue;
            }
            const std::int64_t at = ms(timeline.map(one.kind, one.stamp_ms).dts);
            ASSERT_GE(at, before) << "seed " << seed;
            const bool is_right = at >= one.true_ms && at <= one.true_ms + kJoin;
            const bool is_near = at <= before + kJoin;
            ASSERT_TRUE(one.form == Sent::Form::frame ? is_right : is_near)
                << "seed " << seed << ", " << at << " not " << one.true_ms;
            before = at;
        }
    }
}

// A new time base, with stray stamps around it: after one frame of each kind the distance of audio and video is the publisher's.
TEST(TimelineProperty, NewTimeBasesKeepTheDistanceOfAudioAndVideo) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        Timeline timeline;
        std::uint32_t base = static_cast<std::uint32_t>(random());
        for (int bases = 0; bases < 5; ++bases) {
            std::int64_t shift = 0;
            for (std::uint32_t at = 0; at < 4'000; at += 40) {
                if (at > 400 && random() % 40 == 0)
                    timeline.map(MediaKind::video, base + at + 100'000'000);
                const std::int64_t video = ms(timeline.map(MediaKind::video, base + at).dts) - at;
                const std::int64_t audio = ms(timeline.map(MediaKind::audio, base + at + 7).dts) - at - 7;
                if (at == 40)
                    shift = video;
                const bool is_right = video >= shift && video <= shift + 10 && audio == shift;
                ASSERT_TRUE(at < 40 || is_right) << "seed " << seed << " at " << at;
            }
            base += 20'000'000 + static_cast<std::uint32_t>(random() % 1'000'000'000);
        }
        EXPECT_EQ(timeline.jumps(), 4U);
    }
}

}  // namespace
}  // namespace live::media
