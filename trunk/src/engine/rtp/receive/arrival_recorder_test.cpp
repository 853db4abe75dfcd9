#include "engine/rtp/receive/arrival_recorder.hpp"

#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"

namespace live::engine::rtp {
namespace {

using wire::rtcp::TransportFeedback;

struct Recorder : testing::Test {
    TimePoint now{1h};
    ArrivalRecorder recorder;

    std::vector<TransportFeedback> after(std::chrono::milliseconds wait) {
        now += wait;
        std::vector<TransportFeedback> reports;
        while (auto report = recorder.poll(now, 1, 2))
            reports.push_back(std::move(*report));
        return reports;
    }
};

TEST_F(Recorder, ReportsArrivalsWithTimes) {
    recorder.received(now, 10);
    recorder.received(now + 20ms, 11);
    recorder.received(now + 30ms, 13);
    EXPECT_EQ(recorder.next_timeout(), now + 100ms);
    EXPECT_TRUE(after(99ms).empty());
    const auto reports = after(1ms);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].sender_ssrc, 1U);
    EXPECT_EQ(reports[0].media_ssrc, 2U);
    EXPECT_EQ(reports[0].base_sequence, 10);
    ASSERT_EQ(reports[0].packets.size(), 4U);
    EXPECT_EQ(*reports[0].packets[1].ticks, 80);
    EXPECT_FALSE(reports[0].packets[2].received);
    EXPECT_EQ(*reports[0].packets[3].ticks, 40);
    EXPECT_FALSE(recorder.next_timeout());
}

TEST_F(Recorder, NextReportContinuesWhereTheLastEnded) {
    recorder.received(now, 65'535);
    EXPECT_EQ(after(100ms)[0].feedback_count, 0);
    recorder.received(now, 2);
    const auto reports = after(100ms);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].base_sequence, 0);
    EXPECT_EQ(reports[0].packets.size(), 3U) << "0 and 1 were lost";
    EXPECT_EQ(reports[0].feedback_count, 1);
    recorder.received(now, 1);
    EXPECT_TRUE(after(100ms).empty()) << "what was told as lost stays so";
}

TEST_F(Recorder, ArrivalsFarApartAreSeveralReports) {
    recorder.received(now, 1);
    recorder.received(now + 9s, 2);
    const auto reports = after(10s);
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[1].base_sequence, 2);
    EXPECT_EQ(reports[1].reference_time - reports[0].reference_time, 140) << "9 s in steps of 64 ms";
}

TEST_F(Recorder, TimesDoNotDriftByRounding) {
    std::mt19937 random(1);
    std::vector<TimePoint> arrived;
    TimePoint at = now;
    for (std::uint16_t i = 0; i < 1'000; ++i) {
        at += std::chrono::microseconds(random() % 3'000);
        arrived.push_back(at);
        recorder.received(at, i);
    }
    const auto reports = after(10s);
    ASSERT_EQ(reports.size(), 1U);
    auto told = wire::rtcp::kReferenceTick * reports[0].reference_time;
    std::optional<std::chrono::microseconds> offset;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        told += wire::rtcp::kDeltaTick * *reports[0].packets[i].ticks;
        const auto difference = std::chrono::duration_cast<std::chrono::microseconds>(arrived[i].time_since_epoch()) - told;
        offset = offset.value_or(difference);
        EXPECT_LE(std::chrono::abs(difference - *offset), wire::rtcp::kDeltaTick) << i;
    }
}

TEST_F(Recorder, HasABound) {
    for (std::size_t i = 0; i < ArrivalRecorder::kPacketsMax + 10; ++i)
        recorder.received(now, static_cast<std::uint16_t>(i));
    EXPECT_EQ(recorder.waiting(), ArrivalRecorder::kPacketsMax);
    const auto reports = after(100ms);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].packets.size(), ArrivalRecorder::kPacketsMax);
    recorder.received(now, 30'000);
    const auto jumped = after(100ms);
    ASSERT_EQ(jumped.size(), 1U);
    EXPECT_EQ(jumped[0].packets.size(), 1U) << "a jump is not thousands of lost packets";
}

TEST_F(Recorder, ItsReportsCanBeWritten) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        ArrivalRecorder some;
        TimePoint at = now;
        std::uint16_t sequence = static_cast<std::uint16_t>(random());
        for (int i = 0; i < 300; ++i) {
            at += std::chrono::microseconds(random() % 400'000);
            sequence = static_cast<std::uint16_t>(sequence + 1 + random() % 4);
            some.received(at, sequence);
            while (const auto report = some.poll(at, 1, 2)) {
                ByteWriter out;
                write(out, *report);
                wire::rtcp::PacketReader reader(out.written());
                EXPECT_EQ(wire::rtcp::parse_transport_feedback(**reader.next()).value(), *report) << "seed " << seed;
            }
        }
    }
}

}  // namespace
}  // namespace live::engine::rtp
