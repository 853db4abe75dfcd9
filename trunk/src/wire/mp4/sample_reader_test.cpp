#include "wire/mp4/sample_reader.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/test_media.hpp"

namespace live::wire::mp4 {
namespace {

using Body = std::vector<std::uint8_t>;

Body bytes_of(const Sample& sample) { return {sample.data.bytes().begin(), sample.data.bytes().end()}; }

// What a body that must be taken gives.
std::optional<Sample> video(SampleReader& reader, MediaTime dts, const Slice& body) {
    auto sample = reader.push_video(dts, body);
    EXPECT_TRUE(sample.ok()) << sample.error().text();
    return sample.ok() ? *std::move(sample) : std::nullopt;
}
std::optional<Sample> audio(SampleReader& reader, MediaTime dts, const Slice& body) {
    auto sample = reader.push_audio(dts, body);
    EXPECT_TRUE(sample.ok()) << sample.error().text();
    return sample.ok() ? *std::move(sample) : std::nullopt;
}

TEST(SampleReader, GivesTracksAndSamples) {
    SampleReader reader;
    EXPECT_FALSE(video(reader, 0ms, body_of(hex("17 01 000000 00000001 65")))) << "no configuration yet";
    EXPECT_FALSE(video(reader, 0ms, avc_config_body()));
    EXPECT_FALSE(audio(reader, 0ms, aac_config_body()));
    EXPECT_EQ(reader.version(), 2u);
    EXPECT_EQ(*reader.video(), avc_track());
    EXPECT_EQ(*reader.audio(), aac_track());
    const auto body = body_of(hex("17 01 000050 00000002 65aa"));
    const auto key = video(reader, 1s, body);
    ASSERT_TRUE(key);
    EXPECT_EQ(key->dts, 1s);
    EXPECT_EQ(key->pts, 1s + 80ms);
    EXPECT_TRUE(key->key);
    EXPECT_EQ(key->data.data(), body.data() + 5) << "nothing is copied";
    EXPECT_EQ(bytes_of(*key), hex("00000002 65aa"));
    const auto inter = video(reader, 1s, body_of(hex("27 01 ffffd8 00000002 41bb")));
    EXPECT_FALSE(inter->key);
    EXPECT_EQ(inter->pts, 1s - 40ms);
    const auto sound = audio(reader, 2s, body_of(hex("af 01 210a")));
    EXPECT_EQ(bytes_of(*sound), hex("210a"));
    EXPECT_TRUE(sound->key);
}

TEST(SampleReader, TheSameConfigurationOnceMoreIsNoChange) {
    SampleReader reader;
    video(reader, 0ms, avc_config_body());
    audio(reader, 0ms, aac_config_body());
    video(reader, 1s, avc_config_body());
    audio(reader, 1s, aac_config_body());
    EXPECT_FALSE(video(reader, 1s, body_of(hex("94 61766331 02 0000"))));
    EXPECT_EQ(reader.version(), 2u) << "metadata of enhanced RTMP changes no codec";
    audio(reader, 2s, body_of(hex("af 00 1190")));
    EXPECT_EQ(reader.version(), 3u);
    video(reader, 2s, body_of(hex("90 68766331"), codec::hevc_vectors().front().record));
    EXPECT_EQ(reader.version(), 4u);
    EXPECT_EQ(reader.video()->codecs, "hvc1.1.6.L93.90");
}

TEST(SampleReader, MetadataOfEnhancedRtmpIsNoSample) {
    SampleReader reader;
    video(reader, 0ms, body_of(hex("90 68766331"), codec::hevc_vectors().front().record));
    const auto key = video(reader, 0ms, body_of(hex("91 68766331 000010 00000003 260111")));
    EXPECT_EQ(key->pts, 16ms);
    EXPECT_EQ(bytes_of(*key), hex("00000003 260111"));
    EXPECT_FALSE(video(reader, 1s, body_of(hex("94 68766331 02 000a 636f6c6f72496e666f 05"))));
    EXPECT_EQ(reader.version(), 1u);
}

TEST(SampleReader, KnowsAv1WithAndWithoutItsSequenceHeader) {
    SampleReader reader;
    video(reader, 0ms, body_of(hex("90 61763031"), codec::av1_vectors().front().record));
    EXPECT_EQ(reader.video()->width, 640);
    SampleReader bare;
    video(bare, 0ms, body_of(hex("90 61763031 81010c00")));
    EXPECT_FALSE(bare.video());
    const auto& record = codec::av1_vectors().front().record;
    const auto key = video(bare, 0ms, body_of(hex("91 61763031"), Bytes(record).subspan(4)));
    ASSERT_TRUE(key) << "the first key frame says the size";
    EXPECT_EQ(bare.video()->width, 640);
    EXPECT_EQ(bare.version(), 1u);
    video(bare, 1s, body_of(hex("90 61763031 81010c00")));
    EXPECT_TRUE(bare.video()) << "and the configuration once more does not forget it";
}

TEST(SampleReader, KnowsVp9FromItsFirstKeyFrame) {
    SampleReader reader;
    video(reader, 0ms, body_of(hex("90 76703039 00 0a 82 02 02 02 0000")));
    EXPECT_FALSE(reader.video());
    EXPECT_FALSE(video(reader, 0ms, body_of(hex("a1 76703039 8600"))));
    EXPECT_TRUE(video(reader, 0ms, body_of(hex("91 76703039 82 498342 00 27f0 1670 00"))));
    EXPECT_EQ(reader.video()->codecs, "vp09.00.10.08");
    EXPECT_EQ(reader.video()->width, 640);
    EXPECT_EQ(reader.video()->height, 360);
    EXPECT_EQ(reader.push_video(0ms, body_of(hex("91 76703039 82 498342 00"))).code(), Errc::need_more);
    EXPECT_TRUE(reader.video());
}

TEST(SampleReader, KnowsOtherSound) {
    SampleReader opus;
    audio(opus, 0ms, body_of(hex("90 4f707573 4f70757348656164 01 02 3801 80bb0000 0000 00")));
    EXPECT_EQ(opus.audio()->codecs, "opus");
    EXPECT_EQ(bytes_of(*audio(opus, 0ms, body_of(hex("91 4f707573 fc01")))), hex("fc01"));
    SampleReader flac;
    audio(flac, 0ms,
          body_of(hex("90 664c6143 664c6143 80000022 1000100000000000 00000ac442f000000000 00112233445566778899aabbccddeeff")));
    EXPECT_EQ(flac.audio()->codecs, "fLaC");
    SampleReader mp3;
    EXPECT_EQ(bytes_of(*audio(mp3, 0ms, body_of(hex("2f fffb9064 00")))), hex("fffb9064 00"));
    EXPECT_EQ(mp3.audio()->codecs, "mp4a.6B");
    EXPECT_EQ(mp3.version(), 1u);
    audio(mp3, 0ms, body_of(hex("2f fffb9064 00")));
    EXPECT_EQ(mp3.version(), 1u);
}

TEST(SampleReader, ATrackThatCannotBeCarriedIsGone) {
    SampleReader reader;
    video(reader, 0ms, avc_config_body());
    audio(reader, 0ms, aac_config_body());
    EXPECT_EQ(reader.push_video(0ms, body_of(hex("22 00"))).code(), Errc::unsupported);
    EXPECT_EQ(reader.push_audio(0ms, body_of(hex("5f 00"))).code(), Errc::unsupported);
    EXPECT_FALSE(reader.video());
    EXPECT_FALSE(reader.audio());
    EXPECT_FALSE(video(reader, 0ms, body_of(hex("17 01 000000 00000001 65"))));
    EXPECT_EQ(reader.version(), 4u);
}

TEST(SampleReader, ABrokenBodyChangesNothing) {
    SampleReader reader;
    video(reader, 0ms, avc_config_body());
    audio(reader, 0ms, aac_config_body());
    const auto config = avc_config_body();
    for (std::size_t size = 1; size + 8 < config.size(); ++size)
        EXPECT_FALSE(reader.push_video(0ms, config.sub(0, size)).ok()) << size;
    EXPECT_EQ(reader.push_audio(0ms, body_of(hex("af 00 12"))).code(), Errc::need_more);
    EXPECT_EQ(reader.push_audio(0ms, body_of(hex("af"))).code(), Errc::need_more);
    EXPECT_EQ(reader.version(), 2u);
    EXPECT_TRUE(video(reader, 0ms, body_of(hex("27 01 000000 00000001 41"))));
    EXPECT_FALSE(audio(reader, 0ms, Slice())) << "the empty message is silence";
}

TEST(SampleReader, FollowsOneTrackOfSeveral) {
    SampleReader reader;
    const auto record = codec::avc_vectors().front().record;
    // E-RTMP v2, multitrack of one: track 1, then track 2.
    video(reader, 0ms, body_of(hex("96 00 61766331 01"), record));
    video(reader, 0ms, body_of(hex("96 00 61766331 02"), codec::avc_vectors()[1].record));
    ASSERT_TRUE(reader.video());
    EXPECT_EQ(reader.video()->width, 1'280);
    EXPECT_TRUE(video(reader, 0ms, body_of(hex("96 01 61766331 01 000000 00000001 65"))));
    EXPECT_FALSE(video(reader, 0ms, body_of(hex("96 01 61766331 02 000000 00000001 65"))));
}

}  // namespace
}  // namespace live::wire::mp4
