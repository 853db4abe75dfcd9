#include "engine/rtsp/authenticator.hpp"

#include <gtest/gtest.h>

#include "engine/rtsp/credentials.hpp"
#include "engine/rtsp/digest.hpp"

namespace live::engine::rtsp {
namespace {

using wire::rtsp::Challenge;
using wire::rtsp::DigestResponse;

constexpr std::string_view kTokenUrl = "rtsp://h:8554/live/cam?token=1";

DigestResponse response_of(const std::string& header) {
    const auto parsed = wire::rtsp::parse_digest_response(header);
    EXPECT_TRUE(parsed.ok() && *parsed) << header;
    return parsed.ok() && *parsed ? **parsed : DigestResponse();
}

// Returns the response of our own client to a challenge.
DigestResponse answer_to(const std::string& challenge, std::string_view password = "secret", std::string_view url = kTokenUrl) {
    Credentials credentials("user", std::string(password));
    EXPECT_TRUE(credentials.accept(*wire::rtsp::parse_challenges(challenge)));
    return response_of(*credentials.answer("DESCRIBE", url, "0123"));
}

constexpr TimePoint kChallengedAt{std::chrono::hours(1)};
constexpr auto kBoth = Authenticator::Offer::digest_and_basic;

// Returns the MD5 challenge of three.
std::string challenge_by(Authenticator& authenticator, std::string nonce = "n1", TimePoint now = kChallengedAt) {
    return authenticator.challenges(kBoth, std::move(nonce), now)[1];
}

Result<void> verify(Authenticator& authenticator, const DigestResponse& response, std::string_view url = kTokenUrl,
                    std::string_view method = "DESCRIBE", TimePoint now = kChallengedAt) {
    TRY(authenticator.check(response, url, now));
    return authenticator.is_right(response, method, {.password = "secret"}) ? Result<void>()
                                                                            : Error(Errc::unauthenticated, "wrong");
}

// RFC 7616, 3.9.1
TEST(RtspDigest, MatchesTheExamplesOfTheStandard) {
    DigestInput input{.user = "Mufasa",
                      .realm = "http-auth@example.org",
                      .password = "Circle of Life",
                      .nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
                      .client_nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
                      .count = "00000001",
                      .method = "GET",
                      .uri = "/dir/index.html"};
    EXPECT_EQ(*digest_response(input), "8ca523f5e9506fed4657c9700eebdbec");
    input.algorithm = Challenge::Algorithm::sha256;
    EXPECT_EQ(*digest_response(input), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
    input.algorithm = Challenge::Algorithm::unknown;
    EXPECT_EQ(digest_response(input).code(), Errc::unsupported);
}

// RFC 2617, 3.5, without qop as RFC 2069 has it.
TEST(RtspDigest, MatchesTheExampleWithoutACounter) {
    const DigestInput input{.user = "Mufasa",
                            .realm = "testrealm@host.com",
                            .password = "Circle Of Life",
                            .nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093",
                            .method = "GET",
                            .uri = "/dir/index.html"};
    EXPECT_EQ(*digest_response(input), "670fd8c2df070c60b045671b8b24ff02");
}

TEST(RtspAuthenticator, AcceptsThePasswordWithEachAlgorithm) {
    for (std::size_t i = 0; i < 2; ++i) {
        Authenticator authenticator("live");
        const auto challenges = authenticator.challenges(kBoth, "n1", kChallengedAt);
        ASSERT_EQ(challenges.size(), 3U);
        EXPECT_EQ(challenges[2], "Basic realm=\"live\"");
        EXPECT_EQ(verify(authenticator, answer_to(challenges[i], "other")).code(), Errc::unauthenticated);
        EXPECT_TRUE(verify(authenticator, answer_to(challenges[i])).ok()) << challenges[i];
    }
    EXPECT_EQ(Authenticator("live").challenges(Authenticator::Offer::basic, "n1", kChallengedAt).size(), 1U);
}

TEST(RtspAuthenticator, AcceptsResponsesWithoutACounterOnceAndUrlsWithoutAHost) {
    for (const std::string_view uri :
         {"/live/cam?token=1", "rtsp://h:8554/live/cam?token=1", "rtsp://h:8554/live/cam?token=1/"}) {
        Authenticator authenticator("live");
        challenge_by(authenticator);
        DigestResponse response{.user = "user", .realm = "live", .nonce = "n1", .uri = std::string(uri)};
        response.response = *digest_response(
            {.user = "user", .realm = "live", .password = "secret", .nonce = "n1", .method = "DESCRIBE", .uri = uri});
        EXPECT_TRUE(verify(authenticator, response).ok()) << uri;
        EXPECT_EQ(verify(authenticator, response).code(), Errc::denied) << "a replay";
    }
}

// printf user:live:secret | md5sum, and sha256sum.
TEST(RtspAuthenticator, AcceptsThePasswordByItsHashes) {
    constexpr DigestSecret kHashed{.md5 = "44f12b67845ba3db249619e27d18de63",
                                   .sha256 = "c641254ab129554da4b2794ea87efcc5c0cdad409ffedd3742d05d34a6566f0f"};
    for (std::size_t i = 0; i < 2; ++i) {
        Authenticator authenticator("live");
        const std::string challenge = authenticator.challenges(kBoth, "n1", kChallengedAt)[i];
        for (const std::string_view password : {"other", "secret"}) {
            const DigestResponse response = answer_to(challenge, password);
            ASSERT_TRUE(authenticator.check(response, kTokenUrl, kChallengedAt).ok());
            EXPECT_EQ(authenticator.is_right(response, "DESCRIBE", kHashed), password == "secret") << i;
        }
    }
}

TEST(RtspAuthenticator, RefusesReplays) {
    Authenticator authenticator("live");
    const DigestResponse recorded = answer_to(challenge_by(authenticator));
    ASSERT_TRUE(verify(authenticator, recorded).ok());
    EXPECT_EQ(verify(authenticator, recorded).code(), Errc::denied) << "on the same connection";
    Authenticator other("live");
    EXPECT_EQ(verify(other, recorded).code(), Errc::conflict) << "before a challenge";
    challenge_by(other, "n2");
    EXPECT_EQ(verify(other, recorded).code(), Errc::conflict) << "on another connection";
    Authenticator again("live");
    challenge_by(again);
    EXPECT_EQ(verify(again, recorded, "rtsp://h:8554/live/other").code(), Errc::denied) << "of another URL";
    EXPECT_EQ(verify(again, recorded, kTokenUrl, "ANNOUNCE").code(), Errc::unauthenticated) << "of another method";
    DigestResponse altered = recorded;
    altered.count = "00000002";
    EXPECT_EQ(verify(again, altered).code(), Errc::unauthenticated) << "the counter is signed";
    altered = recorded;
    altered.algorithm = Challenge::Algorithm::unknown;
    EXPECT_EQ(verify(again, altered).code(), Errc::unsupported);
    altered = recorded;
    altered.realm = "another";
    EXPECT_EQ(verify(again, altered).code(), Errc::denied);
    EXPECT_TRUE(verify(again, recorded).ok()) << "a nonce is not random in this test";
}

TEST(RtspAuthenticator, CallsNoncesOfThePastStale) {
    Authenticator authenticator("live");
    const DigestResponse response = answer_to(challenge_by(authenticator));
    const TimePoint late = kChallengedAt + Authenticator::kNonceLifetime + 1ms;
    EXPECT_EQ(verify(authenticator, response, kTokenUrl, "DESCRIBE", late).code(), Errc::conflict);
    const std::string next = challenge_by(authenticator, "n2", late);
    EXPECT_NE(next.find(", stale=true"), std::string::npos) << next;
    EXPECT_TRUE(verify(authenticator, answer_to(next), kTokenUrl, "DESCRIBE", late).ok());
    EXPECT_EQ(challenge_by(authenticator, "n3", late).find("stale"), std::string::npos);
}

TEST(RtspAuthenticator, TakesABoundedNumberOfResponsesWithANonce) {
    Authenticator authenticator("live");
    const std::string challenge = challenge_by(authenticator);
    for (std::uint32_t i = 0; i < Authenticator::kResponsesMax; ++i)
        ASSERT_EQ(verify(authenticator, answer_to(challenge, "guess")).code(), Errc::unauthenticated);
    EXPECT_EQ(verify(authenticator, answer_to(challenge)).code(), Errc::conflict);
}

}  // namespace
}  // namespace live::engine::rtsp
