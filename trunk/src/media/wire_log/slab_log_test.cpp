#include "media/wire_log/slab_log.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

TEST(SlabLog, ReturnsBytesWrittenAcrossSlabs) {
    SlabPool pool;
    SlabLog log(pool);
    std::vector<std::uint8_t> bytes(200'000);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
    log.append(bytes);
    std::array<::iovec, 8> spans;
    const std::size_t count = log.spans(1000, 199'000, spans);
    ASSERT_EQ(count, 4U);
    std::size_t at = 1000;
    for (std::size_t i = 0; i < count; ++i) {
        const auto* data = static_cast<const std::uint8_t*>(spans[i].iov_base);
        ASSERT_TRUE(std::equal(data, data + spans[i].iov_len, bytes.begin() + static_cast<std::ptrdiff_t>(at)));
        at += spans[i].iov_len;
    }
    EXPECT_EQ(at, 199'000U);
    log.drop_before(140'000);
    EXPECT_EQ(pool.in_use(), 2U);
}

// Against a string, with references between copies, and slabs in use against those that are needed.
TEST(SlabLog, DropsTheOldestBytes) {
    std::mt19937 random(7);
    SlabPool pool;
    {
        SlabLog log(pool);
        std::vector<std::uint8_t> model;
        const auto read = [](const SlabLog& from_log, SlabLog::Position from, SlabLog::Position to) {
            std::vector<std::uint8_t> bytes;
            std::array<::iovec, 3> spans;
            while (from + bytes.size() < to)
                for (const ::iovec& span : std::span(spans).first(from_log.spans(from + bytes.size(), to, spans)))
                    bytes.insert(bytes.end(), static_cast<const std::uint8_t*>(span.iov_base),
                                 static_cast<const std::uint8_t*>(span.iov_base) + span.iov_len);
            return bytes;
        };
        for (int round = 0; round < 600; ++round) {
            Slice slice = Slice::allocate(random() % std::array{20U, 5'000U, 150'000U}[random() % 3]);
            for (std::uint8_t& byte : slice.mutable_bytes())
                byte = static_cast<std::uint8_t>(random());
            model.insert(model.end(), slice.bytes().begin(), slice.bytes().end());
            if (random() % 3 == 0)
                random() % 2 == 0 ? log.append_shared(std::move(slice)) : log.append_owned(std::move(slice));
            else
                log.append(slice.bytes());
            ASSERT_EQ(log.head(), model.size());
            if (random() % 4 == 0)
                log.drop_before(log.tail() + random() % (log.head() - log.tail() + 1));
            const auto from = log.tail() + random() % (log.head() - log.tail() + 1);
            const auto to = from + random() % (log.head() - from + 1);
            const std::vector<std::uint8_t> expected(model.begin() + static_cast<std::ptrdiff_t>(from),
                                                     model.begin() + static_cast<std::ptrdiff_t>(to));
            ASSERT_EQ(read(log, from, to), expected);
            const auto copy = log.copy_of(from, to);
            ASSERT_EQ(read(*copy, 0, copy->head()), expected);
            ASSERT_EQ(copy->head(), to - from);
        }
        EXPECT_LE(pool.in_use() * SlabPool::kSlabBytes, log.bytes());
        log.drop_before(log.head());
        EXPECT_LE(pool.in_use(), 1U) << "the one being filled";
        EXPECT_EQ(pool.in_use() * SlabPool::kSlabBytes, log.bytes()) << "nothing of its own is left";
    }
    EXPECT_EQ(pool.in_use(), 0U);
}

// After a long GOP, unused slabs are returned to the system in portions.
TEST(SlabPool, ReturnsUnusedSlabsInPortions) {
    SlabPool pool;
    std::vector<SlabPool::Slab> slabs;
    for (int i = 0; i < 1'200; ++i) {
        slabs.push_back(pool.take());
        std::memset(slabs.back().get(), 0xA5, SlabPool::kSlabBytes);
    }
    EXPECT_EQ(pool.in_use(), 1'200U);
    slabs.resize(1'000);
    EXPECT_EQ(pool.free(), 200U);
    EXPECT_EQ(pool.surplus(), 75U) << "an eighth of what is in use stays";
    EXPECT_TRUE(pool.give_back_unused());
    EXPECT_EQ(pool.free(), 200U - SlabPool::kGivenBackAtOnce);
    while (pool.give_back_unused()) {
    }
    EXPECT_EQ(pool.free(), 125U);
    slabs.clear();
    while (pool.give_back_unused()) {
    }
    EXPECT_EQ(pool.free(), SlabPool::kKeptMin);
    // Pages that were returned to the system are zero when they are used again.
    std::size_t zeros = 0;
    for (int i = 0; i < 1'200; ++i) {
        slabs.push_back(pool.take());
        zeros += slabs.back()[0] == 0 && std::memcmp(slabs.back().get(), slabs.back().get() + 1, SlabPool::kSlabBytes - 1) == 0
                     ? 1
                     : 0;
    }
    EXPECT_EQ(zeros, 1'200U - SlabPool::kKeptMin);
}

TEST(SlabPool, KeepsDroppedPayloadsForAnotherThread) {
    constexpr std::size_t kSize = 1U << 20;
    SlabPool pool;
    Slice shared = Slice::allocate(kSize);
    {
        SlabLog log(pool);
        for (int i = 0; i < 5; ++i)
            log.append_owned(Slice::allocate(kSize));
        EXPECT_EQ(log.bytes(), 5 * kSize);
        log.drop_before(2 * kSize);
        EXPECT_EQ(log.bytes(), 3 * kSize);
        EXPECT_EQ(pool.unused_bytes(), 2 * kSize);
        log.append_shared(shared);
        log.append_owned(Slice::allocate(10));
    }
    EXPECT_EQ(pool.unused_bytes(), 5 * kSize) << "not what others hold, and nothing small";
    EXPECT_EQ(pool.take_spent().size(), 5U);
    EXPECT_EQ(pool.unused_bytes(), 0U);
    for (std::size_t i = 0; i < 2 * SlabPool::kSpentMax / kSize; ++i)
        pool.recycle(Slice::allocate(kSize));
    EXPECT_EQ(pool.unused_bytes(), SlabPool::kSpentMax);
}

TEST(SlabPool, KeepsOnlyRegularlyUsedSlabs) {
    SlabPool pool;
    std::vector<SlabPool::Slab> slabs;
    const auto use = [&](int count) {
        for (int i = 0; i < count; ++i)
            slabs.push_back(pool.take());
        slabs.clear();
    };
    use(60);
    for (int i = 0; i < 5; ++i) {
        use(40);
        pool.age();
        while (pool.give_back_unused()) {
        }
        EXPECT_EQ(pool.free(), i == 0 ? 60U : 40U) << "twenty were not needed between two calls";
    }
    for (int i = 0; i < 2; ++i) {
        pool.age();
        while (pool.give_back_unused()) {
        }
    }
    EXPECT_EQ(pool.free(), 0U);
}

}  // namespace
}  // namespace live::media
