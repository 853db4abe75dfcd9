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

// RFC 7616, 3.9.1
constexpr std::string_view kResponse =
    "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", algorithm=SHA-256, nonce=\"7ypf/x\", "
    "nc=00000001, cnonce=\"f2/wE4\", qop=auth, response=\"753927fa\", opaque=\"FQhe\"";

TEST(RtspDigestResponse, ReadsTheExampleOfTheStandard) {
    const auto parsed = parse_digest_response(kResponse);
    ASSERT_TRUE(parsed.ok() && *parsed);
    const DigestResponse& response = **parsed;
    EXPECT_EQ(response.user, "Mufasa");
    EXPECT_EQ(response.realm, "http-auth@example.org");
    EXPECT_EQ(response.uri, "/dir/index.html");
    EXPECT_EQ(response.algorithm, Algorithm::sha256);
    EXPECT_EQ(response.nonce, "7ypf/x");
    EXPECT_EQ(response.count, "00000001");
    EXPECT_EQ(response.client_nonce, "f2/wE4");
    EXPECT_EQ(response.response, "753927fa");
    EXPECT_TRUE(response.has_qop_auth && !response.has_other_qop);
}

TEST(RtspDigestResponse, NeedsEachParameterOnce) {
    EXPECT_FALSE(*parse_digest_response(""));
    EXPECT_FALSE(*parse_digest_response("Basic dTpw"));
    EXPECT_EQ(parse_digest_response("Digest username=u, nonce=n, uri=x").code(), Errc::malformed);
    EXPECT_EQ(parse_digest_response("Digest username=u, nonce=n, uri=x, response=r, username=v").code(), Errc::malformed);
    EXPECT_EQ(parse_digest_response("Digest username=u, nonce=n, uri=x, response").code(), Errc::malformed);
    const auto plain = parse_digest_response("digest username=u,nonce=n,uri=x,response=r,qop=auth-int");
    ASSERT_TRUE(plain.ok() && *plain);
    EXPECT_EQ((*plain)->algorithm, Algorithm::md5);
    EXPECT_TRUE((*plain)->has_other_qop);
}

TEST(RtspDigestResponse, SurvivesEveryTruncation) {
    for (std::size_t size = 0; size < kResponse.size(); ++size) {
        const auto parsed = parse_digest_response(kResponse.substr(0, size));
        if (parsed.ok() && *parsed) {
            EXPECT_FALSE((*parsed)->response.empty()) << size;
        }
    }
}

}  // namespace
}  // namespace live::wire::rtsp
