#include "wire/codec/audio/flac.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

const auto kBlock = hex("1000 1000 00000e 0037b9 0ac442f000000000 00112233445566778899aabbccddeeff");

std::vector<std::uint8_t> behind(const char* head) {
    auto bytes = hex(head);
    bytes.insert(bytes.end(), kBlock.begin(), kBlock.end());
    return bytes;
}

TEST(FlacStreamInfo, ReadsEverySpelling) {
    for (const auto& bytes : {kBlock, behind("00000022"), behind("80000022"), behind("664c6143 00000022")}) {
        const auto info = parse_flac_stream_info(bytes);
        ASSERT_TRUE(info.ok()) << info.error().text();
        EXPECT_EQ(info->block_samples_min, 4'096);
        EXPECT_EQ(info->block_samples_max, 4'096);
        EXPECT_EQ(info->sample_rate, 44'100u);
        EXPECT_EQ(info->channels, 2);
        EXPECT_EQ(info->sample_bits, 16);
        EXPECT_EQ(std::vector<std::uint8_t>(info->block.begin(), info->block.end()), kBlock);
        auto longer = bytes;
        longer.push_back(0);
        EXPECT_EQ(parse_flac_stream_info(longer).ok(), bytes.size() > kBlock.size()) << "more blocks may follow";
    }
}

TEST(FlacStreamInfo, EveryTruncationIsAnError) {
    const auto whole = behind("664c6143 00000022");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(parse_flac_stream_info(Bytes(whole).first(size)).ok()) << size;
    const auto block = behind("80000022");
    for (std::size_t size = 0; size < block.size(); ++size) {
        if (size == kFlacStreamInfoBytes)
            continue;
        EXPECT_EQ(parse_flac_stream_info(Bytes(block).first(size)).code(), Errc::need_more) << size;
    }
}

TEST(FlacStreamInfo, RefusesOtherBlocks) {
    EXPECT_EQ(parse_flac_stream_info(behind("04000022")).code(), Errc::malformed);
    EXPECT_EQ(parse_flac_stream_info(behind("00000021")).code(), Errc::malformed);
    auto silent = kBlock;
    silent[10] = silent[11] = 0;
    silent[12] = 2;
    EXPECT_EQ(parse_flac_stream_info(silent).code(), Errc::malformed) << "a rate of zero";
}

}  // namespace
}  // namespace live::wire::codec
