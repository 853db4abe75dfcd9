#include "service/segments/synced_segmenter.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/sync_message.hpp"
#include "media/source/stream_table.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::segments {
namespace {

// Freeing tens of MiB takes milliseconds.
TEST(SyncedSegmenter, LeavesTheBlocksOfADroppedSegmentToItsOutput) {
    const auto loop = MUST(io::Loop::create());
    media::SlabPool pool;
    media::StreamTable streams(pool);
    const Ref<media::Source> source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    SyncedSegmenter synced({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts()));
    synced.push(config_packet(MediaKind::video, avc_config()));
    for (int i = 0; i < 4; ++i)
        synced.push(media::tag_packet(MediaKind::video, i == 0, false, 0s, picture(i == 0, 0, Segmenter::kBlockBytes)));
    ASSERT_GT(synced.segmenter().bytes(), 4 * Segmenter::kBlockBytes);
    synced.end_publisher(false);
    for (const SegmenterEvent& event : synced.take())
        EXPECT_FALSE(std::holds_alternative<SegmentMade>(event));
    EXPECT_GE(synced.segmenter().take_dropped_blocks().size(), 4U);
}

std::size_t segments_in(const std::vector<SegmenterEvent>& events) {
    return static_cast<std::size_t>(
        std::ranges::count_if(events, [](const SegmenterEvent& event) { return std::holds_alternative<SegmentMade>(event); }));
}

// The publisher of a relayed stream reconnects to this node, whose timeline is shorter than that of the other node.
TEST(SyncedSegmenter, SegmentsALocalPublisherAfterARelay) {
    const auto loop = MUST(io::Loop::create());
    media::SlabPool pool;
    media::StreamTable streams(pool);
    const Ref<media::Source> source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    const auto make = [&source] {
        return SyncedSegmenter({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts()));
    };
    const auto push = [](SyncedSegmenter& synced, MediaTime from, int seconds) {
        synced.push(config_packet(MediaKind::video, avc_config()));
        for (int i = 0; i < seconds; ++i)
            synced.push(
                media::tag_packet(MediaKind::video, true, false, from + synced.to_origin() + i * 1s, picture(true, 0, 100)));
    };
    constexpr MediaTime kAhead = 900s;
    SyncedSegmenter origin = make();
    origin.begin_publisher(false);
    push(origin, kAhead, 5);
    std::optional<SegmentState> opened;
    for (const SegmenterEvent& event : origin.take())
        if (const auto* first = std::get_if<SegmentOpened>(&event); first != nullptr && !opened)
            opened = first->state;
    ASSERT_TRUE(opened);
    SyncedSegmenter here = make();
    here.begin_publisher(true);
    push(here, 0s, 1);
    const auto sync = here.read({"hls", write_segment_sync({1, 7, *opened, {}}), kAhead});
    ASSERT_TRUE(sync);
    here.follow(*sync);
    push(here, 0s, 5);
    ASSERT_GT(here.segmenter().number(), opened->number) << "it follows";
    here.end_publisher(false);
    here.take();
    here.begin_publisher(false);
    push(here, 5s, 5);
    EXPECT_EQ(segments_in(here.take()), 2U);
}

// The node that has the publisher. It returns the sync messages of its segments.
struct OriginNode {
    OriginNode(const Ref<media::Source>& source, std::uint64_t id)
        : synced({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts())), instance(id) {
        synced.begin_publisher(false);
    }
    // Returns the message about the segment that begins with `packet`.
    std::optional<media::SyncMessage> push(const media::Packet& packet, MediaTime to_origin) {
        synced.push(packet);
        for (const SegmenterEvent& event : synced.take())
            if (const auto* opened = std::get_if<SegmentOpened>(&event))
                return message_of(opened->state, to_origin);
        return std::nullopt;
    }
    // Returns the message about the end of the last segment.
    std::optional<media::SyncMessage> end(MediaTime to_origin) {
        synced.end_publisher(false);
        for (const SegmenterEvent& event : synced.take())
            if (const auto* ended = std::get_if<SegmentsEnded>(&event))
                return message_of(*ended, to_origin);
        return std::nullopt;
    }
    media::SyncMessage message_of(std::variant<SegmentState, SegmentsEnded> event, MediaTime to_origin) const {
        return {"hls", write_segment_sync({1, instance, std::move(event), {}}), to_origin};
    }
    SyncedSegmenter synced;
    std::uint64_t instance;
};

// This node, or one between it and the origin, connects to another origin, which counts from zero and whose timeline starts at 0.
// The stream continues here.
enum class Connects : std::uint8_t { here, before };

void follow_another_origin(Connects which) {
    const auto loop = MUST(io::Loop::create());
    media::SlabPool pool;
    media::StreamTable streams(pool);
    const Ref<media::Source> source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    SyncedSegmenter here({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts()));
    std::vector<std::uint64_t> resumed;
    std::size_t segments = 0;
    const auto publish = [&](std::uint64_t instance, MediaTime ahead, int seconds) {
        OriginNode origin(source, instance);
        const auto push = [&](media::Packet packet) {
            const auto message = origin.push(packet, -ahead);
            packet.dts += ahead + here.to_origin();
            here.push(packet);
            if (message)
                if (const auto read = here.read(*message))
                    here.follow(*read);
            for (const SegmenterEvent& event : here.take()) {
                if (const auto* at = std::get_if<Resumed>(&event))
                    resumed.push_back(std::get<SegmentState>(at->sync.event).number);
                segments += std::holds_alternative<SegmentMade>(event) ? 1 : 0;
            }
        };
        push(config_packet(MediaKind::video, avc_config()));
        push(config_packet(MediaKind::audio, aac_config()));
        for (int i = 0; i < 25 * seconds; ++i) {
            push(media::tag_packet(MediaKind::audio, false, false, 40ms * i, audio()));
            push(media::tag_packet(MediaKind::video, i % 50 == 0, false, 40ms * i + 23ms, picture(i % 50 == 0)));
        }
    };
    here.end_publisher(true);
    here.begin_publisher(true);
    publish(7, 0s, 21);
    EXPECT_EQ(resumed, (std::vector<std::uint64_t>{}));
    EXPECT_EQ(segments, 10U);
    if (which == Connects::here) {
        here.end_publisher(true);
        here.begin_publisher(true);
    }
    const media::SyncMessage start{std::string(media::kRelayStart), {}, {}};
    EXPECT_FALSE(here.read(start));
    publish(8, 21s, 7);
    EXPECT_EQ(resumed, (std::vector<std::uint64_t>{0}));
    EXPECT_EQ(segments, 13U) << "each as soon as the next one has begun";
}

// The next publisher also moves this node's timeline.
TEST(SyncedSegmenter, KeepsTheLastSegmentOfThePreviousPublisher) {
    const auto loop = MUST(io::Loop::create());
    media::SlabPool pool;
    media::StreamTable streams(pool);
    const Ref<media::Source> source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    OriginNode origin(source, 7);
    SyncedSegmenter here({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts()));
    const auto read = [&here](const std::optional<media::SyncMessage>& message) {
        if (!message)
            return;
        const auto sync = here.read(*message);
        ASSERT_TRUE(sync);
        here.follow(*sync);
    };
    std::vector<std::optional<media::SyncMessage>> late;
    const auto push = [&](media::Packet packet, MediaTime ahead) {
        late.push_back(origin.push(packet, -ahead));
        packet.dts += ahead + here.to_origin();
        here.push(packet);
    };
    here.begin_publisher(true);
    push(config_packet(MediaKind::video, avc_config()), 0s);
    for (int i = 0; i < 25 * 5; ++i) {
        push(media::tag_packet(MediaKind::video, i % 50 == 0, false, 40ms * i, picture(i % 50 == 0)), 0s);
        read(late.back());
    }
    EXPECT_EQ(segments_in(here.take()), 2U);
    late.assign({origin.end(-1s)});
    ASSERT_TRUE(late.front());
    here.end_publisher(true);
    here.begin_publisher(true);
    EXPECT_EQ(segments_in(here.take()), 0U);
    for (int i = 0; i < 25 * 5; ++i) {
        if (i == 0)
            push(config_packet(MediaKind::video, avc_config()), 1s);
        push(media::tag_packet(MediaKind::video, i % 50 == 0, false, 6s + 40ms * i, picture(i % 50 == 0)), 1s);
        if (i == 20)
            for (const auto& message : std::exchange(late, {}))
                read(message);
        if (i > 20)
            read(late.back());
        if (i == 30) {
            EXPECT_EQ(segments_in(here.take()), 1U) << "the last segment of the previous publisher";
        }
    }
    EXPECT_EQ(segments_in(here.take()), 2U);
}

// The previous node in the chain has reconnected: it repeats the newest message and GOP, with other times. Earlier frames that
// seem to have the same times do not begin the segment.
TEST(SyncedSegmenter, CompletesARepeatedSegmentBehindAnotherNode) {
    const auto loop = MUST(io::Loop::create());
    media::SlabPool pool;
    media::StreamTable streams(pool);
    const Ref<media::Source> source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    OriginNode origin(source, 7);
    SyncedSegmenter here({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts()));
    here.begin_publisher(true);
    std::size_t segments = 0;
    std::size_t resumed = 0;
    std::optional<media::SyncMessage> newest;
    const auto read = [&here](const media::SyncMessage& message) {
        if (const auto sync = here.read(message))
            here.follow(*sync);
    };
    const auto frame = [](int i) {
        return media::tag_packet(MediaKind::video, i % 50 == 0, false, 40ms * i, picture(i % 50 == 0));
    };
    const auto push_here = [&](media::Packet packet, MediaTime ahead) {
        packet.dts += ahead + here.to_origin();
        here.push(packet);
        const auto events = here.take();
        for (const SegmenterEvent& event : events)
            resumed += std::holds_alternative<Resumed>(event) ? 1 : 0;
        segments += segments_in(events);
    };
    const auto push = [&](const media::Packet& packet, MediaTime ahead) {
        const auto message = origin.push(packet, -ahead);
        push_here(packet, ahead);
        if (message) {
            newest = message;
            read(*message);
        }
    };
    push(config_packet(MediaKind::video, avc_config()), 0s);
    for (int i = 0; i < 130; ++i)
        push(frame(i), 0s);
    EXPECT_EQ(segments, 2U);
    constexpr MediaTime kAhead = 400ms;  // ten frames
    const media::SyncMessage start{std::string(media::kRelayStart), {}, {}};
    read(start);
    newest->to_origin = -kAhead;
    read(*newest);
    for (int i = 100; i < 130; ++i)
        push_here(frame(i), kAhead);
    for (int i = 130; i < 230; ++i)
        push(frame(i), kAhead);
    segments += segments_in(here.take());
    EXPECT_EQ(segments, 4U) << "including the segment in progress";
    EXPECT_EQ(resumed, 0U) << "the open segment has continued";
}

TEST(SyncedSegmenter, FollowsAnotherOrigin) { follow_another_origin(Connects::here); }
TEST(SyncedSegmenter, FollowsAnotherOriginBehindAnotherNode) { follow_another_origin(Connects::before); }

}  // namespace
}  // namespace live::service::segments
