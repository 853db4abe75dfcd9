#include "io/tls/record_buffers.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace live::io {
namespace {

TEST(RecordBuffers, ServesBlocksOfTheSizeOfARecordOnly) {
    RecordBuffers buffers(4);
    EXPECT_EQ(buffers.allocate(RecordBuffers::kBytesMin - 1), nullptr);
    EXPECT_EQ(buffers.allocate(RecordBuffers::kBytesMax + 1), nullptr);
    void* const block = buffers.allocate(RecordBuffers::kBytesMax);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(buffers.owns(block));
    EXPECT_FALSE(buffers.owns(&buffers));
    EXPECT_FALSE(buffers.owns(nullptr));
    buffers.release(block);
    EXPECT_EQ(buffers.allocate(RecordBuffers::kBytesMin), block) << "the newest free block comes first";
}

TEST(RecordBuffers, ReturnsNothingWhenAllBlocksAreTaken) {
    RecordBuffers buffers(2);
    void* const first = buffers.allocate(RecordBuffers::kBytesMin);
    void* const second = buffers.allocate(RecordBuffers::kBytesMin);
    ASSERT_NE(second, nullptr);
    EXPECT_NE(first, second);
    EXPECT_EQ(buffers.allocate(RecordBuffers::kBytesMin), nullptr);
    buffers.release(first);
    EXPECT_EQ(buffers.allocate(RecordBuffers::kBytesMin), first);
}

TEST(RecordBuffers, FreeBlocksBeyondTheKeptOnesHaveNoPages) {
    RecordBuffers buffers;
    std::vector<std::uint8_t*> blocks;
    for (std::size_t i = 0; i < RecordBuffers::kKept + 3; ++i) {
        blocks.push_back(static_cast<std::uint8_t*>(buffers.allocate(RecordBuffers::kBytesMax)));
        std::memset(blocks.back(), 7, RecordBuffers::kBytesMax);
    }
    for (std::uint8_t* const block : blocks)
        buffers.release(block);
    // Pages that were given back read as zero.
    const auto given_back = std::ranges::count_if(blocks, [](const std::uint8_t* block) { return block[100] == 0; });
    EXPECT_EQ(given_back, 3);
    std::vector<void*> again;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        again.push_back(buffers.allocate(RecordBuffers::kBytesMax));
    EXPECT_TRUE(std::ranges::is_permutation(again, blocks)) << "no new one is taken while there are free ones";
}

}  // namespace
}  // namespace live::io
