#include "bench/http/url_reference.hpp"

#include <gtest/gtest.h>

namespace live::bench {
namespace {

TEST(ResolveReference, ResolvesEveryFormOfReference) {
    const std::string_view base = "http://h:8080/live/a/index.m3u8?hls_ctx=1";
    EXPECT_EQ(resolve_reference(base, "s-1.ts"), "http://h:8080/live/a/s-1.ts");
    EXPECT_EQ(resolve_reference(base, "s-1.ts?x=/y"), "http://h:8080/live/a/s-1.ts?x=/y");
    EXPECT_EQ(resolve_reference(base, "/s-1.ts"), "http://h:8080/s-1.ts");
    EXPECT_EQ(resolve_reference(base, "//other/s"), "http://other/s");
    EXPECT_EQ(resolve_reference(base, "https://other/s"), "https://other/s");
    EXPECT_EQ(resolve_reference(base, "../b/./s-1.ts"), "http://h:8080/live/b/s-1.ts");
    EXPECT_EQ(resolve_reference(base, "../../../../s"), "http://h:8080/s");
    EXPECT_EQ(resolve_reference(base, ".."), "http://h:8080/live/");
    EXPECT_EQ(resolve_reference(base, "?hls_ctx=2"), "http://h:8080/live/a/index.m3u8?hls_ctx=2");
    EXPECT_EQ(resolve_reference(base, ""), base);
    EXPECT_EQ(resolve_reference("http://h", "s"), "http://h/s");
    EXPECT_EQ(resolve_reference("http://h?x", "s"), "http://h/s");
}

}  // namespace
}  // namespace live::bench
