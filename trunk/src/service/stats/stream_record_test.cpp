#include "service/stats/stream_record.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::service::stats {
namespace {

std::vector<StreamPoint> points_of(const StreamRecord& record) {
    std::vector<StreamPoint> points;
    record.history().for_each({}, [&points](Slot, const StreamPoint& point) { points.push_back(point); });
    return points;
}

TEST(StreamRecord, APointHasTheRatesOfItsInterval) {
    StreamRecord record;
    record.begin(TimePoint(100s));
    record.add_delay(100ms);
    record.add_delay(300ms);
    record.sample(TimePoint(104s), {400'000, 100'000, 100}, 2s, {3, 0, 70'000});
    record.sample(TimePoint(107s), {700'000, 100'000, 175}, 2s, {});
    record.sample(TimePoint(114s), {1'650'000, 100'000, 350}, std::nullopt, {});
    const auto points = points_of(record);
    ASSERT_EQ(points.size(), 2U);
    EXPECT_FLOAT_EQ(points[0].received_kbps, 800);
    EXPECT_FLOAT_EQ(points[0].sent_kbps, 200);
    EXPECT_FLOAT_EQ(points[0].frames_per_second, 25);
    EXPECT_FLOAT_EQ(points[0].key_frame_seconds, 2);
    EXPECT_FLOAT_EQ(points[0].delay_seconds, 0.2F);
    EXPECT_EQ(points[0].viewers[0], 3);
    EXPECT_EQ(points[0].viewers[2], 65'535) << "as many as fit";
    EXPECT_FLOAT_EQ(points[1].received_kbps, 1000);
    EXPECT_FLOAT_EQ(points[1].key_frame_seconds, -1);
    EXPECT_FLOAT_EQ(points[1].delay_seconds, -1) << "nobody plays";
}

TEST(StreamRecord, ABeginStartsTheTotalsAnewAndKeepsThePoints) {
    StreamRecord record;
    record.begin(TimePoint(0s));
    record.sample(TimePoint(10s), {1'000'000, 0, 0}, {}, {});
    record.begin(TimePoint(15s));
    record.sample(TimePoint(25s), {1'000'000, 0, 0}, {}, {});
    ASSERT_EQ(points_of(record).size(), 2U);
    EXPECT_FLOAT_EQ(points_of(record)[1].received_kbps, 800);
    record.sample(TimePoint(35s), {0, 0, 0}, {}, {});
    EXPECT_FLOAT_EQ(points_of(record)[2].received_kbps, 0) << "a counter that went back";
}

TEST(StreamRecord, EventsAndTheirTextsAreBounded) {
    StreamRecord record;
    const std::string text = std::string(StreamEvent::kTextMax - 1, 'x') + "\xc3\xa9" + std::string(5000, 'y');
    for (int i = 0; i < 100; ++i)
        record.add_event(TimePoint(std::chrono::seconds(i)), "published", "id", text);
    ASSERT_EQ(record.events().size(), StreamRecord::kEventsMax);
    EXPECT_EQ(record.events().front().at, TimePoint(84s));
    EXPECT_EQ(record.events().back().text, std::string(StreamEvent::kTextMax - 1, 'x')) << "a letter is left whole, or out";
    const std::size_t bytes = record.bytes();
    for (int i = 0; i < 5000; ++i)
        record.sample(TimePoint(std::chrono::seconds(10 * i)), {}, {}, {});
    EXPECT_GT(record.bytes(), bytes);
    EXPECT_LT(record.bytes(), 24'000U);
}

TEST(StreamRecord, AudioIsBehindWhenItIsSteadily) {
    StreamRecord record;
    const auto add = [&record](MediaTime audio, MediaTime video) { record.add_times(audio, video); };
    for (int i = 0; i < 4; ++i)
        add(1s, 1300ms + MediaTime(std::chrono::milliseconds(i)));
    EXPECT_FALSE(record.audio_behind());
    add(2s, 2350ms);
    EXPECT_EQ(record.audio_behind(), MediaTime(300ms));
    add(3s, 2990ms);
    EXPECT_EQ(record.audio_behind(), MediaTime::zero()) << "once it was not";
    for (int i = 0; i < 5; ++i)
        add(2s, 1500ms);
    EXPECT_EQ(record.audio_behind(), MediaTime(-500ms));
    record.restart_times();
    EXPECT_FALSE(record.audio_behind());
}

TEST(StreamRecord, TheBestFrameRateIsThatOfTheLastMinutes) {
    StreamRecord record;
    EXPECT_EQ(record.best_frame_rate(), 0);
    record.begin(TimePoint(0s));
    std::uint64_t frames = 0;
    for (int i = 1; i <= 40; ++i) {
        frames += i <= 5 ? 600 : 300;
        record.sample(TimePoint(std::chrono::seconds(10 * i)), {0, 0, frames}, {}, {});
        EXPECT_EQ(record.best_frame_rate(), i <= 34 ? 60 : 30) << i;
    }
}

}  // namespace
}  // namespace live::service::stats
