#include "wire/mp4/read/segment_map.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/read/box_head.hpp"
#include "wire/mp4/read/recorded_files_fixture.hpp"
#include "wire/scte35/splice_info.hpp"

namespace live::wire::mp4 {
namespace {

ReadAt map_reader_of(const FileBytes& file) {
    return [&file](std::uint64_t offset, std::size_t count) { return piece_of(file, offset, count); };
}

SegmentMap map_of(const FileBytes& file) {
    auto map = MUST(SegmentMap::open(file.size(), map_reader_of(file)));
    while (!MUST(map.extend(file.size(), map_reader_of(file), 1))) {
    }
    return map;
}

TEST(SegmentMap, SegmentsBeginWithKeyFramesAndFollowEachOther) {
    for (const FileBytes& file : {recorded(7), reordered(7)}) {
        const SegmentMap map = map_of(file);
        ASSERT_EQ(map.segments().size(), 3u);
        ASSERT_TRUE(map.rest());
        std::vector<MappedSegment> all = map.segments();
        all.push_back(*map.rest());
        std::uint64_t place = map.header().bytes;
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i].start, i * 2s) << i;
            EXPECT_EQ(all[i].duration, i < 3 ? 2s : 1s) << i;
            EXPECT_EQ(all[i].offset, place) << i;
            place += all[i].bytes;
        }
        EXPECT_EQ(place, file.size());
    }
    EXPECT_EQ(map_of(reordered(2)).delay(), 40ms);
}

