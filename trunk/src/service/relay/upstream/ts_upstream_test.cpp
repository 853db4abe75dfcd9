#include "service/relay/upstream/ts_upstream.hpp"

#include <gtest/gtest.h>

#include "wire/ts/write/stream_fixture.hpp"

namespace live::service::relay {
namespace {

struct Heard {
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

TEST(TsUpstream, GivesTheFramesOfTheStreamAndThenItsEnd) {
    const auto bytes = wire::ts::stream_of(5);
    TsUpstream upstream;
    EXPECT_TRUE(upstream.start({}).ok() && upstream.is_started() && !upstream.keeps_timeline());
    Heard heard;
    for (Bytes rest = bytes; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 100))) {
        EXPECT_TRUE(upstream.handle_bytes({}, rest.first(std::min<std::size_t>(rest.size(), 100))).ok());
        heard.take(upstream);
    }
    EXPECT_EQ(heard.ended, 0U);
    EXPECT_TRUE(upstream.handle_end().ok());
    heard.take(upstream);
    heard.take(upstream);
    ASSERT_EQ(heard.pictures.size(), 5U);
    EXPECT_EQ(heard.pictures[4] - heard.pictures[0], 160);
    EXPECT_EQ(heard.keys, 1U);
    EXPECT_GE(heard.configs, 2U);
    EXPECT_EQ(heard.audio, 5U);
    EXPECT_TRUE(heard.announced.has(MediaKind::audio) && heard.announced.has(MediaKind::video));
    EXPECT_EQ(heard.ended, 1U);
    EXPECT_EQ(upstream.bytes_received(), bytes.size());
}

TEST(TsUpstream, SurvivesAStreamThatIsCutAnywhere) {
    const auto bytes = wire::ts::stream_of(5);
    for (std::size_t cut = 0; cut < bytes.size(); cut += 47) {
        TsUpstream upstream;
        Heard heard;
        EXPECT_TRUE(upstream.handle_bytes({}, Bytes(bytes).subspan(cut)).ok());
        EXPECT_TRUE(upstream.handle_end().ok());
        heard.take(upstream);
        EXPECT_LE(heard.pictures.size(), 5U);
        EXPECT_EQ(heard.ended, 1U);
    }
}

}  // namespace
}  // namespace live::service::relay
