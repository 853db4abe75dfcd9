#include "wire/ts/read/video_frames.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"

namespace live::wire::ts {
namespace {

using codec::Content;
using codec::Frame;
using Buffer = std::vector<std::uint8_t>;

const Buffer& avc_record() { return codec::avc_vectors().front().record; }

Buffer joined(std::initializer_list<Bytes> parts) {
    Buffer out;
    for (const Bytes part : parts)
        out.insert(out.end(), part.begin(), part.end());
    return out;
}
Buffer unit(const char* start_code, Bytes nal) { return joined({hex(start_code), nal}); }
Buffer avc_sets(const char* start_code) {
    const auto config = codec::parse_avc_config(avc_record()).value();
    return joined({unit(start_code, config.sps.front()), unit(start_code, config.pps.front())});
}

PesAssembler::Unit unit_of(Slice slice) {
    const MutBytes bytes = slice.mutable_bytes();
    return {std::move(slice), bytes};
}

std::vector<Frame> pushed(VideoFrames& video, const Buffer& bytes, UnitTimes times, std::size_t offset = 0) {
    std::vector<Frame> out;
    EXPECT_TRUE(video.push(unit_of(Slice::copy_of(bytes)), offset, times, out).ok());
    return out;
}

TEST(VideoFrames, MakesConfigurationsAndLengths) {
    for (const char* start_code : {"00000001", "000001"}) {
        VideoFrames video(StreamFormat::avc);
        // Two slices after a delimiter and the parameter sets.
        const auto bytes = joined({unit(start_code, hex("09f0")), avc_sets(start_code), unit(start_code, hex("65aabb")),
                                   unit(start_code, hex("65cc"))});
        const auto out = pushed(video, bytes, {2s, 1s});
        ASSERT_EQ(out.size(), 2u);
        EXPECT_EQ(out[0].content, Content::config);
        EXPECT_TRUE(std::ranges::equal(out[0].data.bytes(), avc_record()));
        EXPECT_TRUE(out[1].key);
        EXPECT_EQ(out[1].dts, 1s);
        EXPECT_EQ(out[1].cts, 1s);
        EXPECT_TRUE(std::ranges::equal(out[1].data.bytes(), hex("00000003 65aabb 00000002 65cc")));
    }
}

TEST(VideoFrames, ChangesFramesInPlace) {
    VideoFrames video(StreamFormat::avc);
    ASSERT_EQ(pushed(video, joined({avc_sets("00000001"), hex("00000001 65aa")}), {1s, {}}).size(), 2u);
    Slice whole = Slice::copy_of(hex("ffff 00000001 41aabb 00000001 41cc"));
    const void* const memory = whole.memory();
    const auto* const data = whole.data();
    std::vector<Frame> out;
    ASSERT_TRUE(video.push(unit_of(std::move(whole)), 2, {2s, {}}, out).ok());
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].data.memory(), memory);
    EXPECT_EQ(out[0].data.data(), data + 2) << "no byte of the units has moved";
    EXPECT_TRUE(std::ranges::equal(out[0].data.bytes(), hex("00000003 41aabb 00000002 41cc")));
}

TEST(VideoFrames, WaitsForParameterSetsAndKeepsThem) {
    VideoFrames video(StreamFormat::avc);
    EXPECT_TRUE(pushed(video, hex("00000001 65aa"), {1s, {}}).empty());
    EXPECT_TRUE(pushed(video, joined({unit("000001", codec::parse_avc_config(avc_record())->pps.front())}), {1s, {}}).empty());
    EXPECT_EQ(pushed(video, joined({avc_sets("000001"), hex("000001 65aa")}), {1s, {}}).size(), 2u);
    EXPECT_EQ(pushed(video, joined({avc_sets("000001"), hex("000001 65aa")}), {2s, {}}).size(), 1u) << "the same sets";
    const auto changed = pushed(video, hex("000001 68ee3cb1 000001 65aa"), {3s, {}});
    ASSERT_EQ(changed.size(), 2u) << "another picture parameter set for the same sequence";
    const auto config = codec::parse_avc_config(changed[0].data.bytes()).value();
    EXPECT_EQ(config.sps.size(), 1u);
    EXPECT_TRUE(std::ranges::equal(config.pps.front(), hex("68ee3cb1")));
}

TEST(VideoFrames, TimesThatAreMissing) {
    VideoFrames video(StreamFormat::avc);
    std::vector<Frame> out;
    EXPECT_FALSE(video.push(unit_of(Slice::copy_of(hex("000001 65aa"))), 0, {}, out).ok());
    EXPECT_EQ(pushed(video, joined({avc_sets("000001"), hex("000001 65aa")}), {1s, {}}).back().dts, 1s);
    EXPECT_EQ(pushed(video, hex("000001 41aa"), {1s + 120ms, 1s + 40ms}).back().cts, 80ms);
    const auto last = pushed(video, hex("000001 41aa"), {});
    EXPECT_EQ(last.back().dts, 1s + 80ms);
    EXPECT_EQ(last.back().cts, 80ms);
}

TEST(VideoFrames, RefusesOtherFormats) {
    VideoFrames video(StreamFormat::hevc);
    std::vector<Frame> out;
    EXPECT_EQ(video.push(unit_of(Slice::copy_of(hex("112233 000001 2601aa"))), 0, {1s, {}}, out).code(), Errc::malformed);
    EXPECT_EQ(video.push(unit_of(Slice::copy_of(hex("000001 26"))), 0, {1s, {}}, out).code(), Errc::malformed);
    EXPECT_TRUE(out.empty());
}

TEST(VideoFrames, TakesAv1InBothForms) {
    const auto record = codec::av1_vectors().front().record;
    const auto obus = codec::parse_av1_config(record)->obus;
    const auto frame = hex("3200");
    const auto small = hex("32 03 100000");
    const auto low = joined({hex("1200"), obus, small});
    VideoFrames video(StreamFormat::av1);
    const auto out = pushed(video, low, {1s, {}});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_TRUE(std::ranges::equal(out[0].data.bytes(), record));
    EXPECT_TRUE(out[1].key);
    EXPECT_TRUE(std::ranges::equal(out[1].data.bytes(), joined({obus, small}))) << "without the temporal delimiter";
    const auto inter = pushed(video, joined({hex("1200"), frame}), {2s, {}});
    ASSERT_EQ(inter.size(), 1u);
    EXPECT_FALSE(inter[0].key);
    // An OBU without a size field gets one; 00 00 03 01 loses its third byte.
    const auto started = pushed(video, hex("000001 10 000001 30 aa 00000301"), {3s, {}});
    ASSERT_EQ(started.size(), 1u);
    EXPECT_TRUE(std::ranges::equal(started[0].data.bytes(), hex("32 04 aa 000001")));
}

}  // namespace
}  // namespace live::wire::ts
