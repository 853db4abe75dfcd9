#include "bench/measure/load_totals.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>

#include <gtest/gtest.h>

#include "bench/load/console_log.hpp"

namespace live::bench {
namespace {

class LoadTotalsTest : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }

    std::unique_ptr<LoadTotals> totals_ = std::make_unique<LoadTotals>();
};

TEST_F(LoadTotalsTest, FormatsTheReportLine) {
    totals_->clients = 100;
    totals_->alive = 99;
    totals_->tasks = 105;
    totals_->failed = 2;
    totals_->finished = 4;
    totals_->task_time = std::chrono::seconds(50);
    totals_->sub_tasks = 7;
    totals_->sub_failed = 1;
    totals_->bytes_in = 75'000'000;
    totals_->bytes_out = 3'750;
    EXPECT_EQ(report_line(*totals_, std::chrono::microseconds(1'714'979'319'123'456), 4321, std::chrono::seconds(30)),
              "[2024-05-06 07:08:39.123] [report] [4321] threads:100 alive:99 duration:30 tduration:12 nread:20.00 nwrite:0.00 "
              "tasks:105 "
              "etasks:2 stasks:7 estasks:1\n");
}

TEST_F(LoadTotalsTest, HandlesZeroTime) {
    totals_->clients = 1;
    EXPECT_EQ(
        report_line(*totals_, std::chrono::microseconds(0), 1, std::chrono::seconds(0)),
        "[1970-01-01 00:00:00.000] [report] [1] threads:1 alive:0 duration:0 tduration:0 nread:0.00 nwrite:0.00 tasks:0 etasks:0 "
        "stasks:0 estasks:0\n");
}

TEST_F(LoadTotalsTest, WritesCsvRowsThatMatchTheHeader) {
    const auto before = std::make_unique<LoadTotals>();
    before->bytes_in = 1'000'000;
    totals_->bytes_in = 2'000'000;
    totals_->delays_second.add(2'000);
    const std::string row = csv_row(3, *totals_, *before, std::chrono::milliseconds(500));
    EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(kCsvHeader, ','));
    EXPECT_EQ(row, "3,0,0,0,0,0,0,16.000,0.000,0,1,2.000,2.000,2.000\n");
}

TEST_F(LoadTotalsTest, FormatsTheProgressLine) {
    totals_->clients = 5000;
    totals_->started = 1200;
    totals_->alive = 1180;
    totals_->failed = 3;
    EXPECT_EQ(progress_line(*totals_), "starting: 1200 of 5000 clients, 1180 at work, 3 tasks failed\n");
}

TEST(ConsoleLog, WarningsAndErrorsEndWithTheErrno) {
    EXPECT_EQ(log_text(LogLevel::info, "3", "hello", 0), "[3][trace] hello");
    EXPECT_EQ(log_text(LogLevel::warn, "3", "hm", EAGAIN), "[3][warns] hm errno=11(Resource temporarily unavailable)");
    EXPECT_EQ(log_text(LogLevel::error, "3", "no", ECONNRESET), "[3][error] no errno=104(Connection reset by peer)");
}

}  // namespace
}  // namespace live::bench
