#include "service/hls/timed/date_ranges.hpp"

#include <string>

#include <gtest/gtest.h>

#include "wire/scte35/splice_info.hpp"

namespace live::service::hls {
namespace {

namespace scte = wire::scte35;

media::TimedEvent marker(bool is_out, MediaTime at, std::uint32_t id = 7, std::optional<std::uint64_t> ticks = {},
                         bool returns = false) {
    scte::SpliceInsert insert{.event_id = id, .out_of_network = is_out, .immediate = true};
    if (ticks)
        insert.duration = scte::BreakDuration{returns, *ticks};
    const auto section = scte::write_splice_info({.command = scte::Command::splice_insert, .insert = insert});
    return {.kind = media::TimedEvent::Kind::splice, .at = at, .data = Slice::copy_of(section)};
}

std::optional<UtcTime> date_of_ranges(MediaTime at) {
    return UtcTime(1'000s) + std::chrono::floor<std::chrono::milliseconds>(at);
}

// Segments of 2 s from 0 s on.
wire::hls::MediaPlaylist described(DateRanges& ranges, MediaTime first = {}) {
    ranges.set_dates(date_of_ranges);
    wire::hls::MediaPlaylist playlist;
    for (int i = 0; i < 8; ++i) {
        playlist.segments.emplace_back().duration = 2s;
        playlist.segments.back().date = date_of_ranges(first + 2s * i);
    }
    ranges.describe(playlist, true);
    return playlist;
}

std::string cues_text(const wire::hls::MediaPlaylist& playlist) {
    std::string text;
    for (const auto& segment : playlist.segments)
        text += !segment.cue ? '-' : "OMI"[static_cast<int>(segment.cue->kind)];
    return text;
}

TEST(DateRanges, ABreakHasBothEnds) {
    DateRanges ranges;
    ranges.add(marker(true, 4'080ms, 7, 360'000), 80ms);
    ranges.add(marker(true, 4'081ms, 7, 360'000), 80ms);  // repeated
    ranges.add(marker(false, 8'080ms), 80ms);
    ranges.add(marker(false, 8'081ms), 80ms);
    const auto playlist = described(ranges);
    ASSERT_EQ(playlist.date_ranges.size(), 1u);
    const auto& range = playlist.date_ranges[0];
    EXPECT_EQ(range.id, "7-4000");
    EXPECT_EQ(range.start, *date_of_ranges(4s));
    EXPECT_EQ(range.end, date_of_ranges(8s));
    EXPECT_EQ(range.planned, 4s);
    EXPECT_EQ(cues_text(playlist), "--OMI---");
    const std::string text = wire::hls::write_media_playlist(playlist);
    EXPECT_NE(
        text.find("#EXT-X-DATERANGE:ID=\"7-4000\",START-DATE=\"1970-01-01T00:16:44.000Z\",PLANNED-DURATION=4,SCTE35-OUT=0xFC"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("END-DATE=\"1970-01-01T00:16:48.000Z\",DURATION=4,SCTE35-IN=0xFC"), std::string::npos) << text;
    EXPECT_NE(text.find("#EXT-X-CUE-OUT:4\n"), std::string::npos) << text;
    EXPECT_NE(text.find("#EXT-X-CUE-OUT-CONT:2/4\n"), std::string::npos) << text;
}

TEST(DateRanges, ABreakThatReturnsEndsByItself) {
    DateRanges ranges;
    ranges.add(marker(true, 4s, 7, 360'000, true), {});
    EXPECT_EQ(cues_text(described(ranges)), "--OMI---");
    EXPECT_EQ(described(ranges, 8s).date_ranges.size(), 1u);
    EXPECT_TRUE(described(ranges, 9s).date_ranges.empty());
    EXPECT_EQ(cues_text(described(ranges, 8s)), "I-------") << "the segments of the break have left the list";
    EXPECT_EQ(cues_text(described(ranges, 9s)), "--------");
}

TEST(DateRanges, OneMoreThanTheMostDisplacesTheOldest) {
    DateRanges ranges;
    for (std::uint32_t i = 0; i < DateRanges::kMax; ++i)
        EXPECT_EQ(ranges.add(marker(true, 1s * i, i), {}), 0u);
    EXPECT_EQ(ranges.add(marker(true, 0s, 0), {}), 0u) << "repeated";
    EXPECT_EQ(ranges.add(marker(true, 40s, 100), {}), 1u);
    const auto playlist = described(ranges);
    EXPECT_EQ(playlist.date_ranges.size(), DateRanges::kMax);
    EXPECT_EQ(playlist.date_ranges.front().id, "1-1000");
}

TEST(DateRanges, RangesThatAreOverMakeRoom) {
    DateRanges ranges;
    for (std::uint32_t i = 0; i < 2 * DateRanges::kMax; ++i) {
        EXPECT_EQ(ranges.add(marker(true, 4s * i, i, 90'000, true), {}), 0u) << i;
        described(ranges);
        ranges.forget_before(*date_of_ranges(4s * i - 20s));
    }
    ranges.forget_before(*date_of_ranges(254s));
    EXPECT_EQ(described(ranges, 240s).date_ranges.size(), 1u) << "the tags of a break that has just ended need it";
    ranges.forget_before(*date_of_ranges(255s));
    EXPECT_TRUE(described(ranges, 240s).date_ranges.empty());
}

TEST(DateRanges, AnOpenBreakCanBeDroppedAndReturns) {
    DateRanges ranges;
    ranges.add(marker(true, 2s, 6), {});
    ranges.add(marker(false, 3s, 6), {});
    ranges.add(marker(true, 4s), {});
    const std::string id = described(ranges).date_ranges.at(1).id;
    ranges.drop_open();
    EXPECT_EQ(described(ranges).date_ranges.size(), 1u);
    ranges.add(marker(true, 4s), {});
    EXPECT_EQ(described(ranges).date_ranges.at(1).id, id);
}

TEST(DateRanges, ABreakLastsUntilItsReturn) {
    DateRanges ranges;
    ranges.add(marker(true, 4s), {});
    EXPECT_EQ(cues_text(described(ranges)), "--OMMMMM");
    EXPECT_EQ(cues_text(described(ranges, 6s)), "MMMMMMMM");
    ranges.add(marker(false, 10s, 8), {});  // of another event
    EXPECT_EQ(cues_text(described(ranges)), "--OMMI--");
}

TEST(DateRanges, AReturnWithoutABreakHasARangeOfItsOwn) {
    DateRanges ranges;
    ranges.add(marker(false, 4s), {});
    const auto playlist = described(ranges);
    ASSERT_EQ(playlist.date_ranges.size(), 1u);
    EXPECT_TRUE(playlist.date_ranges[0].out.empty());
    EXPECT_EQ(cues_text(playlist), "--------");
}

TEST(DateRanges, WaitsForDatesAndHasALimit) {
    DateRanges ranges;
    ranges.add(marker(true, 4s), {});
    ranges.set_dates([](MediaTime) { return std::optional<UtcTime>(); });
    wire::hls::MediaPlaylist playlist;
    ranges.describe(playlist, true);
    EXPECT_TRUE(playlist.date_ranges.empty());
    for (std::uint32_t i = 0; i < 2 * DateRanges::kMax; ++i)
        ranges.add(marker(true, 4s + 2s * i, i), {});
    EXPECT_EQ(described(ranges).date_ranges.size(), DateRanges::kMax);
    ranges.clear();
    EXPECT_TRUE(described(ranges).date_ranges.empty());
}

}  // namespace
}  // namespace live::service::hls
