#include "service/segments/segment_sync.hpp"

#include <gtest/gtest.h>

namespace live::service::segments {
namespace {

SegmentState full_state() {
    SegmentState state;
    state.number = 57;
    state.by_track = true;
    state.discontinuity = true;
    state.kind = MediaKind::video;
    state.track = media::TrackId{3};
    state.at = 12'345'678us;
    state.covered = 12'300'000us;
    state.first = MediaTime{};
    state.leader = 1;
    state.tracks.push_back({MediaKind::audio, media::TrackId{}, false, true, 12'320'000us, 23'000us, 12'340'000us});
    state.tracks.push_back({MediaKind::video, media::TrackId{3}, true, false, 0us, 0us, std::nullopt});
    state.muxers = {{1, 2, 3}, {}};
    state.frames_before = UINT64_MAX;
    return state;
}

TEST(SegmentSync, ReadsWhatItWrote) {
    const SegmentSync begins{UINT64_MAX - 1, 8, full_state(), {57, 2, UINT64_MAX}};
    const auto read = read_segment_sync(write_segment_sync(begins));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, begins);

    const SegmentSync ends{9, 8, SegmentsEnded{58, 77}, {}};
    EXPECT_EQ(write_segment_sync(ends), "1 9 8 0 58 77 0");
    EXPECT_EQ(*read_segment_sync("1 9 8 0 58 77 0"), ends);
}

TEST(SegmentSync, RefusesTruncatedTexts) {
    const std::string text = write_segment_sync({1, 8, full_state(), {4, 5}});
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
        if (text[bytes] == ' ') {  // elsewhere the rest is another valid number
            EXPECT_FALSE(read_segment_sync(text.substr(0, bytes)).ok()) << bytes;
        }
}

TEST(SegmentSync, RefusesNumbersOutOfRange) {
    for (const char* text : {"", " ", "1", "2 9 8 0 58 77 0", "1 9 8 2 58 77 0", "1 9 8 0 58 77 1", "1 9 8 0 58 77 0 0",
                             "1 9 8 0 -58 77 0", "1 9 8 0 58 77 99999", "1 9 8 0 9007199254740993 77 0",
                             "1 9 8 0 58 99999999999999999999 0", "1 9 8 0 58  77 0", "1 9 8 0 58 77 0 "})
        EXPECT_FALSE(read_segment_sync(text).ok()) << text;
    // A flag that is neither 0 nor 1, and more tracks than the limit.
    EXPECT_FALSE(read_segment_sync("1 9 8 1 5 2 0 0 0 0 0 0 0 0 0 0 0").ok());
    EXPECT_TRUE(read_segment_sync("1 9 8 1 5 1 0 0 0 0 0 0 0 0 0 0 0").ok());
    EXPECT_FALSE(read_segment_sync("1 9 8 1 5 1 0 0 0 0 0 0 0 33 0 0 0").ok());
}

}  // namespace
}  // namespace live::service::segments
