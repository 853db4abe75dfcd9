#include <gtest/gtest.h>

#include "service/segments/segment_sync.hpp"
#include "service/segments/segmenter_fixture.hpp"
#include "wire/id3/tag.hpp"
#include "wire/mp4/event_message.hpp"
#include "wire/scte35/splice_info.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::service::segments {
namespace {

media::Packet event_packet(media::TimedEvent event, MediaTime sent) {
    media::Packet packet;
    packet.dts = sent;
    packet.payload = media::write_timed_event(event, sent);
    return packet;
}

media::Packet splice_packet(MediaTime at, MediaTime sent) {
    const auto section = wire::scte35::write_splice_info(
        {.command = wire::scte35::Command::time_signal, .segmentations = {{.event_id = 5, .type = 0x34}}});
    return event_packet({.kind = media::TimedEvent::Kind::splice, .at = at, .data = Slice::copy_of(section)}, sent);
}

media::Packet tag_event_packet(MediaTime at, MediaTime sent) {
    return event_packet(
        {.kind = media::TimedEvent::Kind::id3, .at = at, .data = Slice::copy_of(wire::id3::write_text_tag("song", "x"))}, sent);
}

// 10 s, with a key frame each second and two frames of reordering.
template <class EachSecond>
void push_ten_seconds(Segmenter& segmenter, EachSecond&& each_second) {
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    for (int i = 0; i < 250; ++i) {
        if (i % 25 == 0)
            each_second(i / 25);
        segmenter.push(video_packet(40ms * i, i % 25 == 0, 80));
    }
    segmenter.interrupt();
}

std::vector<MediaTime> starts_of(Segmenter& segmenter) {
    Together output;
    output.take(segmenter);
    std::vector<MediaTime> starts;
    for (const OneSegment& one : output.segments)
        starts.push_back(one.start);
    return starts;
}

TEST(SegmenterSplice, CutsAtTheFrameOfTheSplice) {
    Segmenter segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts());
    push_ten_seconds(segmenter, [&](int second) {
        if (second == 1)
            segmenter.push(splice_packet(3'080ms, 1s));
    });
    EXPECT_EQ(starts_of(segmenter), (std::vector<MediaTime>{0s, 2s, 3s, 5s, 7s, 9s}));
}

TEST(SegmenterSplice, WaitsForTheNextKeyFrame) {
    Segmenter segmenter(two_second_cuts(), Segmenter::Layout::together, make_cmaf());
    push_ten_seconds(segmenter, [&](int second) {
        if (second == 2)
            segmenter.push(splice_packet(2'500ms, 2s));
    });
    EXPECT_EQ(starts_of(segmenter), (std::vector<MediaTime>{0s, 2s, 3s, 5s, 7s, 9s}));
}

TEST(SegmenterSplice, ReportsEventsWithTheLeadOfDecoding) {
    Segmenter segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts());
    push_ten_seconds(segmenter, [&](int second) {
        if (second == 3)
            segmenter.push(splice_packet(4s, 3s));
    });
    std::vector<EventFound> found;
    for (const SegmenterEvent& event : segmenter.take())
        if (const auto* one = std::get_if<EventFound>(&event))
            found.push_back(*one);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].event.at, 4s);
    EXPECT_EQ(found[0].lead, 80ms);
}

TEST(SegmenterSplice, TheStateOfASegmentHasItsSplices) {
    Segmenter segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts());
    push_ten_seconds(segmenter, [&](int second) {
        if (second == 1)
            segmenter.push(splice_packet(7'080ms, 1s));
    });
    std::vector<SegmentState> states;
    for (const SegmenterEvent& event : segmenter.take())
        if (const auto* opened = std::get_if<SegmentOpened>(&event))
            states.push_back(opened->state);
    ASSERT_GE(states.size(), 2u);
    EXPECT_TRUE(states[0].splices.empty());
    ASSERT_EQ(states[1].splices.size(), 1u);
    const SegmentSync sync{1, 2, states[1], {3}};
    EXPECT_EQ(read_segment_sync(write_segment_sync(sync)).value(), sync);
    // A node that continues from there cuts in the same places and has the marker.
    Segmenter other(two_second_cuts(), Segmenter::Layout::together, make_ts());
    other.resume(states[1], {config_packet(MediaKind::video, avc_config())});
    for (int i = 50; i < 250; ++i)
        other.push(video_packet(40ms * i, i % 25 == 0, 80));
    std::vector<MediaTime> starts;
    std::vector<EventFound> found;
    for (const SegmenterEvent& event : other.take()) {
        if (const auto* opened = std::get_if<SegmentOpened>(&event))
            starts.push_back(opened->state.at);
        if (const auto* one = std::get_if<EventFound>(&event))
            found.push_back(*one);
    }
    EXPECT_EQ(starts, (std::vector<MediaTime>{2s, 4s, 6s, 7s, 9s}));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].event.at, 7'080ms);
    EXPECT_EQ(found[0].lead, 80ms) << "the date of the marker is that of the origin";
}

TEST(SegmenterSplice, TagsAreInTransportStreams) {
    Segmenter segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts());
    push_ten_seconds(segmenter, [&](int second) {
        if (second == 3)
            segmenter.push(tag_event_packet(3'500ms, 3s));
    });
    Together output;
    output.take(segmenter);
    ASSERT_EQ(output.segments.size(), 5u);
    std::vector<wire::ts::TsReader::Unit> tags;
    wire::ts::TsReader reader;
    for (const OneSegment& one : output.segments) {
        reader.feed(bytes_of(one.blocks));
        while (auto unit = reader.next())
            if (unit->format == wire::ts::StreamFormat::id3)
                tags.push_back(*std::move(unit));
    }
    ASSERT_EQ(tags.size(), 1u);
    EXPECT_TRUE(std::ranges::equal(tags[0].frame.data.bytes(), wire::id3::write_text_tag("song", "x")));
    EXPECT_EQ(tags[0].frame.dts, 3'500ms + wire::ts::Muxer::kDecodeDelay);
    EXPECT_EQ(reader.counters().bad_tables, 0u);
}

TEST(SegmenterSplice, TagsAreInFrontOfTheirFragment) {
    Segmenter segmenter(two_second_cuts(), Segmenter::Layout::together, make_cmaf());
    push_ten_seconds(segmenter, [&](int second) {
        if (second == 3)
            segmenter.push(tag_event_packet(3'500ms, 3s));
    });
    Together output;
    output.take(segmenter);
    ASSERT_EQ(output.segments.size(), 5u);
    const auto message = wire::mp4::parse_event_message(bytes_of(output.segments[1].blocks)).value();
    EXPECT_EQ(message.scheme, wire::mp4::kId3Scheme);
    EXPECT_EQ(message.time, 315'000u);
    EXPECT_EQ(message.data, wire::id3::write_text_tag("song", "x"));
    EXPECT_EQ(wire::mp4::parse_event_message(bytes_of(output.segments[0].blocks)).code(), Errc::malformed);
}

}  // namespace
}  // namespace live::service::segments
