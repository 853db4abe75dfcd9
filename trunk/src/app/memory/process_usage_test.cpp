#include "app/memory/process_usage.hpp"

#include <gtest/gtest.h>

#include "io/fibers/spin_fixture.hpp"

namespace live::app {
namespace {

TEST(ProcessUsage, MeasuresCpuUseSinceThePreviousSample) {
    ProcessUsage usage;
    const TimePoint begin{1s};
    EXPECT_EQ(usage.sample(begin).cpu_percent, 0) << "since when is not known yet";
    io::spin(30ms);
    const auto sample = usage.sample(begin + 100ms);
    EXPECT_GE(sample.cpu_percent, 29);
    EXPECT_EQ(usage.sample(begin + 100ms).cpu_percent, 0) << "no time has passed";
}

TEST(ProcessUsage, CountsResidentMemory) {
    EXPECT_GT(resident_bytes(), 1U << 20);
    EXPECT_GT(ProcessUsage().sample(TimePoint{1s}).resident_bytes, 1U << 20);
}

TEST(ProcessUsage, MeasuresTheTimeOfAThread) {
    const Duration before = thread_processor_time();
    io::spin(20ms);
    EXPECT_GE(thread_processor_time() - before, 15ms);
}

}  // namespace
}  // namespace live::app
