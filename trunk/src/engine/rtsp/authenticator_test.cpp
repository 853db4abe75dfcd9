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
    EXPECT_EQ(digest_response(input), "8ca523f5e9506fed4657c9700eebdbec");
    input.algorithm = Challenge::Algorithm::sha256;
    EXPECT_EQ(digest_response(input), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
}

TEST(RtspAuthenticator, AcceptsThePasswordWithEachAlgorithm) {
    Authenticator authenticator("live", "n1");
    const auto challenges = authenticator.challenges(Authenticator::Offer::digest_and_basic);
    ASSERT_EQ(challenges.size(), 3U);
    for (std::size_t i = 0; i < 2; ++i) {
        Authenticator fresh("live", "n1");
        EXPECT_TRUE(fresh.verify(answer_to(challenges[i]), "DESCRIBE", kTokenUrl, "secret").ok()) << challenges[i];
        EXPECT_EQ(fresh.verify(answer_to(challenges[i], "other"), "DESCRIBE", kTokenUrl, "secret").code(), Errc::denied);
    }
    EXPECT_EQ(challenges[2], "Basic realm=\"live\"");
    EXPECT_EQ(authenticator.challenges(Authenticator::Offer::basic).size(), 1U);
}

TEST(RtspAuthenticator, AcceptsResponsesWithoutACounterAndUrlsWithoutAHost) {
    Authenticator authenticator("live", "n1");
    for (const std::string_view uri :
         {"/live/cam?token=1", "rtsp://h:8554/live/cam?token=1", "rtsp://h:8554/live/cam?token=1/"}) {
        DigestResponse response{.user = "user", .realm = "live", .nonce = "n1", .uri = std::string(uri)};
        response.response = digest_response(
            {.user = "user", .realm = "live", .password = "secret", .nonce = "n1", .method = "DESCRIBE", .uri = uri});
        EXPECT_TRUE(authenticator.verify(response, "DESCRIBE", kTokenUrl, "secret").ok()) << uri;
    }
}

TEST(RtspAuthenticator, RefusesReplays) {
    Authenticator authenticator("live", "n1");
    const DigestResponse recorded = answer_to(authenticator.challenges(Authenticator::Offer::digest_and_basic)[1]);
    ASSERT_TRUE(authenticator.verify(recorded, "DESCRIBE", kTokenUrl, "secret").ok());
    EXPECT_EQ(authenticator.verify(recorded, "DESCRIBE", kTokenUrl, "secret").code(), Errc::denied) << "on the same connection";
    Authenticator other("live", "n2");
    EXPECT_EQ(other.verify(recorded, "DESCRIBE", kTokenUrl, "secret").code(), Errc::conflict) << "on another connection";
    Authenticator again("live", "n1");
    EXPECT_EQ(again.verify(recorded, "DESCRIBE", "rtsp://h:8554/live/other", "secret").code(), Errc::denied) << "of another URL";
    EXPECT_EQ(again.verify(recorded, "ANNOUNCE", kTokenUrl, "secret").code(), Errc::denied) << "of another method";
    DigestResponse altered = recorded;
    altered.count = "00000002";
    EXPECT_EQ(again.verify(altered, "DESCRIBE", kTokenUrl, "secret").code(), Errc::denied) << "the counter is signed";
    altered = recorded;
    altered.algorithm = Challenge::Algorithm::unknown;
    EXPECT_EQ(again.verify(altered, "DESCRIBE", kTokenUrl, "secret").code(), Errc::unsupported);
}

}  // namespace
}  // namespace live::engine::rtsp
