#include "wire/codec/video/captions.hpp"

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "wire/codec/video/captions_vectors.hpp"

namespace live::wire::codec {
namespace {

CaptionServices services_in(Codec codec, std::uint8_t length_size, Bytes frame) {
    CaptionFinder finder;
    finder.read(codec, length_size, frame);
    return finder.found();
}

TEST(Captions, AreFound) {
    for (const CaptionVector& one : caption_vectors())
        EXPECT_EQ(services_in(one.codec, one.length_size, one.frame).names(), one.services) << one.name;
}

TEST(Captions, TruncatedFramesAnnounceNoMore) {
    for (const CaptionVector& one : caption_vectors()) {
        const CaptionServices whole = services_in(one.codec, one.length_size, one.frame);
        for (std::size_t size = 0; size < one.frame.size(); ++size) {
            // On the heap, at its exact size: the sanitizer sees a read behind the end.
            const std::vector<std::uint8_t> cut(one.frame.begin(), one.frame.begin() + static_cast<std::ptrdiff_t>(size));
            const CaptionServices some = services_in(one.codec, one.length_size, cut);
            EXPECT_EQ(some.channels & ~whole.channels, 0) << one.name << size;
            EXPECT_EQ(some.services & ~whole.services, 0) << one.name << size;
        }
    }
}

TEST(Captions, FrontSeiAreFoundByTheTypesOfUnits) {
    EXPECT_TRUE(has_front_sei(Codec::avc, 4, hex("00000002 0910 00000002 0605 00000002 419a")));
    EXPECT_TRUE(has_front_sei(Codec::hevc, 4, hex("00000003 4e0105 00000003 2601af")));
    EXPECT_FALSE(has_front_sei(Codec::avc, 4, hex("00000002 419a 00000002 0605")));
    EXPECT_FALSE(has_front_sei(Codec::hevc, 4, hex("00000003 2601af 00000003 4e0105")));
    EXPECT_FALSE(has_front_sei(Codec::avc, 4, hex("ffffffff 06")));
    EXPECT_FALSE(has_front_sei(Codec::avc, 4, {}));
}

TEST(Captions, UnitsBeyondTheLimitAreLeftOut) {
    const auto sei = caption_vectors()[0].frame;
    for (const std::size_t units : {CaptionFinder::kFrontUnitsMax - 1, CaptionFinder::kFrontUnitsMax}) {
        ByteWriter frame;
        for (std::size_t i = 0; i < units; ++i)
            frame.bytes(hex("00000002 0910"));
        frame.bytes(sei);
        EXPECT_EQ(services_in(Codec::avc, 4, frame.written()).any(), units < CaptionFinder::kFrontUnitsMax);
    }
}

TEST(Captions, APacketMayContinueInTheNextFrame) {
    CaptionFinder finder;
    finder.read(Codec::avc, 4, hex("00000012 06 04 0e b50031 47413934 03 41ff ff0222 80 00000002 419a"));
    EXPECT_FALSE(finder.found().any());
    finder.read(Codec::avc, 4, hex("00000012 06 04 0e b50031 47413934 03 41ff fe4141 80 00000002 419a"));
    EXPECT_EQ(finder.found().names(), std::vector<std::string>{"SERVICE1"});
}

}  // namespace
}  // namespace live::wire::codec
