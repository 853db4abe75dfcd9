#include "service/recordings/retention.hpp"

#include <gtest/gtest.h>

namespace live::service::recordings {
namespace {

constexpr WallTime kStart{std::chrono::seconds(1'764'417'600)};
constexpr std::uint64_t kMiB = 1U << 20;

class RetentionTest : public testing::Test {
protected:
    RecordingFile& put(const std::string& stream, int hour, std::uint64_t mib = 10) {
        RecordingFile file;
        file.path = stream + std::to_string(hour);
        file.start = kStart + std::chrono::hours(hour);
        file.duration = 1h;
        file.bytes = mib * kMiB;
        MUST(index_.put("__defaultVhost__", "live", stream, file));
        return *index_.find_file("/live/" + stream, file.path);
    }
    std::vector<std::string> due(int hour, std::optional<std::uint64_t> free_mib = {}, std::size_t most = 100) const {
        std::vector<std::string> paths;
        const auto free_bytes = free_mib ? std::optional(*free_mib * kMiB) : std::nullopt;
        for (const DueRecording& one : due_recordings(index_, options_, kStart + std::chrono::hours(hour), free_bytes, most))
            paths.push_back(one.path);
        return paths;
    }

    RecordingIndex index_;
    RetentionOptions options_;
};

using Paths = std::vector<std::string>;

TEST_F(RetentionTest, NothingIsDeletedWithoutARule) {
    put("a", 0);
    EXPECT_EQ(due(1'000'000, 0), Paths{});
    EXPECT_FALSE(options_.is_on());
}

TEST_F(RetentionTest, AgeCountsFromTheEnd) {
    for (int hour = 0; hour < 5; ++hour)
        put("a", hour);
    options_.delete_after = 2h;
    EXPECT_EQ(due(4), (Paths{"a0"}));
    EXPECT_EQ(due(3), Paths{});
}

TEST_F(RetentionTest, PinnedOnesAndTheFileInProgressStay) {
    put("a", 0).is_pinned = true;
    put("a", 1);
    put("a", 2).is_open = true;
    options_ = {.delete_after = 1s, .stream_size = 1, .total_size = 1, .min_free = 1'000};
    EXPECT_EQ(due(100, 0), (Paths{"a1"}));
}

TEST_F(RetentionTest, SizeOfAStreamIsItsOwn) {
    for (int hour = 0; hour < 4; ++hour)
        put("a", hour);
    put("b", 0, 15);
    options_.stream_size = 20;
    EXPECT_EQ(due(5), (Paths{"a0", "a1"}));
}

TEST_F(RetentionTest, OldestOfAllStreamsGoFirst) {
    put("a", 3);
    put("b", 1);
    put("c", 2);
    put("a", 4);
    options_.total_size = 25;
    EXPECT_EQ(due(5), (Paths{"b1", "c2"}));
    options_ = {.delete_after = {}, .stream_size = 0, .total_size = 0, .min_free = 100};
    EXPECT_EQ(due(5, 100), Paths{});
    EXPECT_EQ(due(5, 95), (Paths{"b1"}));
    EXPECT_EQ(due(5, 79), (Paths{"b1", "c2", "a3"}));
    EXPECT_EQ(due(5, 0), (Paths{"b1", "c2", "a3", "a4"}));
    EXPECT_EQ(due(5, 0, 2), (Paths{"b1", "c2"}));
}

// Files that one rule deletes count for the others.
TEST_F(RetentionTest, RulesDoNotAddUp) {
    for (int hour = 0; hour < 4; ++hour)
        put("a", hour);
    options_ = {.delete_after = 1h, .stream_size = 0, .total_size = 20, .min_free = 0};
    EXPECT_EQ(due(4), (Paths{"a0", "a1"}));
}

TEST(GrowthMeter, CountsTheLastHour) {
    GrowthMeter meter;
    const TimePoint start{};
    EXPECT_EQ(meter.rate(start), 0);
    for (int second = 0; second < 600; ++second)
        meter.add(start + std::chrono::seconds(second), 1'000);
    EXPECT_NEAR(meter.rate(start + 600s), 1'000, 5);
    EXPECT_NEAR(meter.rate(start + 1h), 600'000.0 / 3'600, 5);
    EXPECT_NEAR(meter.rate(start + 2h), 0, 1);
}

TEST(GrowthMeter, PredictsWhenTheDiskIsFull) {
    RetentionOptions options;
    EXPECT_EQ(time_until_full(options, 0, 1'000, 0), std::nullopt);
    EXPECT_EQ(time_until_full(options, 0, 1'000'000, 1'000), 1'000s);
    options.min_free = 1;
    EXPECT_EQ(time_until_full(options, 0, kMiB + 5'000, 1'000), 5s);
    options.total_size = 1;
    EXPECT_EQ(time_until_full(options, kMiB - 2'000, 10 * kMiB, 1'000), 2s);
    EXPECT_EQ(time_until_full(options, 2 * kMiB, 10 * kMiB, 1'000), 0s);
}

}  // namespace
}  // namespace live::service::recordings
