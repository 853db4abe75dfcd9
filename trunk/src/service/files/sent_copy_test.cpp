#include "service/files/sent_copy.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace live::service::files {
namespace {

std::vector<Block> blocks_of(std::size_t size) {
    return {std::make_shared<const std::vector<std::uint8_t>>(size, std::uint8_t{7}),
            std::make_shared<const std::vector<std::uint8_t>>(1, std::uint8_t{8})};
}

TEST(SentCopy, IsMadeForTheRequestBehindTheFirstFew) {
    CopyBudget budget;
    {
        SentCopy copy(budget);
        const auto blocks = blocks_of(99);
        for (std::size_t i = 0; i < SentCopy::kAskedBefore; ++i)
            EXPECT_EQ(copy.for_request(blocks), nullptr);
        EXPECT_EQ(budget.files, 0U);
        const auto file = copy.for_request(blocks);
        ASSERT_NE(file, nullptr);
        EXPECT_EQ(file->size(), 100U);
        EXPECT_EQ(copy.for_request(blocks), file);
        EXPECT_EQ(budget.files, 1U);
        EXPECT_EQ(budget.bytes, 100U);
    }
    EXPECT_EQ(budget.files, 0U);
    EXPECT_EQ(budget.bytes, 0U);
}

// What the copy is asked once it could be there.
std::shared_ptr<const io::MemoryFile> when_popular(SentCopy& copy, const std::vector<Block>& blocks) {
    for (std::size_t i = 0; i < SentCopy::kAskedBefore; ++i)
        copy.for_request(blocks);
    return copy.for_request(blocks);
}

TEST(SentCopy, HasBounds) {
    CopyBudget budget;
    SentCopy largest(budget), too_large(budget), of_many(budget), of_too_many(budget), of_bytes(budget),
        of_too_many_bytes(budget);
    EXPECT_NE(when_popular(largest, blocks_of(SentCopy::kBytesMax - 1)), nullptr);
    EXPECT_EQ(when_popular(too_large, blocks_of(SentCopy::kBytesMax)), nullptr);
    const auto real = budget;
    budget.files = CopyBudget::kFilesMax - 1;
    EXPECT_NE(when_popular(of_many, blocks_of(1)), nullptr);
    EXPECT_EQ(when_popular(of_too_many, blocks_of(1)), nullptr);
    budget = {2, CopyBudget::kBytesMax - 10};
    EXPECT_EQ(when_popular(of_too_many_bytes, blocks_of(10)), nullptr);
    EXPECT_NE(when_popular(of_bytes, blocks_of(9)), nullptr);
    EXPECT_EQ(budget.bytes, CopyBudget::kBytesMax);
    budget = {3, real.bytes + 2 + 10};
}

}  // namespace
}  // namespace live::service::files
