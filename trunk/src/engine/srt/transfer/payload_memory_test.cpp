#include "engine/srt/transfer/payload_memory.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
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

TEST(SrtPayloadMemory, TakesAnySizeOfAPayload) {
    PayloadMemory memory;
    EXPECT_EQ(memory.carve(1).slice.size(), 1U);
    EXPECT_EQ(memory.carve(0).slice.size(), 0U);
    EXPECT_EQ(memory.carve(PayloadMemory::kBlockBytes).slice.size(), PayloadMemory::kBlockBytes);
    EXPECT_EQ(memory.carve(PayloadMemory::kBlockBytes).bytes.size(), PayloadMemory::kBlockBytes);
}

TEST(SrtPayloadMemory, UsesBlocksAgainAndGivesSparesBack) {
    PayloadMemory memory;
    std::deque<Slice> waiting;
    std::uint32_t number = 0;
    const auto go_on = [&](std::size_t payloads, std::size_t in_use) {
        for (std::size_t i = 0; i < payloads; ++i) {
            auto [slice, bytes] = memory.carve(1'316);
            std::memcpy(bytes.data(), &++number, sizeof number);
            waiting.push_back(std::move(slice));
            while (waiting.size() > in_use) {
                std::uint32_t first = 0;
                std::memcpy(&first, waiting.front().data(), sizeof first);
                ASSERT_EQ(first, number - waiting.size() + 1) << "a payload in use is never overwritten";
                waiting.pop_front();
            }
        }
    };
    go_on(1'000, 120);
    EXPECT_LE(memory.held_bytes(), 12 * PayloadMemory::kBlockBytes);
    EXPECT_GE(memory.held_bytes(), 10 * PayloadMemory::kBlockBytes);
    go_on(1'000, 20);
    EXPECT_LE(memory.held_bytes(), 4 * PayloadMemory::kBlockBytes);
}

}  // namespace
}  // namespace live::engine::srt
