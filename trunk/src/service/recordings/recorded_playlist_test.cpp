#include "service/recordings/recorded_playlist.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/read/recorded_files_fixture.hpp"
#include "wire/scte35/splice_info.hpp"

namespace live::service::recordings {
namespace {

namespace mp4 = wire::mp4;
using End = RecordedPlaylist::End;

constexpr WallTime kBegun(std::chrono::seconds(1'764'417'600));

mp4::SegmentMap map_of(const mp4::FileBytes& file) {
    const ReadAt read = [&file](std::uint64_t offset, std::size_t count) { return mp4::piece_of(file, offset, count); };
    auto map = MUST(mp4::SegmentMap::open(file.size(), read));
    while (!MUST(map.extend(file.size(), read, 100))) {
    }
    return map;
}

RecordingFile file_at_time(MediaTime start, MediaTime duration, bool is_open = false) {
    return {.path = "a.mp4", .start = kBegun + start, .duration = duration, .is_open = is_open};
}

RecordedPlaylist playlist(WallTime start, WallTime end, End kind = End::complete,
                          RecordedPlaylist::Cues cues = RecordedPlaylist::Cues::none) {
    return {GetAddress{"/get", "path=live%2Fcam"}, start, end, kind, cues};
}

std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

TEST(RecordedPlaylist, FilesOfOnePublisherAreOneTimeline) {
    const auto map = map_of(mp4::recorded(4));
    auto list = playlist(kBegun + 1s, kBegun + 7s);
    list.add(file_at_time(0s, 4s), map);
    list.add(file_at_time(4s, 4s), map);
    ASSERT_EQ(list.segments(), 4u);
    const std::string text = list.head() + list.lines(0, 100);
    EXPECT_TRUE(text.starts_with("#EXTM3U\n"));
    EXPECT_NE(text.find("#EXT-X-START:TIME-OFFSET=1.000,PRECISE=YES\n"), std::string::npos);
    EXPECT_EQ(count_of(text, "#EXT-X-MAP:URI=\"/get.mp4?path=live%2Fcam&start="), 1u);
    EXPECT_EQ(count_of(text, "DISCONTINUITY"), 0u);
    EXPECT_EQ(count_of(text, "&at=0\n"), 2u);
    EXPECT_EQ(count_of(text, "&at=4000000\n"), 2u);
    EXPECT_EQ(count_of(text, "#EXTINF:2.000000,\n/get.m4s?"), 4u);
    EXPECT_TRUE(text.ends_with("#EXT-X-ENDLIST\n"));
    std::string portions;
    for (std::size_t i = 0; i < 4; ++i)
        portions += list.lines(i, 1);
    EXPECT_EQ(portions, list.lines(0, 100));
}

TEST(RecordedPlaylist, GapsAndOtherFormatsAreDiscontinuities) {
    mp4::TrackFormat other = mp4::avc_track();
    other.sample_entry.back() ^= 1;
    auto list = playlist(kBegun, kBegun + 60s);
    list.add(file_at_time(0s, 4s), map_of(mp4::recorded(4)));
    list.add(file_at_time(9s, 4s), map_of(mp4::recorded(4)));
    list.add(file_at_time(13s, 4s), map_of(mp4::recorded(4, {other, mp4::aac_track()})));
    const std::string text = list.lines(0, 100);
    EXPECT_EQ(count_of(text, "#EXT-X-DISCONTINUITY\n"), 2u);
    EXPECT_EQ(count_of(text, "#EXT-X-MAP"), 2u);
    EXPECT_EQ(count_of(text, "&at=9000000\n"), 2u);
    EXPECT_EQ(count_of(text, "&at=13000000\n"), 2u);
}

TEST(RecordedPlaylist, OverlappingFilesFollowEachOther) {
    const auto map = map_of(mp4::recorded(4));
    auto list = playlist(kBegun, kBegun + 60s);
    list.add(file_at_time(0s, 4s), map);
    list.add(file_at_time(3'700ms, 4s), map);
    EXPECT_EQ(count_of(list.lines(0, 100), "&at=4000000\n"), 2u);
}

TEST(RecordedPlaylist, GrowsAtItsEndOnly) {
    const auto map = map_of(mp4::recorded(5));
    auto list = playlist(kBegun, kBegun + 600s, End::growing);
    list.add(file_at_time(0s, 5s, true), map);
    EXPECT_EQ(list.segments(), 2u) << "the third is not complete";
    auto later = playlist(kBegun, kBegun + 600s, End::growing);
    later.add(file_at_time(0s, 5s), map);
    EXPECT_EQ(later.segments(), 3u);
    EXPECT_TRUE(later.lines(0, 100).starts_with(list.lines(0, 100)));
    EXPECT_EQ(later.head(), list.head());
    EXPECT_NE(list.head().find("PLAYLIST-TYPE:EVENT"), std::string::npos);
    auto none = playlist(kBegun + 50s, kBegun + 60s);
    none.add(file_at_time(0s, 5s), map);
    EXPECT_EQ(none.segments(), 0u);
}

TEST(RecordedPlaylist, SubtitlesHaveTheSegmentsOfTheMedia) {
    ByteWriter boxes;
    mp4::write_event_message(boxes, mp4::cue_at(3s, 2s, "EN", as_bytes(std::string_view("a < b\n\nc"))));
    mp4::write_event_message(boxes, mp4::cue_at(5s, 500ms, "", as_bytes(std::string_view("other"))));
    const auto map = map_of(mp4::with_bytes(mp4::recorded(8), 1, boxes.written()));
    auto media = playlist(kBegun + 4s, kBegun + 60s);
    media.add(file_at_time(0s, 8s), map);
    media.add(file_at_time(20s, 8s), map);
    EXPECT_EQ(media.languages(), (std::vector<std::string>{"en", ""}));
    auto late = playlist(kBegun + 5s, kBegun + 60s);
    late.add(file_at_time(0s, 8s), map);
    EXPECT_EQ(late.languages(), std::vector<std::string>{""}) << "the line in English is over";
    RecordedPlaylist text(GetAddress{"/get", "path=live%2Fcam"}, kBegun + 4s, kBegun + 60s, End::complete,
                          RecordedPlaylist::Cues::tags, "en");
    text.add(file_at_time(0s, 8s), map);
    text.add(file_at_time(20s, 8s), map);
    const std::string lines = text.lines(0, 100);
    EXPECT_EQ(text.segments(), media.segments());
    EXPECT_EQ(count_of(lines, "#EXT-X-MAP"), 0u);
    EXPECT_EQ(count_of(lines, "#EXT-X-DISCONTINUITY"), 1u);
    EXPECT_EQ(count_of(lines, "#EXTINF:2.000000,\n/get.vtt?path=live%2Fcam&start="), 6u) << lines;
    EXPECT_EQ(count_of(lines, "&format=cues&language=en&offset="), 6u);
    // Those of the second file are 20 s later. A line is in both segments that show it.
    const auto shown = [&map](std::size_t segment, const std::string& language) {
        return text_segment(map, map.segments()[segment].offset, 20s, language).value();
    };
    EXPECT_TRUE(shown(0, "en").starts_with("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:1800000,LOCAL:00:00:20.000\n"));
    EXPECT_EQ(count_of(shown(0, "en"), "-->"), 0u);
    for (const std::size_t segment : {1u, 2u})
        EXPECT_EQ(count_of(shown(segment, "en"), "\n00:00:23.000 --> 00:00:25.000\na &lt; b\nc\n"), 1u) << shown(segment, "en");
    EXPECT_EQ(count_of(shown(2, ""), "other"), 1u);
    EXPECT_EQ(count_of(text_segment(map, map.rest()->offset, 0s, "en").value(), "-->"), 0u);
    EXPECT_FALSE(text_segment(map, map.rest()->offset + 1, 0s, "en"));
}

TEST(RecordedPlaylist, BreaksAreDateRanges) {
    namespace scte35 = wire::scte35;
    const auto section = [](bool out) {
        return scte35::write_splice_info(
            {.command = scte35::Command::splice_insert,
             .insert =
                 scte35::SpliceInsert{.event_id = 7,
                                      .out_of_network = out,
                                      .pts = 0,
                                      .duration = out ? std::optional(scte35::BreakDuration{false, 2 * 90'000}) : std::nullopt}});
    };
    auto file = mp4::with_event(mp4::recorded(10), 2, mp4::kSpliceScheme, 2s, section(true));
    const auto map = map_of(mp4::with_event(file, 4, mp4::kSpliceScheme, 4s, section(false)));
    auto list = playlist(kBegun, kBegun + 60s);
    list.add(file_at_time(0s, 10s), map);
    const std::string text = list.head();
    EXPECT_EQ(count_of(text, "#EXT-X-DATERANGE:ID=\"7-"), 2u) << text;
    EXPECT_EQ(count_of(text, "START-DATE=\"2025-11-29T12:00:02.000Z\",PLANNED-DURATION=2,SCTE35-OUT=0xFC"), 1u) << text;
    EXPECT_EQ(count_of(text, "END-DATE=\"2025-11-29T12:00:04.000Z\",DURATION=2,SCTE35-IN=0xFC"), 1u) << text;
    EXPECT_EQ(count_of(list.lines(0, 100), "#EXT-X-CUE"), 0u);
    auto later = playlist(kBegun + 3s, kBegun + 60s);
    later.add(file_at_time(0s, 10s), map);
    EXPECT_EQ(count_of(later.head(), "SCTE35-OUT"), 0u) << "it is before the span";
    auto tagged = playlist(kBegun, kBegun + 60s, End::complete, RecordedPlaylist::Cues::tags);
    tagged.add(file_at_time(0s, 10s), map);
    const std::string lines = tagged.lines(0, 100);
    EXPECT_EQ(count_of(lines, "12:00:02.000000Z\n#EXT-X-CUE-OUT:2\n#EXTINF:2.0"), 1u) << lines;
    EXPECT_EQ(count_of(lines, "12:00:04.000000Z\n#EXT-X-CUE-IN\n#EXTINF:2.0"), 1u) << lines;
    EXPECT_EQ(count_of(lines, "#EXT-X-CUE"), 2u);
}

}  // namespace
}  // namespace live::service::recordings
