#include "api/system/machine_record.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::api {
namespace {

constexpr std::array kBounds = {0.001, 0.01, 0.1};

double share_of(const std::array<std::uint64_t, 4>& counts, double share) { return bound_of_share(counts, kBounds, share); }

TEST(MachineRecord, FindsTheBoundOfAShare) {
    EXPECT_EQ(share_of({}, 0.99), 0);
    EXPECT_EQ(share_of({1, 0, 0, 0}, 0.99), 0.001);
    EXPECT_EQ(share_of({99, 1, 0, 0}, 0.99), 0.001);
    EXPECT_EQ(share_of({98, 2, 0, 0}, 0.99), 0.01);
    EXPECT_EQ(share_of({0, 0, 1, 0}, 0.99), 0.1);
    EXPECT_EQ(share_of({0, 0, 0, 5}, 0.99), 0.1) << "no bound is higher";
}

TEST(MachineRecord, APointHasTheFiguresOfItsInterval) {
    MachineRecord record;
    SystemFigures figures;
    figures.totals = {1'000'000, 2'000'000, 7, {}, 0};
    figures.self_cpu_share = 0.5;
    figures.cpu_share = 0.25;
    figures.resident_share = 0.5;
    figures.memory.total_kbyte = 1000;
    MachineRecord::LagCounts lag{};
    lag[3] = 1000;
    record.add(TimePoint(100s), figures, lag);
    std::vector<MachinePoint> points;
    const auto read = [&] {
        points.clear();
        record.history().for_each({}, [&](auto, const MachinePoint& point) { points.push_back(point); });
    };
    read();
    EXPECT_TRUE(points.empty()) << "a rate needs two readings";
    figures.totals.received_bytes += 500'000;
    figures.totals.sent_bytes += 1'000'000;
    lag[3] += 1;
    lag[6] += 1;
    record.add(TimePoint(104s), figures, lag);
    record.add(TimePoint(108s), figures, lag);
    read();
    ASSERT_EQ(points.size(), 1U) << "one in each interval";
    EXPECT_FLOAT_EQ(points[0].received_kbps, 1000);
    EXPECT_FLOAT_EQ(points[0].sent_kbps, 2000);
    EXPECT_FLOAT_EQ(points[0].cpu_share, 0.5);
    EXPECT_FLOAT_EQ(points[0].machine_cpu_share, 0.25);
    EXPECT_FLOAT_EQ(points[0].lag_seconds, static_cast<float>(io::LoopWatch::kLagBounds[6])) << "of this interval alone";
    EXPECT_EQ(points[0].connections, 7U);
    EXPECT_EQ(points[0].resident_bytes, 512'000U);
    record.add(TimePoint(111s), figures, lag);
    read();
    ASSERT_EQ(points.size(), 2U);
    EXPECT_FLOAT_EQ(points[1].sent_kbps, 0);
}

}  // namespace
}  // namespace live::api
