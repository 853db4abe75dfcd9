#include "engine/acme/client.hpp"

#include <gtest/gtest.h>

#include "engine/acme/server_fixture.hpp"

namespace live::engine::acme {
namespace {

using namespace std::chrono_literals;

class AcmeClientTest : public testing::Test {
protected:
    // Runs the order to its end, with the test's clock. Presents each challenge at once.
    Event run(Client& client) {
        for (int steps = 0; steps < 10'000; ++steps) {
            while (auto event = client.poll_event()) {
                if (const auto* challenge = std::get_if<ChallengeToPresent>(&*event)) {
                    presented.push_back(*challenge);
                    client.handle_presented();
                } else if (std::holds_alternative<ChallengesDone>(*event)) {
                    ++done;
                } else {
                    return *std::move(event);
                }
            }
            if (auto request = client.poll_request(now)) {
                EXPECT_FALSE(client.poll_request(now)) << "one at a time";
                const Response response = authority.answer(*request);
                if (response.status == 0)
                    client.handle_failure(now, Error(Errc::timed_out, "hangs"));
                else
                    client.handle_response(now, response);
                continue;
            }
            const auto next = client.next_timeout();
            if (!next)
                break;
            EXPECT_GT(*next, now);
            now = *next;
        }
        ADD_FAILURE() << "the order does not end";
        return Refused{Error(Errc::system, "")};
    }
    Event run() {
        Client client(wanted, account, key);
        return run(client);
    }
    std::string why() {
        const Event end = run();
        const auto* refused = std::get_if<Refused>(&end);
        retry_after = refused == nullptr ? std::nullopt : refused->retry_after;
        return refused == nullptr ? "issued" : refused->why.sentence();
    }

