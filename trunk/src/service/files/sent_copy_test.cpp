#include "service/files/sent_copy.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace live::service::files {
namespace {

std::vector<Block> blocks_of(std::size_t size) {
    return {std::make_shared<const std::vector<std::uint8_t>>(size, std::uint8_t{7}),
            std::make_shared<const std::vector<std::uint8_t>>(1, std::uint8_t{8})};
}

TEST(SentCopy, IsMadeAfterTheFirstRequests) {
    const auto budget_of_all = std::make_shared<CopyBudget>();
    CopyBudget& budget = *budget_of_all;
    {
        SentCopy copy(budget_of_all);
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

// The copy after enough requests to create it.
std::shared_ptr<const io::MemoryFile> when_popular(SentCopy& copy, const std::vector<Block>& blocks) {
    for (std::size_t i = 0; i < SentCopy::kAskedBefore; ++i)
        copy.for_request(blocks);
    return copy.for_request(blocks);
}

TEST(SentCopy, HasBounds) {
    const auto budget_of_all = std::make_shared<CopyBudget>();
    CopyBudget& budget = *budget_of_all;
    SentCopy largest(budget_of_all), too_large(budget_of_all), of_many(budget_of_all), of_too_many(budget_of_all),
        of_bytes(budget_of_all), of_too_many_bytes(budget_of_all);
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

TEST(SentCopy, GrowsWithTheBlocksUntilItIsTooLarge) {
    const auto budget = std::make_shared<CopyBudget>();
    SentCopy copy(budget);
    auto blocks = blocks_of(99);
    copy.append(blocks.front());
    EXPECT_EQ(budget->bytes, 0U) << "nobody has asked";
    const auto file = when_popular(copy, blocks);
    ASSERT_NE(file, nullptr);
    blocks.push_back(blocks_of(50).front());
    copy.append(blocks.back());
    EXPECT_EQ(file->size(), 150U);
    EXPECT_EQ(budget->bytes, 150U);
    copy.append(blocks_of(SentCopy::kBytesMax).front());
    EXPECT_EQ(copy.for_request(blocks), nullptr);
    EXPECT_EQ(file->size(), 150U) << "whoever is sent it has it still";
    EXPECT_EQ(budget->files, 0U);
    EXPECT_EQ(budget->bytes, 0U);
}

}  // namespace
}  // namespace live::service::files
