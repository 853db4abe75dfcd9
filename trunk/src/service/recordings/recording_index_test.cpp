#include "service/recordings/recording_index.hpp"

#include <ctime>

#include <gtest/gtest.h>

namespace live::service::recordings {
namespace {

constexpr WallTime kNoon{std::chrono::seconds(1'764'417'600)};

RecordingFile file_at(MediaTime start, MediaTime duration, const std::string& path = {}) {
    RecordingFile file;
    file.path = path.empty() ? std::to_string(start.count()) : path;
    file.start = kNoon + start;
    file.duration = duration;
    file.bytes = 1'000;
    return file;
}

class RecordingIndexTest : public testing::Test {
protected:
    void put(RecordingFile file) { MUST(index_.put("__defaultVhost__", "live", "cam", std::move(file))); }
    const RecordedStream& cam() const { return *index_.find("/live/cam"); }
    std::vector<std::pair<MediaTime, MediaTime>> spans(std::optional<MediaTime> from = {},
                                                       std::optional<MediaTime> to = {}) const {
        std::vector<std::pair<MediaTime, MediaTime>> all;
        const auto at = [](std::optional<MediaTime> time) { return time ? std::optional(kNoon + *time) : std::nullopt; };
        for (const RecordedSpan& span : spans_of(cam(), at(from), at(to)))
            all.emplace_back(span.start - kNoon, span.duration);
        return all;
    }

    RecordingIndex index_;
};

using Spans = std::vector<std::pair<MediaTime, MediaTime>>;

TEST_F(RecordingIndexTest, FilesWithoutAGapAreOneSpan) {
    put(file_at(60s, 30s));
    put(file_at(0s, 30s));
    put(file_at(30s + 20ms, 29s + 970ms));
    put(file_at(91s, 10s));
    EXPECT_EQ(spans(), (Spans{{0s, 90s}, {91s, 10s}}));
    EXPECT_EQ(spans(10s, 20s), (Spans{{10s, 10s}}));
    EXPECT_EQ(spans(89s, 92s), (Spans{{89s, 1s}, {91s, 1s}}));
    EXPECT_EQ(spans(101s), Spans{});
    EXPECT_EQ(index_.files(), 4u);
    EXPECT_EQ(index_.bytes(), 4'000u);
}

TEST_F(RecordingIndexTest, GapAtTheBoundIsNone) {
    put(file_at(0s, 30s));
    put(file_at(30s + RecordingIndex::kGapMax, 1s));
    put(file_at(31s + 2 * RecordingIndex::kGapMax + 1us, 1s));
    EXPECT_EQ(spans().size(), 2u);
}

TEST_F(RecordingIndexTest, GrowingFileIsReplaced) {
    put(file_at(0s, 1s, "a"));
    put(file_at(0s, 2s, "a"));
    EXPECT_EQ(index_.files(), 1u);
    EXPECT_EQ(spans(), (Spans{{0s, 2s}}));
    // The end of a file of a killed process: another start.
    put(file_at(-1s, 3s, "a"));
    EXPECT_EQ(index_.files(), 1u);
    EXPECT_EQ(index_.bytes(), 1'000u);
    EXPECT_TRUE(index_.remove("/live/cam", "a"));
    EXPECT_FALSE(index_.remove("/live/cam", "a"));
    EXPECT_EQ(index_.find("/live/cam"), nullptr);
    EXPECT_EQ(index_.bytes(), 0u);
}

TEST_F(RecordingIndexTest, PlaybackBeginsInTheFileThatHasTheTime) {
    put(file_at(0s, 30s));
    put(file_at(30s, 30s));
    put(file_at(100s, 30s));
    const auto starts = [this](MediaTime start, MediaTime duration) {
        std::vector<MediaTime> all;
        for (const RecordingFile& file : files_from(cam(), kNoon + start, duration))
            all.push_back(file.start - kNoon);
        return all;
    };
    using Starts = std::vector<MediaTime>;
    EXPECT_EQ(starts(10s, 5s), (Starts{0s}));
    EXPECT_EQ(starts(10s, 20s), (Starts{0s}));
    EXPECT_EQ(starts(10s, 21s), (Starts{0s, 30s}));
    EXPECT_EQ(starts(59s, 300s), (Starts{30s, 100s}));
    EXPECT_EQ(starts(70s, 31s), (Starts{100s}));
    EXPECT_EQ(starts(70s, 30s), (Starts{}));
    EXPECT_EQ(starts(130s, 300s), (Starts{}));
}

// 12:00 to 13:00; then the clock is set to 12:30, and an hour more is recorded.
TEST_F(RecordingIndexTest, ClockThatIsSetBackLosesNothing) {
    put(file_at(0h, 1h, "first"));
    put(file_at(30min, 1h, "second"));
    EXPECT_EQ(spans(), (Spans{{0h, 1h}, {30min, 1h}}));
    const auto whole = files_from(cam(), kNoon, 1h);
    ASSERT_EQ(whole.size(), 1u);
    EXPECT_EQ(whole[0].path, "first");
    const auto again = files_from(cam(), kNoon + 30min, 1h);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].path, "second");
}

TEST_F(RecordingIndexTest, SegmentsOfTwoPassesThroughOneTimeAreTwoSpans) {
    for (int i = 0; i < 3; ++i)
        put(file_at(i * 10min, 10min, "a" + std::to_string(i)));
    for (int i = 0; i < 3; ++i)
        put(file_at(5min + i * 10min, 10min, "b" + std::to_string(i)));
    EXPECT_EQ(spans(), (Spans{{0min, 30min}, {5min, 30min}}));
    EXPECT_EQ(files_from(cam(), kNoon, 30min).size(), 3u);
}

TEST_F(RecordingIndexTest, OtherHostsHaveTheirOwn) {
    put(file_at(0s, 1s));
    MUST(index_.put("other.test", "live", "cam", file_at(0s, 1s)));
    EXPECT_NE(index_.find("other.test/live/cam"), nullptr);
    EXPECT_EQ(index_.streams().size(), 2u);
    EXPECT_EQ(index_.find("/live/cam2"), nullptr);
}

// A bound for slow machines, in time on a processor; the figure is in the ADR.
TEST_F(RecordingIndexTest, SpansOfManyFilesAreQuick) {
    for (int i = 0; i < 100'000; ++i)
        put(file_at(std::chrono::minutes(i), i % 2 == 0 ? 60s : 59s));
    const std::clock_t begun = std::clock();
    EXPECT_EQ(spans_of(cam(), std::nullopt, std::nullopt).size(), 50'000u);
    EXPECT_LT(std::clock() - begun, CLOCKS_PER_SEC);
}

TEST_F(RecordingIndexTest, BoundsFiles) {
    for (std::size_t i = 0; i < RecordingIndex::kFilesMax; ++i)
        put(file_at(std::chrono::minutes(i), 1s));
    EXPECT_EQ(index_.put("__defaultVhost__", "live", "cam", file_at(-1s, 1s)).code(), Errc::limit);
    EXPECT_LT(index_.memory_bytes(), 60u << 20);
    put(file_at(0s, 2s));
}

}  // namespace
}  // namespace live::service::recordings
