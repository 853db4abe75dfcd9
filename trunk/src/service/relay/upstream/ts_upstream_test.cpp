#include "service/relay/upstream/ts_upstream.hpp"

#include <gtest/gtest.h>

#include "wire/ts/write/stream_fixture.hpp"

namespace live::service::relay {
namespace {

struct TsEvents {
    std::vector<std::int64_t> pictures;  // ms
    std::size_t keys = 0;
    std::size_t configs = 0;
    std::size_t audio = 0;
    std::size_t ended = 0;
    MediaKindSet announced;

    void take(TsUpstream& upstream) {
        while (auto event = upstream.poll_event()) {
            const auto* got = std::get_if<GotFrame>(&*event);
            if (got == nullptr) {
                const auto* end = std::get_if<Ended>(&*event);
                ended += end != nullptr && end->is_final ? 1 : 0;
            } else if (announced = got->announced; got->frame.content == wire::codec::Content::config) {
                ++configs;
            } else if (got->kind == MediaKind::audio) {
                ++audio;
            } else {
                pictures.push_back(media::to_ms(got->frame.dts));
                keys += got->frame.key ? 1 : 0;
            }
        }
    }
};

TEST(TsUpstream, ReportsFramesThenEnd) {
    const auto bytes = wire::ts::stream_of(5);
    TsUpstream upstream;
    EXPECT_TRUE(upstream.start({}).ok() && upstream.is_started() && !upstream.keeps_timeline());
    TsEvents events;
    for (Bytes rest = bytes; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 100))) {
        EXPECT_TRUE(upstream.handle_bytes({}, rest.first(std::min<std::size_t>(rest.size(), 100))).ok());
        events.take(upstream);
    }
    EXPECT_EQ(events.ended, 0U);
    EXPECT_TRUE(upstream.handle_end().ok());
    events.take(upstream);
    events.take(upstream);
    ASSERT_EQ(events.pictures.size(), 5U);
    EXPECT_EQ(events.pictures[4] - events.pictures[0], 160);
    EXPECT_EQ(events.keys, 1U);
    EXPECT_GE(events.configs, 2U);
    EXPECT_EQ(events.audio, 5U);
    EXPECT_TRUE(events.announced.has(MediaKind::audio) && events.announced.has(MediaKind::video));
    EXPECT_EQ(events.ended, 1U);
    EXPECT_EQ(upstream.bytes_received(), bytes.size());
}

TEST(TsUpstream, AcceptsStreamCutAnywhere) {
    const auto bytes = wire::ts::stream_of(5);
    for (std::size_t cut = 0; cut < bytes.size(); cut += 47) {
        TsUpstream upstream;
        TsEvents events;
        EXPECT_TRUE(upstream.handle_bytes({}, Bytes(bytes).subspan(cut)).ok());
        EXPECT_TRUE(upstream.handle_end().ok());
        events.take(upstream);
        EXPECT_LE(events.pictures.size(), 5U);
        EXPECT_EQ(events.ended, 1U);
    }
}

}  // namespace
}  // namespace live::service::relay
