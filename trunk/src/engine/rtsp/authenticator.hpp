// Authenticator: the server end of HTTP authentication on one RTSP connection (RFC 2326, 14; RFC 7617; RFC 7616): the challenges,
// and the check of Digest responses against a password. The nonce belongs to the connection, and a response with a counter is
// accepted once, so a recorded response is refused. Passwords sent by Basic are checked elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "wire/rtsp/authentication.hpp"

namespace live::engine::rtsp {

class Authenticator {
public:
    // Basic only, where passwords are known as hashes; clients prefer Digest if it is listed.
    enum class Offer : std::uint8_t { basic, digest_and_basic };

    // `nonce` is random.
    Authenticator(std::string realm, std::string nonce) : realm_(std::move(realm)), nonce_(std::move(nonce)) {}

    // The values of WWW-Authenticate, the best first. MD5 follows SHA-256, because ffmpeg and GStreamer use the last Digest
    // challenge, and MD5 is what they support.
    std::vector<std::string> challenges(Offer offer) const;
    // Errc::denied for another password or URL and for a counter that has been used, Errc::conflict for the nonce of another
    // connection, Errc::unsupported for another algorithm.
    Result<void> verify(const wire::rtsp::DigestResponse& response, std::string_view method, std::string_view url,
                        std::string_view password);

private:
    std::string realm_;
    std::string nonce_;
    std::uint32_t count_ = 0;  // the newest of a response that was accepted
};

}  // namespace live::engine::rtsp
