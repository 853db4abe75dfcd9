#include "wire/rtmp/aggregate.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::wire::rtmp {
namespace {

using Octets = std::vector<std::uint8_t>;

Message aggregate(const Octets& payload, std::uint32_t timestamp_ms) {
    return {MessageType::aggregate, timestamp_ms, 1, 6, Slice::copy_of(payload)};
}

// An audio part at 0x01000010 and a video part 5 ms later.
const Octets kTwoParts = {8, 0, 0, 2, 0, 0, 0x10, 1, 0, 0, 0, 0xAF, 1, 0, 0, 0, 13,  //
                          9, 0, 0, 1, 0, 0, 0x15, 1, 0, 0, 0, 0x17, 0, 0, 0, 12};

TEST(Aggregate, GivesItsPartsOnItsOwnTimeline) {
    AggregateReader reader(aggregate(kTwoParts, 1000));
    const auto first = reader.next();
    ASSERT_TRUE(first.ok() && first->has_value());
    EXPECT_EQ((*first)->type, MessageType::audio);
    EXPECT_EQ((*first)->timestamp_ms, 1000U);
    EXPECT_EQ((*first)->stream_id, 1U);
    EXPECT_EQ((*first)->chunk_stream, 6U);
    EXPECT_EQ(Octets((*first)->payload.bytes().begin(), (*first)->payload.bytes().end()), (Octets{0xAF, 1}));
    const auto second = reader.next();
    ASSERT_TRUE(second.ok() && second->has_value());
    EXPECT_EQ((*second)->type, MessageType::video);
    EXPECT_EQ((*second)->timestamp_ms, 1005U);
    const auto end = reader.next();
    ASSERT_TRUE(end.ok());
    EXPECT_FALSE(end->has_value());
}

TEST(Aggregate, PartsShareTheMemory) {
    const Message whole = aggregate(kTwoParts, 0);
    const std::uint8_t* memory = whole.payload.data();
    AggregateReader reader(whole);
    const auto first = reader.next();
    ASSERT_TRUE(first.ok() && first->has_value());
    EXPECT_EQ((*first)->payload.data(), memory + 11);
}

TEST(Aggregate, ATruncationInsideAPartIsMalformed) {
    for (std::size_t size = 0; size < kTwoParts.size(); ++size) {
        SCOPED_TRACE("of " + std::to_string(size));
        AggregateReader reader(aggregate(Octets(kTwoParts.begin(), kTwoParts.begin() + static_cast<std::ptrdiff_t>(size)), 0));
        std::size_t parts = 0;
        auto part = reader.next();
        for (; part.ok() && part->has_value(); part = reader.next())
            ++parts;
        EXPECT_EQ(parts, size >= 17 ? 1U : 0U);
        const bool whole = size == 0 || size == 17;
        EXPECT_EQ(part.ok(), whole);
        if (!whole) {
            EXPECT_EQ(part.code(), Errc::malformed);
        }
    }
}

TEST(Aggregate, RefusesALengthBeyondItsEnd) {
    AggregateReader reader(aggregate({8, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 13}, 0));
    EXPECT_EQ(reader.next().code(), Errc::malformed);
}

TEST(Aggregate, RefusesAnAggregateInside) {
    AggregateReader reader(aggregate({22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11}, 0));
    const auto part = reader.next();
    ASSERT_FALSE(part.ok());
    EXPECT_EQ(part.error().text(), "malformed: aggregate inside an aggregate");
}

}  // namespace
}  // namespace live::wire::rtmp
