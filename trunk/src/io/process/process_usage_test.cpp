#include "io/process/process_usage.hpp"

#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace live::io {
namespace {

constexpr std::string_view kStat =
    "4711 (a ) b) S 1 4711 4711 0 -1 4194560 1234 0 0 0 250 50 0 0 20 0 5 0 100000 99999744 2000 18446744073709551615 1 1 0";

TEST(ProcessUsage, ReadsTimeAndMemory) {
    const auto usage = read_process_stat(kStat, 100, 4096);
    ASSERT_TRUE(usage.has_value());
    EXPECT_DOUBLE_EQ(usage->cpu_seconds, 3.0);
    EXPECT_EQ(usage->resident_bytes, 2000U * 4096);
}

TEST(ProcessUsage, ShortTextsHaveNone) {
    const std::size_t enough = kStat.find(" 2000 ") + 2;
    for (std::size_t size = 0; size < enough - 1; ++size)
        EXPECT_FALSE(read_process_stat(kStat.substr(0, size), 100, 4096).has_value()) << size;
}

TEST(ProcessUsage, ReadsItsOwnProcess) {
    const auto usage = usage_of(::getpid());
    ASSERT_TRUE(usage.has_value());
    EXPECT_GT(usage->resident_bytes, 100'000U);
    EXPECT_FALSE(usage_of(-1).has_value());
}

}  // namespace
}  // namespace live::io
