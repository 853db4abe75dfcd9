#include "bench/measure/tally.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>

#include <gtest/gtest.h>

#include "bench/load/console_log.hpp"

namespace live::bench {
namespace {

class TallyTest : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }

    std::unique_ptr<Tally> tally_ = std::make_unique<Tally>();
};

TEST_F(TallyTest, FormatsTheReportLine) {
    tally_->clients = 100;
    tally_->alive = 99;
    tally_->tasks = 105;
    tally_->failed = 2;
    tally_->finished = 4;
    tally_->task_time = std::chrono::seconds(50);
    tally_->sub_tasks = 7;
    tally_->sub_failed = 1;
    tally_->bytes_in = 75'000'000;
    tally_->bytes_out = 3'750;
    EXPECT_EQ(report_line(*tally_, std::chrono::microseconds(1'714'979'319'123'456), 4321, std::chrono::seconds(30)),
              "[2024-05-06 07:08:39.123] [report] [4321] threads:100 alive:99 duration:30 tduration:12 nread:20.00 nwrite:0.00 "
              "tasks:105 "
              "etasks:2 stasks:7 estasks:1\n");
}

TEST_F(TallyTest, HandlesZeroTime) {
    tally_->clients = 1;
    EXPECT_EQ(
        report_line(*tally_, std::chrono::microseconds(0), 1, std::chrono::seconds(0)),
        "[1970-01-01 00:00:00.000] [report] [1] threads:1 alive:0 duration:0 tduration:0 nread:0.00 nwrite:0.00 tasks:0 etasks:0 "
        "stasks:0 estasks:0\n");
}

TEST_F(TallyTest, WritesCsvRowsThatMatchTheHeader) {
    const auto before = std::make_unique<Tally>();
    before->bytes_in = 1'000'000;
    tally_->bytes_in = 2'000'000;
    tally_->delays_second.add(2'000);
    const std::string row = csv_row(3, *tally_, *before, std::chrono::milliseconds(500));
    EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(kCsvHeader, ','));
    EXPECT_EQ(row, "3,0,0,0,0,0,0,16.000,0.000,0,1,2.000,2.000,2.000\n");
}

TEST_F(TallyTest, FormatsTheProgressLine) {
    tally_->clients = 5000;
    tally_->started = 1200;
    tally_->alive = 1180;
    tally_->failed = 3;
    EXPECT_EQ(progress_line(*tally_), "starting: 1200 of 5000 clients, 1180 at work, 3 tasks failed\n");
}

TEST(ConsoleLog, WarningsAndErrorsEndWithTheErrno) {
    EXPECT_EQ(log_text(LogLevel::info, "3", "hello", 0), "[3][trace] hello");
    EXPECT_EQ(log_text(LogLevel::warn, "3", "hm", EAGAIN), "[3][warns] hm errno=11(Resource temporarily unavailable)");
    EXPECT_EQ(log_text(LogLevel::error, "3", "no", ECONNRESET), "[3][error] no errno=104(Connection reset by peer)");
}

}  // namespace
}  // namespace live::bench
