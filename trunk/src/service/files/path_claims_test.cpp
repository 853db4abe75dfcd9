#include "service/files/path_claims.hpp"

#include <gtest/gtest.h>

namespace live::service::files {
namespace {

TEST(PathClaims, RefusesAClaimedPathToAnotherOutput) {
    PathClaims claims;
    auto first = MUST(claims.claim({"html/live/cam.m3u8", "html/live/cam-[seq].ts"}, "the HLS of /live/cam"));
    const auto refused = claims.claim({"html/live/other.m3u8", "html/live/cam-[seq].ts"}, "the HLS of v/live/cam");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), Errc::conflict);
    EXPECT_EQ(refused.error().sentence(), "html/live/cam-[seq].ts belongs to the HLS of /live/cam");
    EXPECT_EQ(claims.size(), 2U) << "all or none";
    auto moved = std::move(first);
    EXPECT_FALSE(claims.claim({"html/live/cam.m3u8"}, "the HLS of v/live/cam").ok());
    moved.release();
    EXPECT_EQ(claims.size(), 0U);
}

TEST(PathClaims, ReleasesAPathWithTheLastClaimOfItsOwner) {
    PathClaims claims;
    auto one = MUST(claims.claim({"a", "a"}, "me"));
    auto two = MUST(claims.claim({"a"}, "me"));
    one.release();
    EXPECT_FALSE(claims.claim({"a"}, "you").ok());
    two = MUST(claims.claim({"b"}, "me"));
    EXPECT_TRUE(claims.claim({"a"}, "you").ok());
    EXPECT_EQ(claims.size(), 1U) << "of a claim that nobody keeps nothing stays";
}

}  // namespace
}  // namespace live::service::files
