#include "engine/http2/skipped_streams.hpp"

#include <gtest/gtest.h>

namespace live::engine::http2 {
namespace {

TEST(Http2SkippedStreams, RefusesSkippedIdsOnly) {
    SkippedStreams streams;
    for (const std::uint32_t id : {1u, 3u, 9u, 3u, 9u, 11u, 1u})
        EXPECT_TRUE(streams.on_headers(id)) << id;
    for (const std::uint32_t id : {5u, 7u})
        EXPECT_FALSE(streams.on_headers(id)) << id;
    EXPECT_TRUE(streams.on_headers(0x7fff'ffff));
    EXPECT_FALSE(streams.on_headers(13));
}

TEST(Http2SkippedStreams, RemembersABoundedNumberOfRanges) {
    SkippedStreams streams;
    for (std::uint32_t id = 5; id < 4'000; id += 4)
        EXPECT_TRUE(streams.on_headers(id));
    EXPECT_TRUE(streams.on_headers(3));
    EXPECT_FALSE(streams.on_headers(3'995));
}

}  // namespace
}  // namespace live::engine::http2
