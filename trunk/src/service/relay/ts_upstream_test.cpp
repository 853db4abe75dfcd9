#include "service/relay/ts_upstream.hpp"

#include <gtest/gtest.h>

#include "base/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/ts_converter.hpp"

namespace live::service::relay {
namespace {

namespace frames = wire::codec::frames;
using wire::codec::Codec;

// Five pictures, of which the first is a key frame, and as much audio.
std::vector<std::uint8_t> some_stream() {
    wire::ts::TsConverter converter;
    std::vector<std::uint8_t> out;
    EXPECT_TRUE(converter.push_video(frames::config(Codec::avc, wire::codec::avc_vectors().front().record), out).ok());
    EXPECT_TRUE(converter.push_audio(frames::config(Codec::aac, hex("1190")), out).ok());
    for (int i = 0; i < 5; ++i) {
        auto picture =
            i == 0 ? frames::key(Codec::avc, hex("00000004 65aabbcc")) : frames::inter(Codec::avc, hex("00000003 41aabb"));
        picture.dts = i * 40ms;
        EXPECT_TRUE(converter.push_video(picture, out).ok());
        auto audio = frames::audio(Codec::aac, hex("210a0b0c"));
        audio.dts = picture.dts;
        EXPECT_TRUE(converter.push_audio(audio, out).ok());
    }
    return out;
}

struct Heard {
    std::vector<std::int64_t> pictures;  // ms
    std::size_t keys = 0;
    std::size_t configs = 0;
    std::size_t audio = 0;
    std::size_t ended = 0;

    void take(TsUpstream& upstream) {
        while (auto event = upstream.poll_event()) {
            const auto* got = std::get_if<GotFrame>(&*event);
            if (got == nullptr) {
                const auto* end = std::get_if<Ended>(&*event);
                ended += end != nullptr && end->is_final ? 1 : 0;
            } else if (got->frame.content == wire::codec::Content::config) {
                ++configs;
            } else if (got->kind == media::Kind::audio) {
                ++audio;
            } else {
                pictures.push_back(media::to_ms(got->frame.dts));
                keys += got->frame.key ? 1 : 0;
            }
        }
    }
};

TEST(TsUpstream, GivesTheFramesOfTheStreamAndThenItsEnd) {
    const auto bytes = some_stream();
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
    EXPECT_EQ(heard.ended, 1U);
    EXPECT_EQ(upstream.bytes_received(), bytes.size());
}

TEST(TsUpstream, SurvivesAStreamThatIsCutAnywhere) {
    const auto bytes = some_stream();
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
