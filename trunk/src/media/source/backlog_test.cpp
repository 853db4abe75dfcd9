#include "media/source/backlog.hpp"

#include <gtest/gtest.h>

#include "base/bytes/ref.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/source.hpp"

namespace live::media {
namespace {

// Accepts every backlog and never encodes it.
struct SlowEncoder final : DeferredEncoder {
    bool add(Source& /*source*/) override {
        ++requests;
        return true;
    }
    int requests = 0;
};

struct BacklogTest : ::testing::Test {
    BacklogTest() {
        source->append(plain_packet(MediaKind::video, false, true, {}, avc_config_body()));
        source->wire_logs().hold(kTs);
    }
    ~BacklogTest() override { source->wire_logs().release(kTs); }
    void frame(bool key, std::size_t size = WireEncoder::kSlowBytes) {
        source->append(plain_packet(MediaKind::video, key, false, {}, Slice::allocate(size)));
    }

    static constexpr WireFormat kTs{Container::ts};

    SlabPool pool;
    PlayOptions options;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
    SlowEncoder encoder;
};

TEST_F(BacklogTest, IsEncodedByFlushWithoutAnEncoder) {
    frame(true);
    EXPECT_FALSE(source->backlog().empty());
    EXPECT_LT(source->wire_logs().find(kTs)->next(), source->ring().next());
    source->flush();
    EXPECT_TRUE(source->backlog().empty());
    EXPECT_EQ(source->wire_logs().find(kTs)->next(), source->ring().next());
}

TEST_F(BacklogTest, PublisherThatOutrunsTheEncoderLosesFramesUntilTheNextKeyFrame) {
    source->backlog().set_encoder(&encoder);
    for (std::size_t bytes = 0; bytes <= Backlog::kBytesMax; bytes += WireEncoder::kSlowBytes)
        frame(bytes == 0);
    EXPECT_GT(encoder.requests, 0);
    EXPECT_EQ(source->counters().dropped_packets, 0U);
    const Sequence next = source->ring().next();
    frame(true);
    source->append(plain_packet(MediaKind::audio, false, false, {}, Slice::allocate(10)));
    EXPECT_EQ(source->counters().dropped_packets, 2U);
    source->append(plain_packet(MediaKind::video, false, true, {}, avc_config_body()));
    EXPECT_EQ(source->ring().next(), next + 1) << "configurations are kept";
    while (!source->backlog().empty())
        source->backlog().encode_some();
    frame(false, 100);
    EXPECT_EQ(source->counters().dropped_packets, 3U);
    frame(true, 100);
    frame(false, 100);
    EXPECT_EQ(source->counters().dropped_packets, 3U);
}

}  // namespace
}  // namespace live::media
