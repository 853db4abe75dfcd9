// For tests that wait for other fibers or worker threads.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "io/loop.hpp"

namespace live::io {

// Polls every millisecond. The test fails after 20 s.
template <class Done>
void wait_until(Done done) {
    const auto limit = Deadline::after(std::chrono::seconds(20));
    while (!done()) {
        ASSERT_FALSE(limit.expired());
        ASSERT_TRUE(sleep(Deadline::after(std::chrono::milliseconds(1))).ok());
    }
}

}  // namespace live::io
