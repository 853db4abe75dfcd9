#include "service/segments/marked_segmenter.hpp"

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "io/wait_fixture.hpp"
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

}  // namespace
}  // namespace live::service::segments
