#include "wire/mp4/sample_reader.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/media_fixture.hpp"

namespace live::wire::mp4 {
namespace {

using Body = std::vector<std::uint8_t>;
using codec::Frame;

Body bytes_of(const Sample& sample) { return {sample.data.bytes().begin(), sample.data.bytes().end()}; }

// The result of a frame that must be accepted.
std::optional<Sample> video(SampleReader& reader, MediaTime dts, Frame frame) {
    frame.dts = dts;
    auto sample = reader.push_video(frame);
    EXPECT_TRUE(sample.ok()) << sample.error().text();
    return sample.ok() ? *std::move(sample) : std::nullopt;
}
std::optional<Sample> audio(SampleReader& reader, MediaTime dts, Frame frame) {
    frame.dts = dts;
    auto sample = reader.push_audio(frame);
    EXPECT_TRUE(sample.ok()) << sample.error().text();
    return sample.ok() ? *std::move(sample) : std::nullopt;
}

TEST(SampleReader, GivesTracksAndSamples) {
    SampleReader reader;
    EXPECT_FALSE(video(reader, 0ms, frames::key(Codec::avc, hex("00000001 65")))) << "no configuration yet";
    EXPECT_FALSE(video(reader, 0ms, avc_config()));
    EXPECT_FALSE(audio(reader, 0ms, aac_config()));
    EXPECT_EQ(reader.version(), 2u);
    EXPECT_EQ(*reader.video(), avc_track());
    EXPECT_EQ(*reader.audio(), aac_track());
    const auto picture = frames::key(Codec::avc, hex("00000002 65aa"), 80ms);
    const auto key = video(reader, 1s, picture);
    ASSERT_TRUE(key);
    EXPECT_EQ(key->dts, 1s);
    EXPECT_EQ(key->pts, 1s + 80ms);
    EXPECT_TRUE(key->key);
    EXPECT_EQ(key->data.data(), picture.data.data()) << "nothing is copied";
    EXPECT_EQ(bytes_of(*key), hex("00000002 65aa"));
    const auto inter = video(reader, 1s, frames::inter(Codec::avc, hex("00000002 41bb"), -40ms));
    EXPECT_FALSE(inter->key);
    EXPECT_EQ(inter->pts, 1s - 40ms);
    const auto aac = audio(reader, 2s, frames::audio(Codec::aac, hex("210a")));
    EXPECT_EQ(bytes_of(*aac), hex("210a"));
    EXPECT_TRUE(aac->key);
}

TEST(SampleReader, RepeatedConfigurationIsNoChange) {
    SampleReader reader;
    video(reader, 0ms, avc_config());
    audio(reader, 0ms, aac_config());
    video(reader, 1s, avc_config());
    audio(reader, 1s, aac_config());
    EXPECT_FALSE(video(reader, 1s, frames::other(Codec::avc, hex("02 0000"))));
    EXPECT_EQ(reader.version(), 2u) << "other content changes no codec";
    audio(reader, 2s, frames::config(Codec::aac, hex("1190")));
    EXPECT_EQ(reader.version(), 3u);
    video(reader, 2s, frames::config(Codec::hevc, codec::hevc_vectors().front().record));
    EXPECT_EQ(reader.version(), 4u);
    EXPECT_EQ(reader.video()->codecs, "hvc1.1.6.L93.90");
}

TEST(SampleReader, OtherContentIsIgnored) {
    SampleReader reader;
    video(reader, 0ms, frames::config(Codec::hevc, codec::hevc_vectors().front().record));
    const auto key = video(reader, 0ms, frames::key(Codec::hevc, hex("00000003 260111"), 16ms));
    EXPECT_EQ(key->pts, 16ms);
    EXPECT_EQ(bytes_of(*key), hex("00000003 260111"));
    EXPECT_FALSE(video(reader, 1s, frames::other(Codec::hevc, hex("02 000a 636f6c6f72496e666f 05"))));
    EXPECT_EQ(reader.version(), 1u);
}

TEST(SampleReader, RecognisesAv1WithAndWithoutSequenceHeader) {
    SampleReader reader;
    video(reader, 0ms, frames::config(Codec::av1, codec::av1_vectors().front().record));
    EXPECT_EQ(reader.video()->width, 640);
    SampleReader bare;
    video(bare, 0ms, frames::config(Codec::av1, hex("81010c00")));
    EXPECT_FALSE(bare.video());
    const auto& record = codec::av1_vectors().front().record;
    const auto key = video(bare, 0ms, frames::key(Codec::av1, Bytes(record).subspan(4)));
    ASSERT_TRUE(key) << "the first key frame says the size";
    EXPECT_EQ(bare.video()->width, 640);
    EXPECT_EQ(bare.version(), 1u);
    video(bare, 1s, frames::config(Codec::av1, hex("81010c00")));
    EXPECT_TRUE(bare.video()) << "and the configuration once more does not forget it";
}

TEST(SampleReader, ReadsVp9FromItsFirstKeyFrame) {
    SampleReader reader;
    video(reader, 0ms, frames::config(Codec::vp9, hex("00 0a 82 02 02 02 0000")));
    EXPECT_FALSE(reader.video());
    EXPECT_FALSE(video(reader, 0ms, frames::inter(Codec::vp9, hex("8600"))));
    EXPECT_TRUE(video(reader, 0ms, frames::key(Codec::vp9, hex("82 498342 00 27f0 1670 00"))));
    EXPECT_EQ(reader.video()->codecs, "vp09.00.10.08");
    EXPECT_EQ(reader.video()->width, 640);
    EXPECT_EQ(reader.video()->height, 360);
    EXPECT_EQ(reader.push_video(frames::key(Codec::vp9, hex("82 498342 00"))).code(), Errc::need_more);
    EXPECT_TRUE(reader.video());
}

TEST(SampleReader, RecognisesOtherAudio) {
    SampleReader opus;
    audio(opus, 0ms, frames::config(Codec::opus, hex("4f70757348656164 01 02 3801 80bb0000 0000 00")));
    EXPECT_EQ(opus.audio()->codecs, "opus");
    EXPECT_EQ(bytes_of(*audio(opus, 0ms, frames::audio(Codec::opus, hex("fc01")))), hex("fc01"));
    SampleReader flac;
    audio(flac, 0ms,
          frames::config(Codec::flac,
                         hex("664c6143 80000022 1000100000000000 00000ac442f000000000 00112233445566778899aabbccddeeff")));
    EXPECT_EQ(flac.audio()->codecs, "fLaC");
    SampleReader mp3;
    EXPECT_EQ(bytes_of(*audio(mp3, 0ms, frames::audio(Codec::mp3, hex("fffb9064 00")))), hex("fffb9064 00"));
    EXPECT_EQ(mp3.audio()->codecs, "mp4a.6B");
    EXPECT_EQ(mp3.version(), 1u);
    audio(mp3, 0ms, frames::audio(Codec::mp3, hex("fffb9064 00")));
    EXPECT_EQ(mp3.version(), 1u);
}

TEST(SampleReader, OmitsATrackThatCannotBeCarried) {
    SampleReader reader;
    video(reader, 0ms, avc_config());
    audio(reader, 0ms, aac_config());
    EXPECT_EQ(reader.push_video(frames::inter(Codec::sorenson, hex("00"))).code(), Errc::unsupported);
    EXPECT_EQ(reader.push_audio(frames::audio(Codec::nellymoser, hex("00"))).code(), Errc::unsupported);
    EXPECT_FALSE(reader.video());
    EXPECT_FALSE(reader.audio());
    EXPECT_FALSE(video(reader, 0ms, frames::key(Codec::avc, hex("00000001 65"))));
    EXPECT_EQ(reader.version(), 4u);
}

TEST(SampleReader, ABrokenFrameChangesNothing) {
    SampleReader reader;
    video(reader, 0ms, avc_config());
    audio(reader, 0ms, aac_config());
    Frame config = avc_config();
    const Slice record = config.data;
    for (std::size_t size = 0; size + 8 < record.size(); ++size) {
        config.data = record.sub(0, size);
        EXPECT_FALSE(reader.push_video(config).ok()) << size;
    }
    EXPECT_EQ(reader.push_audio(frames::config(Codec::aac, hex("12"))).code(), Errc::need_more);
    EXPECT_EQ(reader.push_audio(frames::config(Codec::aac, {})).code(), Errc::need_more);
    EXPECT_EQ(reader.version(), 2u);
    EXPECT_TRUE(video(reader, 0ms, frames::inter(Codec::avc, hex("00000001 41"))));
    EXPECT_FALSE(audio(reader, 0ms, Frame())) << "the empty message is silence";
}

TEST(SampleReader, FollowsTheNewestConfigurationOfAnyTrack) {
    SampleReader reader;
    video(reader, 0ms, frames::config(Codec::avc, codec::avc_vectors().front().record, 1));
    ASSERT_TRUE(reader.video());
    EXPECT_EQ(reader.video()->width, 1'280);
    video(reader, 0ms, frames::config(Codec::avc, codec::avc_vectors()[1].record, 0));
    EXPECT_TRUE(video(reader, 0ms, frames::key(Codec::avc, hex("00000001 65"))));
    EXPECT_EQ(reader.version(), 2U) << "a publisher has come whose default track has another id";
}

}  // namespace
}  // namespace live::wire::mp4
