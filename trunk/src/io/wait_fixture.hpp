// For tests that wait for what other fibers or worker threads do.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "io/loop.hpp"

namespace live::io {

// Looks each millisecond. The test fails when it takes 20 s.
template <class Done>
void wait_until(Done done) {
    const auto limit = Deadline::after(std::chrono::seconds(20));
    while (!done()) {
        ASSERT_FALSE(limit.expired());
        ASSERT_TRUE(sleep(Deadline::after(std::chrono::milliseconds(1))).ok());
    }
}

}  // namespace live::io
