// Client: one order of a certificate from an ACME server (RFC 8555), dry: directory, account, order, challenges, certificate.
// Requests leave by poll_request(), one at a time, and each is answered by handle_response() or handle_failure(). The caller
// presents the challenges, keeps the clock, and starts another order after a failure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/acme/p256_key.hpp"
#include "wire/acme/messages.hpp"

namespace live::engine::acme {

enum class ChallengeType : std::uint8_t { http_01, tls_alpn_01 };
std::string_view name_of(ChallengeType type);

// Letters, digits, hyphens and dots, at most 253 bytes; no wildcard. Both types of challenge can prove it.
bool is_domain(std::string_view name);

struct Request {
    std::string method;
    std::string url;
    std::string body;  // of a POST, application/jose+json
};

struct Response {
    int status = 0;
    std::string nonce;     // Replay-Nonce
    std::string location;  // Location
    std::optional<std::chrono::seconds> retry_after;
    std::string body;
};

// Present it, then call handle_presented().
struct ChallengeToPresent {
    ChallengeType type;
    std::string domain;
    std::string token;
    std::string key_authorization;
};
struct ChallengesDone {};
struct Issued {
    std::string certificate;  // the chain in PEM
};
// The order has ended. Another one is useless before `retry_after`, if that is known.
struct Refused {
    Error why;
    std::optional<std::chrono::seconds> retry_after{};
};
using Event = std::variant<ChallengeToPresent, ChallengesDone, Issued, Refused>;

class Client {
public:
    static constexpr std::size_t kDomainsMax = 100;
    // Repetitions of one request that fails, or whose nonce is refused.
    static constexpr unsigned kRepetitionsMax = 8;
    static constexpr Duration kFirstPause = std::chrono::seconds(1);
    static constexpr Duration kPauseMax = std::chrono::seconds(15);
    // For the validation of one challenge, and for the certificate.
    static constexpr Duration kPollLimit = std::chrono::minutes(3);
    static constexpr std::size_t kNonceBytesMax = 512;

    struct Wanted {
        std::string directory;  // URL
        std::vector<std::string> domains;
        std::string email;  // of the account; empty: none
        ChallengeType challenge = ChallengeType::http_01;
    };

    // `certificate_key` is that of the new certificate.
    Client(Wanted wanted, P256Key account, P256Key certificate_key);

    // The next request; nullopt while one is unanswered, until the challenge is presented, and during a pause.
    std::optional<Request> poll_request(TimePoint now);
    void handle_response(TimePoint now, const Response& response);
    // The request got no answer.
    void handle_failure(TimePoint now, const Error& error);
    // The challenge of the last ChallengeToPresent can be seen.
    void handle_presented();
    std::optional<Event> poll_event();
    // The time of the next request, during a pause.
    std::optional<TimePoint> next_timeout() const;

private:
    enum class Step : std::uint8_t {
        directory,
        nonce,
        account,
        order,
        authorization,
        presenting,
        challenge,
        validation,
        finalize,
        issuance,
        certificate,
        ended,
    };

    Result<Request> request_of_step();
    Result<Request> signed_request(const std::string& url, const std::string& payload) const;
    Result<void> read_response(TimePoint now, const Response& response);
    Result<void> read_account(const Response& response);
    Result<void> read_order(const Response& response);
    Result<void> read_authorization(const Response& response);
    Result<void> read_validation(TimePoint now, const Response& response);
    Result<void> read_issuance(TimePoint now, const Response& response);
    void next_authorization();
    void go_to(Step step);
    Result<void> poll_again(TimePoint now, const Response& response, const char* what);
    void repeat(TimePoint now, const Error& why);
    void take_next_nonce(const Error& why);
    void refuse(Error why, std::optional<std::chrono::seconds> retry_after = {});
    Result<std::string> checked_url(const std::string& url) const;
    Error refusal(const wire::acme::Problem& problem, const std::string& during) const;
    Error refusal_of(const wire::acme::Challenge& challenge) const;

    const Wanted wanted_;
    const P256Key account_;
    const P256Key certificate_key_;
    Step step_ = Step::directory;
    bool is_asked_ = false;
    std::optional<TimePoint> pause_until_;
    std::optional<TimePoint> poll_until_;
    Duration pause_{};
    unsigned repetitions_ = 0;
    wire::acme::Directory directory_;
    std::string nonce_;
    std::string account_url_;
    std::string order_url_;
    wire::acme::Order order_;
    std::size_t at_ = 0;  // in the order's authorizations
    std::string domain_;
    wire::acme::Challenge challenge_;
    std::deque<Event> events_;
};

}  // namespace live::engine::acme
