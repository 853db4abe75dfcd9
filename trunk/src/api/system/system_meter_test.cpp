#include "api/system/system_meter.hpp"

#include <gtest/gtest.h>

namespace live::api {
namespace {

Reading reading_at(std::chrono::seconds when) {
    Reading reading;
    reading.when = TimePoint(when);
    reading.unix_time = 1'715'000'000s + when;
    reading.files.stat = "cpu  100 0 100 800 0 0 0 0 0 0\n";
    reading.files.self_stat = "1 (srs) S 1 1 1 0 -1 0 0 0 0 0 50 50 0 0\n";
    reading.files.meminfo =
        "MemTotal: 1000 kB\nMemFree: 400 kB\nBuffers: 100 kB\nCached: 250 kB\nSwapTotal: 200 kB\nSwapFree: 150 kB\n";
    reading.files.vmstat = "pgpgin 1000\npgpgout 2000\n";
    reading.files.diskstats = " 254 0 vda 1 2 3 4 5 6 7 8 0 1000 9 0\n";
    reading.files.net_dev = " lo:5 0 0 0 0 0 0 0 5 0\n eth0:10 0 0 0 0 0 0 0 20 0\n eth1:100 0 0 0 0 0 0 0 200 0\n";
    reading.internet_interfaces = {"eth1"};
    reading.resources.maxrss = 100;
    reading.totals = {7, 8, 9};
    return reading;
}

TEST(SystemMeter, OneReadingHasLevelsButNoRates) {
    SystemMeter meter;
    EXPECT_FALSE(meter.figures().is_complete);
    meter.add(reading_at(10s));
    const SystemFigures& figures = meter.figures();
    EXPECT_FALSE(figures.is_complete);
    EXPECT_DOUBLE_EQ(figures.memory_share, 0.25);
    EXPECT_DOUBLE_EQ(figures.swap_share, 0.25);
    EXPECT_DOUBLE_EQ(figures.resident_share, 0.1);
    EXPECT_EQ(figures.internet.received, 100U);
    EXPECT_EQ(figures.internet.sent, 200U);
    EXPECT_EQ(figures.intranet.received, 15U);
    EXPECT_EQ(figures.intranet.sent, 25U);
    EXPECT_EQ(figures.totals.connections, 9U);
    EXPECT_DOUBLE_EQ(figures.cpu_share, 0);
}

TEST(SystemMeter, TwoReadingsHaveRates) {
    SystemMeter meter;
    meter.add(reading_at(10s));
    Reading later = reading_at(14s);
    later.files.stat = "cpu  200 0 200 1000 0 0 0 0 0 0\n";                 // 400 ticks, 200 of them idle
    later.files.self_stat = "1 (srs) S 1 1 1 0 -1 0 0 0 0 0 90 110 0 0\n";  // 100 ticks in 4 s
    later.files.vmstat = "pgpgin 1400\npgpgout 2004\n";
    later.files.diskstats = " 254 0 vda 1 2 3 4 5 6 7 8 0 3000 9 0\n";
    meter.add(later);
    const SystemFigures& figures = meter.figures();
    EXPECT_TRUE(figures.is_complete);
    EXPECT_DOUBLE_EQ(figures.cpu_share, 0.5);
    EXPECT_DOUBLE_EQ(figures.self_cpu_share, 0.25);
    EXPECT_EQ(figures.disk_read_kbyte_per_second, 100U);
    EXPECT_EQ(figures.disk_write_kbyte_per_second, 1U);
    EXPECT_DOUBLE_EQ(figures.disk_busy_share, 0.5);
}

TEST(SystemMeter, DecreasesAndMissingFilesGiveZero) {
    SystemMeter meter;
    meter.add(reading_at(10s));
    Reading later = reading_at(11s);
    later.files = {};
    meter.add(later);
    EXPECT_DOUBLE_EQ(meter.figures().cpu_share, 0);
    EXPECT_DOUBLE_EQ(meter.figures().disk_busy_share, 0);
    EXPECT_EQ(meter.figures().disk_read_kbyte_per_second, 0U);
    EXPECT_DOUBLE_EQ(meter.figures().memory_share, 0);
}

}  // namespace
}  // namespace live::api
