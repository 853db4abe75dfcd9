#include "engine/http2/flood_guard.hpp"

#include <gtest/gtest.h>

namespace live::engine::http2 {
namespace {

constexpr TimePoint kStart{};

TEST(Http2FloodGuard, AllowsABurstOfResetsAndThenARate) {
    FloodGuard guard;
    for (std::size_t i = 0; i < FloodGuard::kResetsMax; ++i)
        EXPECT_FALSE(guard.on_client_reset(kStart));
    EXPECT_EQ(guard.on_client_reset(kStart), Flood::client_resets);
    EXPECT_FALSE(guard.on_client_reset(kStart + 50ms));
    EXPECT_EQ(guard.on_client_reset(kStart + 51ms), Flood::client_resets);
}

TEST(Http2FloodGuard, CountsResetsOfTheServerApart) {
    FloodGuard guard;
    for (std::size_t i = 0; i < FloodGuard::kResetsMax; ++i)
        EXPECT_FALSE(guard.on_client_reset(kStart));
    EXPECT_FALSE(guard.on_server_reset(kStart));
}

TEST(Http2FloodGuard, RefillsNoMoreThanItsBurst) {
    FloodGuard guard;
    EXPECT_FALSE(guard.on_control(kStart));
    const TimePoint later = kStart + std::chrono::hours(1000);
    for (std::size_t i = 0; i < FloodGuard::kControlsMax; ++i)
        EXPECT_FALSE(guard.on_control(later));
    EXPECT_EQ(guard.on_control(later), Flood::control);
}

TEST(Http2FloodGuard, BoundsFramesAndBytesOfAHeaderBlock) {
    FloodGuard guard;
    EXPECT_FALSE(guard.on_header_frame(true, 1));
    for (std::size_t i = 0; i < FloodGuard::kContinuationsMax; ++i)
        EXPECT_FALSE(guard.on_header_frame(false, 1));
    EXPECT_EQ(guard.on_header_frame(false, 1), Flood::continuations);
    EXPECT_FALSE(guard.on_header_frame(true, FloodGuard::kHeaderBlockBytesMax));
    EXPECT_EQ(guard.on_header_frame(false, 1), Flood::continuations);
}

}  // namespace
}  // namespace live::engine::http2
