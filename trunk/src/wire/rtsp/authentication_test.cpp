#include "wire/rtsp/authentication.hpp"

#include <gtest/gtest.h>

namespace live::wire::rtsp {
namespace {

using Scheme = Challenge::Scheme;
using Algorithm = Challenge::Algorithm;

constexpr std::string_view kBoth =
    R"(Digest realm="a, \"b\"", nonce="n1", stale=TRUE, algorithm=SHA-256, qop="auth-int, auth", opaque="o", Basic realm="c")";

TEST(RtspChallenges, ReadsSeveralOfOneHeader) {
    const auto challenges = parse_challenges(kBoth);
    ASSERT_TRUE(challenges.ok());
    ASSERT_EQ(challenges->size(), 2U);
    const Challenge& digest = (*challenges)[0];
    EXPECT_EQ(digest.scheme, Scheme::digest);
    EXPECT_EQ(digest.realm, "a, \"b\"");
    EXPECT_EQ(digest.nonce, "n1");
    EXPECT_EQ(digest.opaque, "o");
    EXPECT_EQ(digest.algorithm, Algorithm::sha256);
    EXPECT_TRUE(digest.has_qop_auth && digest.is_stale);
    EXPECT_EQ((*challenges)[1].scheme, Scheme::basic);
    EXPECT_EQ((*challenges)[1].realm, "c");
}

TEST(RtspChallenges, ReadsSpellingsOfCameras) {
    const auto challenges = parse_challenges("digest  realm = cam ,nonce=\"x\",algorithm=\"MD5-sess\",qop=auth");
    ASSERT_TRUE(challenges.ok());
    ASSERT_EQ(challenges->size(), 1U);
    EXPECT_EQ((*challenges)[0].realm, "cam");
    EXPECT_EQ((*challenges)[0].algorithm, Algorithm::md5_sess);
    EXPECT_TRUE((*challenges)[0].has_qop_auth);
    EXPECT_EQ((*parse_challenges("Digest nonce=x, algorithm=token"))[0].algorithm, Algorithm::unknown);
}

TEST(RtspChallenges, LeavesOtherSchemesOut) {
    EXPECT_TRUE(parse_challenges("")->empty());
    EXPECT_TRUE(parse_challenges("Bearer realm=\"x\", Negotiate")->empty());
    const auto challenges = parse_challenges("Bearer realm=\"x\", Basic realm=\"y\"");
    ASSERT_EQ(challenges->size(), 1U);
    EXPECT_EQ((*challenges)[0].realm, "y");
}

TEST(RtspChallenges, SurvivesEveryTruncation) {
    for (std::size_t size = 0; size < kBoth.size(); ++size)
        EXPECT_LE(parse_challenges(kBoth.substr(0, size))->size(), 2U);
}

TEST(RtspChallenges, HasABound) {
    std::string header;
    for (std::size_t i = 0; i < kChallengesMax; ++i)
        header += "Basic realm=a,";
    EXPECT_EQ(parse_challenges(header)->size(), kChallengesMax);
    EXPECT_EQ(parse_challenges(header + "Basic realm=a").code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::rtsp