    const P256Key account = MUST(P256Key::make());
    const P256Key key = MUST(P256Key::make());
    Client::Wanted wanted{"https://ca/dir", {"a.example", "b.example"}, "ops@example", ChallengeType::http_01};
    FakeAuthority authority{account};
    TimePoint now{1h};
    std::vector<ChallengeToPresent> presented;
    int done = 0;
    std::optional<std::chrono::seconds> retry_after;
};

TEST_F(AcmeClientTest, GetsACertificate) {
    const Event end = run();
    ASSERT_TRUE(std::holds_alternative<Issued>(end)) << std::get<Refused>(end).why.sentence();
    EXPECT_TRUE(std::get<Issued>(end).certificate.starts_with("-----BEGIN CERTIFICATE-----"));
    ASSERT_EQ(presented.size(), 2U);
    EXPECT_EQ(presented[0].domain, "a.example");
    EXPECT_EQ(presented[1].token, "token-1");
    EXPECT_EQ(presented[1].key_authorization, "token-1." + account.thumbprint());
    EXPECT_EQ(done, 1);
    EXPECT_EQ(authority.payloads["/account"], R"({"termsOfServiceAgreed":true,"contact":["mailto:ops@example"]})");
    EXPECT_EQ(authority.payloads["/order"],
              R"({"identifiers":[{"type":"dns","value":"a.example"},{"type":"dns","value":"b.example"}]})");
    EXPECT_EQ(authority.payloads["/challenge/0"], "{}");
    EXPECT_EQ(authority.payloads["/certificate"], "") << "a read";
    EXPECT_TRUE(authority.payloads["/finalize"].starts_with("{\"csr\":\""));
    EXPECT_EQ(now, TimePoint(1h) + 2 * Client::kFirstPause) << "one poll for each challenge";
}

TEST_F(AcmeClientTest, PollsWhileTheServerWorks) {
    authority.pending_polls = 4;
    EXPECT_EQ(why(), "issued");
    EXPECT_GT(now, TimePoint(1h) + 30s) << "slower each time";
    authority.pending_polls = 10'000;
    Client client(wanted, account, key);
    const Event end = run(client);
    ASSERT_TRUE(std::holds_alternative<Refused>(end));
    EXPECT_EQ(std::get<Refused>(end).why.code(), Errc::timed_out);
    EXPECT_LT(authority.requests, 100);
}

TEST_F(AcmeClientTest, TakesAnotherNonce) {
    authority.bad_nonces = static_cast<int>(Client::kRepetitionsMax);
    EXPECT_EQ(why(), "issued");
    authority.bad_nonces = 1'000;
    EXPECT_NE(why().find("badNonce"), std::string::npos);
    EXPECT_GT(authority.bad_nonces, 980) << "repetitions are bounded";
}

TEST_F(AcmeClientTest, NamesThePortThatCannotBeReached) {
    authority.validation = "invalid";
    EXPECT_EQ(why(),
              "the certificate authority cannot reach port 80 of a.example: its name must lead to this server, and a firewall "
              "must let the connection pass (refused)");
    EXPECT_EQ(done, 1) << "the challenges are removed";
    wanted.challenge = ChallengeType::tls_alpn_01;
    EXPECT_NE(why().find("port 443"), std::string::npos);
    authority.challenge_error = R"({"type":"urn:ietf:params:acme:error:unauthorized","detail":"another answer"})";
    EXPECT_EQ(why(), "the certificate authority refuses the proof for a.example: unauthorized: another answer");
}

TEST_F(AcmeClientTest, ReportsRefusedOrders) {
    authority.order_end = "invalid";
    EXPECT_EQ(why(), "the certificate authority refuses the order: caa: no");
    authority.order_end = "valid";
    authority.faults["/order"] = {.status = 429,
                                  .nonce = "",
                                  .location = "",
                                  .retry_after = 7200s,
                                  .body = R"({"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many"})"};
    EXPECT_EQ(why(), "the certificate authority refuses more orders now: rateLimited: too many");
    EXPECT_EQ(retry_after, 7200s);
    authority.faults["/order"].retry_after.reset();
    why();
    EXPECT_EQ(retry_after, 3600s);
    authority.faults["/order"] = {.status = 403, .nonce = "", .location = "", .retry_after = {}, .body = "<html>"};
    EXPECT_NE(why().find("status 403"), std::string::npos);
}

TEST_F(AcmeClientTest, RepeatsWhatFails) {
    authority.faults["/account"] = {.status = 503, .nonce = "", .location = "", .retry_after = {}, .body = ""};
    EXPECT_NE(why().find("fails with status 503"), std::string::npos);
    EXPECT_LT(authority.requests, 20);
    authority.faults["/account"] = {};  // hangs
    EXPECT_NE(why().find("does not answer"), std::string::npos);
    authority.faults.clear();
    EXPECT_EQ(why(), "issued");
}

TEST_F(AcmeClientTest, RefusesStrangeAnswers) {
    const std::string right = authority.directory;
    for (const char* text :
         {"", "<html>", "{}", R"({"newNonce":"http://ca/n","newAccount":"https://ca/a","newOrder":"https://ca/o"})",
          R"({"newNonce":"https://ca/n","newAccount":"/a","newOrder":"https://ca/o"})"}) {
        authority.directory = text;
        EXPECT_NE(why(), "issued") << text;
    }
    authority.directory = right;
    authority.domains = {"a.example", "evil.example"};
    EXPECT_NE(why().find("another domain"), std::string::npos);
    for (const char* domain : {"", "*.example", "a b", "a\",\"b", ".a", "a..b"}) {
        wanted.domains = {domain};
        EXPECT_NE(why().find("without wildcards"), std::string::npos) << domain;
    }
}

TEST(P256Key, KeepsItsKeyInPem) {
    const P256Key key = MUST(P256Key::make());
    const P256Key same = MUST(P256Key::parse(MUST(key.pem())));
    EXPECT_EQ(same.jwk(), key.jwk());
    EXPECT_EQ(same.thumbprint(), key.thumbprint());
    EXPECT_EQ(P256Key::parse("nonsense").code(), Errc::malformed);
    // RFC 7638, 3.1, has an RSA key; this is the hash of its kind of text.
    EXPECT_EQ(sha256_text("abc"), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
}

TEST(P256Key, MakesRequestsAndCertificates) {
    const P256Key key = MUST(P256Key::make());
    const auto request = MUST(key.request_for({"a.example", "b.example"}));
    EXPECT_NE(as_text(request).find("a.example"), std::string_view::npos);
    const std::string certificate = MUST(key.alpn_certificate("a.example", "token.thumbprint"));
    const auto facts = MUST(facts_of_certificate(certificate));
    EXPECT_EQ(facts.domains, std::vector<std::string>{"a.example"});
    EXPECT_TRUE(facts.is_self_signed);
    EXPECT_NEAR(static_cast<double>((facts.ends - facts.begins).count()), 7 * 86'400 + 3600, 5);
    EXPECT_TRUE(belongs_to(certificate, MUST(key.pem())));
    EXPECT_FALSE(belongs_to(certificate, MUST(MUST(P256Key::make()).pem())));
    EXPECT_EQ(facts_of_certificate("nonsense").code(), Errc::malformed);
}

}  // namespace
}  // namespace live::engine::acme
