#include "bench/load/load_window.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include <gtest/gtest.h>

namespace live::bench {
namespace {

using Json = nlohmann::json;
using std::chrono::microseconds;

class LoadWindowTest : public testing::Test {
protected:
    LoadWindowTest() { totals_->clients = clients_.size(); }

    void receive(std::size_t client, std::uint64_t bytes) {
        clients_[client].on_bytes(bytes);
        totals_->bytes_in += bytes;
        totals_->leader_bytes = std::max(totals_->leader_bytes, clients_[client].bytes());
    }
    Json line(const LoadWindow& window, TimePoint now) const { return Json::parse(window.line("report", now)); }

    const TimePoint start_ = TimePoint(100s);
    std::unique_ptr<LoadTotals> totals_ = std::make_unique<LoadTotals>();
    std::vector<ClientMeter> clients_ = std::vector<ClientMeter>(3);
    FrameDelays frames_{3};
    LoadWindow window_{*totals_, clients_, frames_, LoadWindow::Side::plays};
};

TEST_F(LoadWindowTest, CountsBytesSinceTheMark) {
    receive(0, 5'000);
    window_.mark(start_, SystemMicros(0));
    receive(0, 300);
    receive(1, 200);
    const Json said = line(window_, start_ + 2s);
    EXPECT_EQ(said["event"], "report");
    EXPECT_EQ(said["seconds"], 2.0);
    EXPECT_EQ(said["window_bytes"], 500);
    EXPECT_EQ(said["total_bytes"], 5'500);
    EXPECT_EQ(said["first_bytes"], 5'300);
    EXPECT_EQ(said["bytes_min"], 0);
    EXPECT_EQ(said["bytes_max"], 5'300);
}

TEST_F(LoadWindowTest, ItIsReadyWhenEveryClientPlaysOrHasFailed) {
    EXPECT_FALSE(window_.is_ready());
    totals_->started = 3;
    totals_->open = 2;
    EXPECT_FALSE(window_.is_ready());
    totals_->failed = 1;
    EXPECT_TRUE(window_.is_ready());
}

TEST_F(LoadWindowTest, ClientsAreBehindTheLeaderByTime) {
    window_.mark(start_, SystemMicros(0));
    for (int i = 0; i <= 100; ++i) {
        receive(0, 1'000);
        receive(1, 1'000);
        if (i < 70)
            receive(2, 1'000);
        window_.tick(start_ + i * 10ms);
    }
    const Json said = line(window_, start_ + 1s);
    EXPECT_EQ(said["lag_ms_max"], 300.0);
    window_.mark(start_ + 1s, SystemMicros(0));
    EXPECT_EQ(line(window_, start_ + 1s)["lag_ms_max"], 0.0);
}

TEST_F(LoadWindowTest, FramesOfTheWindowHaveTheirDelays) {
    frames_.add(0, SystemMicros(5), microseconds(1));
    window_.mark(start_, SystemMicros(10));
    for (std::uint64_t client = 0; client < 3; ++client)
        frames_.add(client, SystemMicros(20), microseconds(1'000 * (3 - client)));
    frames_.add(0, SystemMicros(30), microseconds(1));
    const Json said = line(window_, start_ + 1s);
    EXPECT_EQ(said["frames"], 1);
    EXPECT_EQ(said["frames_incomplete"], 1);
    EXPECT_EQ(said["newest_ms_p50"], 1.0);
    EXPECT_EQ(said["slowest_ms_p99"], 3.0);
}

TEST_F(LoadWindowTest, ReportsTheDelayOfPublishers) {
    LoadWindow window(*totals_, clients_, frames_, LoadWindow::Side::publishes);
    totals_->late_max = microseconds(90'000);
    totals_->stamps = 7;
    window.mark(start_, SystemMicros(0));
    totals_->late_max = microseconds(1'500);
    totals_->bytes_out = 800;
    totals_->stamps = 9;
    const Json said = line(window, start_ + 1s);
    EXPECT_EQ(said["late_ms_max"], 1.5);
    EXPECT_EQ(said["window_bytes"], 800);
    EXPECT_EQ(said["stamps"], 2);
    EXPECT_FALSE(said.contains("lag_ms_max"));
}

}  // namespace
}  // namespace live::bench
