// Authenticator: the server end of HTTP authentication on one RTSP connection (RFC 2326, 14; RFC 7617; RFC 7616): the challenges,
// and the check of Digest responses against a password. A nonce belongs to one connection and one challenge, and a response is
// accepted once, so a recorded response is refused. Passwords sent by Basic are checked elsewhere. Dry.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtsp/digest.hpp"
#include "wire/rtsp/authentication.hpp"

namespace live::engine::rtsp {

class Authenticator {
public:
    // Basic only, where passwords are known as hashes that Digest cannot use; clients prefer Digest if it is listed.
    enum class Offer : std::uint8_t { basic, digest_and_basic };

    // A response to an older challenge is stale.
    static constexpr std::chrono::seconds kNonceLifetime{60};
    // Responses with one nonce, right or wrong; further ones are stale.
    static constexpr std::uint32_t kResponsesMax = 16;

    explicit Authenticator(std::string realm) : realm_(std::move(realm)) {}

    // The values of WWW-Authenticate, the best first. MD5 follows SHA-256, because ffmpeg and GStreamer use the last Digest
    // challenge, and MD5 is what they support. `nonce` is random, and replaces the one before. After a stale response it is
    // marked, and the client answers it with the same password.
    std::vector<std::string> challenges(Offer offer, std::string nonce, TimePoint now);
    // Everything but the password: Errc::denied for another URL and a counter that has been used, Errc::conflict for a nonce of
    // another connection or of the past, Errc::unsupported for another algorithm.
    Result<void> check(const wire::rtsp::DigestResponse& response, std::string_view url, TimePoint now);
    // For a response that was checked.
    bool is_right(const wire::rtsp::DigestResponse& response, std::string_view method, const DigestSecret& secret);

private:
    std::string realm_;
    std::string nonce_;  // empty before the first challenge
    TimePoint challenged_at_{};
    std::uint32_t responses_ = 0;
    std::uint32_t count_ = 0;  // the newest of a response that was accepted
    bool is_spent_ = false;    // a response without a counter was accepted
    bool is_stale_ = false;
};

}  // namespace live::engine::rtsp
