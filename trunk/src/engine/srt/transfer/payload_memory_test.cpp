#include "engine/srt/transfer/payload_memory.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace live::engine::srt {
namespace {

TEST(SrtPayloadMemory, PayloadsOfABlockShareItAndDoNotOverlap) {
    PayloadMemory memory;
    std::vector<Slice> payloads;
    for (std::uint8_t i = 0; i < 30; ++i) {
        auto [slice, bytes] = memory.carve(1'316);
        ASSERT_EQ(bytes.size(), 1'316U);
        std::ranges::fill(bytes, i);
        payloads.push_back(std::move(slice));
    }
    for (std::uint8_t i = 0; i < 30; ++i) {
        EXPECT_TRUE(std::ranges::all_of(payloads[i].bytes(), [i](std::uint8_t byte) { return byte == i; }));
        EXPECT_EQ(payloads[i].memory() == payloads[i / 12 * 12].memory(), true);
    }
    EXPECT_NE(payloads[0].memory(), payloads[12].memory());
}

TEST(SrtPayloadMemory, TakesAnySize) {
    PayloadMemory memory;
    EXPECT_EQ(memory.carve(0).slice.size(), 0U);
    EXPECT_EQ(memory.carve(1).slice.size(), 1U);
    EXPECT_EQ(memory.carve(PayloadMemory::kBlockBytes).slice.size(), PayloadMemory::kBlockBytes);
    EXPECT_EQ(memory.carve(PayloadMemory::kBlockBytes + 1).bytes.size(), PayloadMemory::kBlockBytes + 1);
}

}  // namespace
}  // namespace live::engine::srt
