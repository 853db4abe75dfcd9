#include "wire/codec/latm.hpp"

#include <gtest/gtest.h>

#include "base/hex_fixture.hpp"
#include "wire/codec/bit_writer.hpp"

namespace live::wire::codec {
namespace {

// AudioMuxElement of one frame, with the configuration 1210 (AAC-LC, 44,100 Hz, stereo) or that of the element before.
std::vector<std::uint8_t> element(const std::vector<std::uint8_t>& frame, bool has_config, unsigned version = 0) {
    BitWriter bits;
    bits.flag(!has_config);
    if (has_config) {
        bits.bits(version, 1);
        if (version == 1)
            bits.bits(0, 1).bits(0, 2).bits(0xFF, 8);  // audioMuxVersionA, taraBufferFullness
        bits.flag(true).bits(0, 6).bits(0, 4).bits(0, 3);
        if (version == 1)
            bits.bits(0, 2).bits(16, 8);
        bits.bits(0x1210, 16).bits(0, 3).bits(0xFF, 8).flag(false).flag(false);
    }
    for (std::size_t left = frame.size();; left -= 255) {
        bits.bits(static_cast<std::uint32_t>(std::min<std::size_t>(left, 255)), 8);
        if (left < 255)
            break;
    }
    for (const std::uint8_t byte : frame)
        bits.bits(byte, 8);
    BitWriter out;
    const auto size = static_cast<std::uint32_t>(bits.written().size());
    out.bits(0x2B7, 11).bits(size, 13);
    std::vector<std::uint8_t> whole(out.written().begin(), out.written().end());
    whole.insert(whole.end(), bits.written().begin(), bits.written().end());
    return whole;
}

std::vector<std::uint8_t> counted(std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::uint8_t>(i * 7);
    return bytes;
}

TEST(Latm, FramesComeOutAsTheyWentIn) {
    for (const unsigned version : {0U, 1U}) {
        LatmReader reader;
        std::vector<Slice> frames;
        for (const std::size_t size : {1U, 254U, 255U, 300U, 510U, 1'000U}) {
            const auto bytes = element(counted(size), frames.empty(), version);
            ByteReader in(bytes);
            ASSERT_TRUE(reader.read(in, frames).ok());
            EXPECT_TRUE(in.at_end());
            EXPECT_TRUE(std::ranges::equal(frames.back().bytes(), counted(size)));
        }
        EXPECT_EQ(frames.size(), 6u);
        EXPECT_EQ(reader.config(), hex("1210"));
        EXPECT_EQ(reader.parsed().sample_rate, 44'100u);
        EXPECT_EQ(reader.parsed().channels, 2);
    }
}

TEST(Latm, BeforeAConfigurationNothingIsKnown) {
    LatmReader reader;
    std::vector<Slice> frames;
    const auto bytes = element(counted(10), false);
    ByteReader in(bytes);
    EXPECT_EQ(reader.read(in, frames).code(), Errc::not_found);
    EXPECT_TRUE(in.at_end()) << "it is skipped";
    EXPECT_TRUE(frames.empty());
}

TEST(Latm, EveryPrefixIsTooShort) {
    const auto bytes = element(counted(300), true);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        LatmReader reader;
        std::vector<Slice> frames;
        ByteReader in(Bytes(bytes).first(size));
        EXPECT_EQ(reader.read(in, frames).code(), Errc::need_more);
        EXPECT_EQ(in.position(), 0u);
    }
    // Cut inside, where its length says that it is whole.
    for (std::size_t size = 1; size + 3 < bytes.size(); ++size) {
        auto cut = bytes;
        cut.resize(3 + size);
        cut[1] = static_cast<std::uint8_t>(0xE0 | size >> 8);
        cut[2] = static_cast<std::uint8_t>(size);
        LatmReader reader;
        std::vector<Slice> frames;
        ByteReader in(cut);
        EXPECT_FALSE(reader.read(in, frames).ok()) << size;
    }
    LatmReader reader;
    std::vector<Slice> frames;
    ByteReader in(Bytes(bytes).subspan(1));
    EXPECT_EQ(reader.read(in, frames).code(), Errc::malformed);
}

}  // namespace
}  // namespace live::wire::codec
