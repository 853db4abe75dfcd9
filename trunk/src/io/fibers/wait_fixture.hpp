// For tests that wait for other fibers or worker threads.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"

namespace live::io {

// Longer than anything that a test waits for takes on a busy machine, under valgrind too.
inline constexpr std::chrono::seconds kSoon{60};

// Polls every millisecond. The test fails when it takes longer than kSoon.
template <class Done>
void wait_until(Done done) {
    const auto limit = Deadline::after(kSoon);
    while (!done()) {
        ASSERT_FALSE(limit.expired());
        ASSERT_TRUE(sleep(Deadline::after(std::chrono::milliseconds(1))).ok());
    }
}

}  // namespace live::io