TEST(SegmentMap, SegmentsEndAtSplices) {
    const auto section = [](bool out) {
        scte35::SpliceInsert insert{.event_id = 7, .out_of_network = out, .immediate = true};
        if (out)
            insert.duration = scte35::BreakDuration{true, 2 * 90'000};
        return scte35::write_splice_info({.command = scte35::Command::splice_insert, .insert = insert});
    };
    const auto starts_of = [](const FileBytes& file) {
        const SegmentMap map = map_of(file);
        std::vector<MediaTime> starts;
        for (const MappedSegment& segment : map.segments())
            starts.push_back(segment.start);
        starts.push_back(map.rest()->start);
        return starts;
    };
    const FileBytes plain = recorded(8, {avc_track(), aac_track()}, {}, 25);
    // A break from 3 s to 5 s, announced a second earlier; and one that is announced with its frame, not at a key frame.
    const FileBytes late = recorded(10, {avc_track(), aac_track()}, 40ms, 25);
    EXPECT_EQ(starts_of(with_event(late, 2, kSpliceScheme, 3s + 40ms, section(true))),
              (std::vector<MediaTime>{0s, 2s, 3s, 5s, 7s, 9s}));
    EXPECT_EQ(starts_of(with_event(plain, 3, kSpliceScheme, 3s, section(false))), (std::vector<MediaTime>{0s, 2s, 3s, 5s, 7s}));
    EXPECT_EQ(starts_of(with_event(plain, 2, kSpliceScheme, 2'500ms, section(false))),
              (std::vector<MediaTime>{0s, 2s, 3s, 5s, 7s}));
    EXPECT_EQ(starts_of(with_event(plain, 6, kSpliceScheme, 3s, section(false))), (std::vector<MediaTime>{0s, 2s, 4s, 6s}))
        << "the segment is listed already";
}

TEST(SegmentMap, FollowsAFileThatGrows) {
    const FileBytes whole = recorded(8);
    const SegmentMap all = map_of(whole);
    std::optional<SegmentMap> map;
    for (std::size_t size = 1; size <= whole.size(); size += 41) {
        const FileBytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        if (!map) {
            auto opened = SegmentMap::open(size, map_reader_of(part));
            if (opened.ok() && opened->header().has_fragments)
                map = *std::move(opened);
        }
        if (map) {
            EXPECT_TRUE(MUST(map->extend(size, map_reader_of(part), 100)));
        }
    }
    ASSERT_TRUE(map);
    MUST(map->extend(whole.size(), map_reader_of(whole), 100));
    EXPECT_EQ(map->segments(), all.segments());
    EXPECT_EQ(map->rest(), all.rest());
}

TEST(SegmentMap, MovesFragmentsInTime) {
    FileBytes file = recorded(4);
    const SegmentMap map = map_of(file);
    const std::uint64_t place = map.segments().front().offset;
    const auto size = static_cast<std::size_t>(MUST(read_box_head_of(Bytes(file).subspan(place))).size);
    const auto before = fragment_samples(file);
    MUST(move_in_time(MutBytes(file).subspan(place, size), map.header(), 10s));
    const auto after = fragment_samples(file);
    EXPECT_EQ(after.at(1)[0].tick, before.at(1)[0].tick + 900'000);
    EXPECT_EQ(after.at(2)[0].tick, before.at(2)[0].tick + 441'000);
    EXPECT_EQ(after.at(1)[25].tick, before.at(1)[25].tick) << "the next fragment";
    MUST(move_in_time(MutBytes(file).subspan(place, size), map.header(), -20s));
    EXPECT_EQ(fragment_samples(file).at(1)[0].tick, 0u);
    for (std::size_t cut = 0; cut < size; ++cut)
        EXPECT_FALSE(move_in_time(MutBytes(file).subspan(place, cut), map.header(), 1s).ok());
}

TEST(SegmentMap, KeepsLinesOfSubtitles) {
    ByteWriter boxes;
    write_event_message(boxes, cue_at(5s, 1'500ms, "en", hex("41")));
    write_event_message(boxes, cue_at(5s, 0s, "en", hex("42")));
    const FileBytes file = with_bytes(recorded(7), 2, boxes.written());
    const SegmentMap map = map_of(file);
    ASSERT_EQ(map.cues().size(), 1u) << "the other one is never shown";
    EXPECT_EQ(map.cues()[0].at, 5s);
    EXPECT_EQ(map.cues()[0].duration, 1'500ms);
    EXPECT_EQ(map.cues()[0].language, "en");
    EXPECT_EQ(map.cues()[0].text, "A");
    EXPECT_GT(map.memory_bytes(), map_of(recorded(7)).memory_bytes());
    // Every prefix has those that are in it.
    std::size_t cues = 0;
    for (std::size_t cut = 0; cut <= file.size(); cut += 7) {
        const FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut));
        auto opened = SegmentMap::open(cut, map_reader_of(part));
        if (!opened.ok() || !opened->header().has_fragments)
            continue;
        MUST(opened->extend(cut, map_reader_of(part), 100));
        EXPECT_GE(opened->cues().size(), cues);
        cues = opened->cues().size();
    }
    EXPECT_EQ(cues, 1u);
}

TEST(SegmentMap, KeepsABoundedNumberOfLines) {
    ByteWriter boxes;
    for (int i = 0; i < 200; ++i)
        write_event_message(boxes, cue_at(1s, 1s, "", hex("41")));
    FileBytes file = recorded(120);
    for (std::size_t fragment = 0; fragment < 110; ++fragment)
        file = with_bytes(std::move(file), fragment, boxes.written());
    EXPECT_EQ(map_of(file).cues().size(), SegmentMap::kCuesMax);
}

TEST(SegmentMap, EventsBelongToTheSegmentAfterThem) {
    const FileBytes plain = recorded(7);
    FileBytes file = with_event(plain, 2, kSpliceScheme, 2'500ms, hex("fc3000"));
    file = with_event(file, 3, kId3Scheme, 3s, hex("494433"));
    file = with_event(file, 0, kSpliceScheme, 0s, hex("fc3001"));
    const SegmentMap map = map_of(file);
    ASSERT_TRUE(map.header().has_fragments);
    ASSERT_EQ(map.splices().size(), 2u);
    EXPECT_EQ(map.splices()[1].at, 2'500ms);
    EXPECT_EQ(map.splices()[1].section, hex("fc3000"));
    ASSERT_EQ(map.segments().size(), 3u);
    std::uint64_t place = map.header().bytes;
    for (const MappedSegment& segment : map.segments()) {
        EXPECT_EQ(segment.offset, place);
        place += segment.bytes;
    }
    const auto second = static_cast<std::size_t>(map.segments()[1].offset);
    const auto size = static_cast<std::size_t>(map.segments()[1].bytes);
    const auto events = events_in(Bytes(file).subspan(second, size));
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(time_of(events[0]), 2'500ms);
    // The event and the fragment after it.
    const auto box = static_cast<std::size_t>(MUST(read_box_head_of(Bytes(file).subspan(second))).size);
    const auto fragment = static_cast<std::size_t>(MUST(read_box_head_of(Bytes(file).subspan(second + box))).size);
    MUST(move_in_time(MutBytes(file).subspan(second, box + fragment), map.header(), 10s));
    EXPECT_EQ(time_of(events_in(Bytes(file).subspan(second, size)).at(0)), 12'500ms);
    EXPECT_EQ(time_of(events_in(Bytes(file).subspan(second, size)).at(1)), 3s) << "of the next fragment";
    EXPECT_FALSE(move_in_time(MutBytes(file).subspan(second, box), map.header(), 1s).ok()) << "an event alone";
    // Every prefix has the splices that are in it.
    std::size_t splices = 0;
    for (std::size_t cut = 0; cut <= file.size(); cut += 7) {
        const FileBytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut));
        auto opened = SegmentMap::open(cut, map_reader_of(part));
        if (!opened.ok())
            continue;
        MUST(opened->extend(cut, map_reader_of(part), 100));
        ASSERT_GE(opened->splices().size(), splices);
        splices = opened->splices().size();
    }
    EXPECT_EQ(splices, 2u);
}

}  // namespace
}  // namespace live::wire::mp4
