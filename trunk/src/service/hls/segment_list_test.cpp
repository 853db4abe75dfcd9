#include "service/hls/segment_list.hpp"

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"
#include "wire/hls/playlist.hpp"

namespace live::service::hls {
namespace {

using Form = SegmentList::Form;
using Wait = SegmentList::Wait;

segments::FileRef file(std::size_t bytes) {
    auto made = std::make_shared<segments::File>(segments::StreamOfFilesRef(), std::make_shared<files::CopyBudget>());
    made->add(std::make_shared<const std::vector<std::uint8_t>>(bytes));
    made->end();
    return made;
}

ListedSegment segment(std::uint64_t number, MediaTime duration, bool discontinuity = false) {
    ListedSegment made;
    made.name = {"/d/a-" + std::to_string(number) + ".ts", "a-" + std::to_string(number) + ".ts", ""};
    made.duration = duration;
    made.discontinuity = discontinuity;
    made.file = file(1'000);
    made.bytes = 1'000;
    return made;
}

ListedPart part(std::uint64_t number, std::size_t index) {
    return {{"", "a-" + std::to_string(number) + "." + std::to_string(index) + ".ts", ""}, 200ms, index == 0, file(100)};
}

TEST(SegmentList, WritesThePlaylistOfTheDocument) {
    SegmentList list({.target = 3s, .window = 60s, .low_latency = false});
    for (std::uint64_t number = 0; number < 2; ++number) {
        EXPECT_EQ(list.next_number(), number);
        list.add(segment(number, number == 0 ? 3'336ms : 3'003ms, number == 0));
    }
    EXPECT_EQ(wire::hls::write_media_playlist(list.playlist(Form::players)),
              "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-TARGETDURATION:4\n"
              "#EXT-X-DISCONTINUITY\n"
              "#EXTINF:3.336, no desc\na-0.ts\n#EXTINF:3.003, no desc\na-1.ts\n");
}

TEST(SegmentList, RemovesTheOldestWhileTheWindowIsFull) {
    SegmentList list({.target = 2s, .window = 6s, .low_latency = false});
    for (std::uint64_t number = 0; number < 10; ++number)
        list.add(segment(number, 2s, number == 0 || number == 2));
    const auto playlist = list.playlist(Form::players);
    EXPECT_EQ(playlist.media_sequence, 7U);
    EXPECT_EQ(playlist.segments.size(), 3U);
    EXPECT_EQ(playlist.discontinuity_sequence, 2U);
}

TEST(SegmentList, KeepsOneSegmentInASmallWindow) {
    SegmentList list({.target = 2s, .window = 0s, .low_latency = false});
    for (std::uint64_t number = 0; number < 3; ++number)
        list.add(segment(number, 2s));
    EXPECT_EQ(list.listed().size(), 1U);
}

TEST(SegmentList, RemovesTheOldestAboveTheByteLimit) {
    SegmentList list({.target = 1s, .window = 60s, .bytes = 3'000, .low_latency = false});
    for (std::uint64_t number = 0; number < 3; ++number)
        list.add(segment(number, 100ms));
    EXPECT_EQ(list.listed().size(), 3U);
    EXPECT_FALSE(list.is_cut_by_bytes()) << "at the bound";
    list.add(segment(3, 100ms));
    EXPECT_TRUE(list.is_cut_by_bytes());
    EXPECT_EQ(list.listed().size(), 3U);
    EXPECT_EQ(list.bytes(), 3'000U) << "retired segments are on disk only";
    ASSERT_NE(list.find(0), nullptr);
    EXPECT_TRUE(list.find(0)->file->blocks().empty());
    ListedSegment large = segment(4, 100ms);
    large.file = file(5'000);
    list.add(std::move(large));
    EXPECT_EQ(list.listed().size(), 1U);
    EXPECT_EQ(list.bytes(), 5'000U) << "the newest is kept";
}

TEST(SegmentList, FreesRetiredSegmentsFirst) {
    SegmentList list({.target = 1s, .window = 2s, .bytes = 3'000, .low_latency = false});
    for (std::uint64_t number = 0; number < 5; ++number)
        list.add(segment(number, 1s));
    EXPECT_EQ(list.listed().size(), 2U);
    EXPECT_FALSE(list.is_cut_by_bytes());
    EXPECT_TRUE(list.find(1)->file->blocks().empty());
    EXPECT_FALSE(list.find(2)->file->blocks().empty());
    EXPECT_EQ(list.take_dropped_blocks().size(), 2U) << "of the first two";
    list.take_all();
    EXPECT_EQ(list.take_dropped_blocks().size(), 3U);
}

// RFC 8216, 6.2.2: the segment's duration plus that of the longest playlist that contained it.
TEST(SegmentList, KeepsRetiredSegmentsForLatePlayers) {
    SegmentList list({.target = 2s, .window = 6s, .low_latency = false});
    std::size_t expired = 0;
    for (std::uint64_t number = 0; number < 8; ++number) {
        list.add(segment(number, 2s));
        for (const ListedSegment& gone : list.take_expired())
            EXPECT_EQ(gone.number, expired++);
    }
    EXPECT_EQ(list.listed().front().number, 5U);
    EXPECT_EQ(expired, 0U) << "0 left 8 s ago, when 3 was added; its list was 8 s long";
    list.add(segment(8, 2s));
    EXPECT_EQ(list.take_expired().size(), 1U);
    ASSERT_NE(list.find(5), nullptr);
    EXPECT_FALSE(list.find(5)->file->blocks().empty());
    ASSERT_NE(list.find(1), nullptr);
    EXPECT_TRUE(list.find(1)->file->blocks().empty()) << "on the disk only";
    EXPECT_EQ(list.find(0), nullptr);
    EXPECT_EQ(list.find(9), nullptr);
}

TEST(SegmentList, TakesTheTargetDurationFromTheLongestSegment) {
    SegmentList list({.target = 2s, .window = 4s, .low_latency = false});
    EXPECT_EQ(list.target_duration(), 2s);
    list.add(segment(0, 4'001ms));
    EXPECT_EQ(list.target_duration(), 5s);
    for (std::uint64_t number = 1; number < 4; ++number)
        list.add(segment(number, 2s));
    EXPECT_EQ(list.target_duration(), 2s);
}

TEST(SegmentList, ContinuesARecoveredList) {
    SegmentList list({.target = 2s, .window = 6s, .low_latency = false});
    std::vector<ListedSegment> before = {segment(0, 2s), segment(0, 2s)};
    for (ListedSegment& one : before)
        one.file.reset();
    list.recover(std::move(before), 7, 3);
    list.add(segment(9, 2s, true));
    const auto playlist = list.playlist(Form::disk);
    EXPECT_EQ(playlist.media_sequence, 7U);
    EXPECT_EQ(playlist.discontinuity_sequence, 3U);
    ASSERT_EQ(playlist.segments.size(), 3U);
    EXPECT_TRUE(playlist.segments[2].discontinuity);
}

TEST(SegmentList, MarksAGapOnDiskOnly) {
    SegmentList list({});
    list.add(segment(0, 2s));
    list.mark_gap(0);
    EXPECT_TRUE(list.playlist(Form::disk).segments[0].gap);
    EXPECT_FALSE(list.playlist(Form::players).segments[0].gap);
}

TEST(SegmentList, MarksASegmentWithoutFramesAsAGap) {
    SegmentList list({});
    ListedSegment nothing = segment(0, 2s);
    nothing.absent = true;
    list.add(std::move(nothing));
    EXPECT_TRUE(list.playlist(Form::players).segments[0].gap);
}

class LowLatencyList : public testing::Test {
protected:
    void SetUp() override {
        for (std::uint64_t number = 0; number < 12; ++number)
            add(number);
        list_.begin_open({.name = {"", "a-12.ts", ""}});
        list_.add_part(part(12, 0));
        list_.add_part(part(12, 1));
        list_.set_hint("a-12.2.ts");
    }
    void add(std::uint64_t number) {
        list_.begin_open({.name = {"", "", ""}});
        for (std::size_t i = 0; i < 5; ++i)
            list_.add_part(part(number, i));
        list_.add(segment(number, 1s));
    }

    SegmentList list_{{.target = 1s, .window = 20s, .low_latency = true}};
};

TEST_F(LowLatencyList, ListsPartsOfTheLastThreeTargetsAndAHint) {
    const auto playlist = list_.playlist(Form::players);
    ASSERT_TRUE(playlist.low_latency);
    EXPECT_EQ(playlist.low_latency->part_target, 200ms);
    EXPECT_EQ(playlist.low_latency->can_skip_until, 6s);
    EXPECT_EQ(playlist.low_latency->open.parts.size(), 2U);
    EXPECT_EQ(playlist.low_latency->hint, "a-12.2.ts");
    EXPECT_EQ(playlist.segments[8].parts.size(), 0U);
    EXPECT_EQ(playlist.segments[9].parts.size(), 5U);
    EXPECT_FALSE(list_.playlist(Form::disk).low_latency);
}

TEST_F(LowLatencyList, ServesPartsAfterTheyWereListed) {
    for (std::uint64_t number = 0; number < 13; ++number)
        EXPECT_EQ(list_.serves_parts_of(number), number >= 6) << number;
    EXPECT_FALSE(list_.serves_parts_of(13));
    list_.retire_all();
    EXPECT_FALSE(list_.serves_parts_of(11));
}

// A publisher's gap of several seconds must not add that much latency to its players forever.
TEST_F(LowLatencyList, CountsAnOutlierWhileItIsListed) {
    ListedPart slow = part(12, 2);
    slow.duration = 250ms;
    list_.add_part(slow);
    EXPECT_EQ(list_.part_target(), 250ms);
    ListedPart hole = part(12, 3);
    hole.duration = 8s;
    list_.add_part(hole);
    EXPECT_EQ(list_.playlist(Form::players).low_latency->part_target, 8s);
    list_.add(segment(12, 9s));
    for (std::uint64_t number = 13; number < 13 + 30; ++number)
        add(number);
    EXPECT_EQ(list_.playlist(Form::players).low_latency->part_target, 250ms);
}

// The playlist has the maximum duration of a part. A shorter first part does not lower it.
TEST_F(LowLatencyList, UsesTheIntendedPartTargetFromTheFirstPart) {
    SegmentList list({.target = 1s, .window = 20s, .low_latency = true});
    EXPECT_FALSE(list.playlist(Form::players).low_latency);
    list.begin_open({.name = {"", "a-0.ts", ""}});
    ListedPart short_one = part(0, 0);
    short_one.duration = 187ms;
    list.add_part(short_one);
    EXPECT_EQ(list.part_target(), 200ms);
}

TEST_F(LowLatencyList, DeltaSkipsSegmentsBeforeTheBoundary) {
    const auto delta = list_.playlist(Form::delta);
    EXPECT_EQ(delta.skipped, 6U);
    EXPECT_EQ(delta.media_sequence, 0U);
}

TEST_F(LowLatencyList, AnswersBlockedRequests) {
    EXPECT_EQ(list_.wait_for(11, {}), Wait::ready);
    EXPECT_EQ(list_.wait_for(11, 4), Wait::ready);
    EXPECT_EQ(list_.wait_for(11, 5), Wait::ready) << "the first part of 12 exists";
    EXPECT_EQ(list_.wait_for(12, 1), Wait::ready);
    EXPECT_EQ(list_.wait_for(12, 2), Wait::later);
    EXPECT_EQ(list_.wait_for(12, {}), Wait::later);
    EXPECT_EQ(list_.wait_for(13, 0), Wait::later);
    EXPECT_EQ(list_.wait_for(14, {}), Wait::never);
    list_.add(segment(12, 1s));
    EXPECT_EQ(list_.wait_for(12, {}), Wait::ready);
    EXPECT_EQ(list_.wait_for(12, 2), Wait::later) << "it had two: this is the first part of 13";
    list_.set_ended(true);
    EXPECT_EQ(list_.wait_for(14, {}), Wait::ready);
    EXPECT_EQ(list_.playlist(Form::players).low_latency->hint, "");
}

// A day of two-second segments (eight hours by day).
TEST(SegmentList, KeepsMemoryFlatForADay) {
    SegmentList list({.target = 2s, .window = 60s, .low_latency = false});
    std::size_t most = 0;
    std::uint64_t expired = 0;
    const std::uint64_t segments = rounds(8U, 24U) * 3'600 / 2;
    for (std::uint64_t number = 0; number < segments; ++number) {
        list.add(segment(number, 2s, number % 1'000 == 0));
        for (const ListedSegment& gone : list.take_expired())
            ASSERT_EQ(gone.number, expired++);
        most = std::max(most, list.bytes());
    }
    EXPECT_EQ(most, (30 + SegmentList::kRetiredInMemory) * 1'000U);
    const auto playlist = list.playlist(Form::players);
    EXPECT_EQ(playlist.media_sequence, segments - 30);
    EXPECT_EQ(playlist.discontinuity_sequence, (segments - 30 + 999) / 1'000);
    EXPECT_GT(expired, segments - 100);
}

}  // namespace
}  // namespace live::service::hls
