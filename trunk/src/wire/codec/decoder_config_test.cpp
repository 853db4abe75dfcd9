#include "wire/codec/decoder_config.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::wire::codec {
namespace {

TEST(DecoderConfig, AcceptsEveryVector) {
    for (const PictureVector& vector : avc_vectors())
        EXPECT_TRUE(check_config(Codec::avc, vector.record).ok()) << vector.name;
    for (const PictureVector& vector : hevc_vectors())
        EXPECT_TRUE(check_config(Codec::hevc, vector.record).ok()) << vector.name;
    for (const PictureVector& vector : av1_vectors())
        EXPECT_TRUE(check_config(Codec::av1, vector.record).ok()) << vector.name;
    EXPECT_TRUE(check_config(Codec::aac, hex("1210")).ok());
    EXPECT_TRUE(check_config(Codec::vp9, hex("0100000000140800")).ok());
    EXPECT_TRUE(check_config(Codec::av1, hex("81000c00")).ok()) << "the sequence header may be in the stream alone";
}

TEST(DecoderConfig, RefusesEmptyShortAndOtherBytes) {
    for (const Codec codec :
         {Codec::avc, Codec::hevc, Codec::av1, Codec::aac, Codec::opus, Codec::flac, Codec::vp8, Codec::vp9}) {
        EXPECT_FALSE(check_config(codec, {}).ok()) << name_of(codec);
        EXPECT_FALSE(check_config(codec, hex("01")).ok()) << name_of(codec);
    }
    const std::vector<std::uint8_t> garbage(20, 0xA5);
    for (const Codec codec : {Codec::avc, Codec::hevc, Codec::opus})
        EXPECT_FALSE(check_config(codec, garbage).ok()) << name_of(codec);
    EXPECT_FALSE(check_config(Codec::avc, hex("0164001fff e0 00")).ok()) << "no parameter set";
    EXPECT_FALSE(check_config(Codec::avc, hex("0164001fff e1 0002 67ff 01 0002 68ff")).ok()) << "a parameter set that is cut";
}

TEST(DecoderConfig, RefusesTheBeginningOfEachVectorUpToItsParameterSet) {
    const auto& record = avc_vectors().front().record;
    for (std::size_t size = 0; size < record.size() / 2; ++size)
        EXPECT_FALSE(check_config(Codec::avc, Bytes(record).first(size)).ok()) << size;
}

TEST(DecoderConfig, LeavesOpaqueCodecsAlone) {
    for (const Codec codec : {Codec::unknown, Codec::mp3, Codec::sorenson})
        EXPECT_TRUE(check_config(codec, {}).ok()) << name_of(codec);
}

TEST(DecoderConfig, NamesTheSizeOfLengths) {
    auto record = avc_vectors().front().record;
    EXPECT_EQ(nal_length_size_of(Codec::avc, record), 4);
    record[4] = 0xFD;
    EXPECT_EQ(nal_length_size_of(Codec::avc, record), 2);
    EXPECT_EQ(nal_length_size_of(Codec::hevc, hevc_vectors().front().record), 4);
    EXPECT_EQ(nal_length_size_of(Codec::avc, {}), 4);
    EXPECT_EQ(nal_length_size_of(Codec::av1, av1_vectors().front().record), 4);
}

}  // namespace
}  // namespace live::wire::codec
