#include "service/segments/marked_segmenter.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "io/wait_fixture.hpp"
#include "media/relay_mark.hpp"
#include "media/stream_table.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::segments {
namespace {

using media::Kind;

// Freeing tens of MiB takes milliseconds.
TEST(MarkedSegmenter, AWorkerFreesASegmentThatIsLeftOut) {
    const auto loop = MUST(io::Loop::create());
    media::SlabPool pool;
    media::StreamTable streams(pool);
    const Ref<media::Source> source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    MarkedSegmenter marked({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts()));
    marked.push(config_packet(Kind::video, avc_config()));
    for (int i = 0; i < 4; ++i)
        marked.push(media::tag_packet(Kind::video, i == 0, false, 0s, picture(i == 0, 0, Segmenter::kBlockBytes)));
    ASSERT_GT(marked.segmenter().bytes(), 4 * Segmenter::kBlockBytes);
    marked.end_publisher();
    for (const MarkedSegmenter::Event& event : marked.take()) {
        const auto* made = std::get_if<Made>(&event);
        EXPECT_FALSE(made != nullptr && std::holds_alternative<SegmentMade>(*made));
    }
    EXPECT_TRUE(marked.segmenter().take_spent().empty()) << "they are the worker's";
}

std::size_t segments_in(std::vector<MarkedSegmenter::Event> events) {
    return static_cast<std::size_t>(std::ranges::count_if(events, [](const MarkedSegmenter::Event& event) {
        const auto* made = std::get_if<Made>(&event);
        return made != nullptr && std::holds_alternative<SegmentMade>(*made);
    }));
}

// The publisher of a relayed stream comes back at this node, whose timeline of the stream is shorter than the other one's.
TEST(MarkedSegmenter, ANodeThatHasRelayedMakesSegmentsOfItsOwnPublisherAtOnce) {
    const auto loop = MUST(io::Loop::create());
    media::SlabPool pool;
    media::StreamTable streams(pool);
    const Ref<media::Source> source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    const auto make = [&source] {
        return MarkedSegmenter({"hls", 1, *source, Log()}, Segmenter(two_second_cuts(), Segmenter::Layout::together, make_ts()));
    };
    const auto push = [](MarkedSegmenter& marked, MediaTime from, int seconds) {
        marked.push(config_packet(Kind::video, avc_config()));
        for (int i = 0; i < seconds; ++i)
            marked.push(media::tag_packet(Kind::video, true, false, from + i * 1s, picture(true, 0, 100)));
    };
    constexpr MediaTime kAhead = 900s;
    MarkedSegmenter origin = make();
    origin.begin_publisher(false);
    push(origin, kAhead, 5);
    std::optional<SegmentState> opened;
    for (const MarkedSegmenter::Event& event : origin.take())
        if (const auto* made = std::get_if<Made>(&event))
            if (const auto* said = std::get_if<SegmentOpened>(made); said != nullptr && !opened)
                opened = said->state;
    ASSERT_TRUE(opened);
    MarkedSegmenter here = make();
    here.begin_publisher(true);
    push(here, 0s, 1);
    media::Packet packet;
    packet.kind = Kind::data;
    packet.payload = media::write_relay_mark({"hls", write_mark({1, 7, *opened, {}}), kAhead});
    const auto mark = here.read(packet);
    ASSERT_TRUE(mark);
    here.follow(*mark);
    push(here, 0s, 5);
    ASSERT_GT(here.segmenter().number(), opened->number) << "it follows";
    here.end_publisher();
    here.take();
    here.begin_publisher(false);
    push(here, 5s, 5);
    EXPECT_EQ(segments_in(here.take()), 2U);
}

}  // namespace
}  // namespace live::service::segments
