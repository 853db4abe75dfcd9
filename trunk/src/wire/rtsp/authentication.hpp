// Authentication of HTTP/1.1, which RTSP shares (RFC 2326, 14; RFC 7617; RFC 7616): challenges of servers and the Digest
// responses of clients, read. Responses are made in engine/rtsp/credentials.hpp, challenges in engine/rtsp/authenticator.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::wire::rtsp {

inline constexpr std::size_t kChallengesMax = 8;

struct Challenge {
    enum class Scheme : std::uint8_t { basic, digest };
    enum class Algorithm : std::uint8_t { md5, md5_sess, sha256, sha256_sess, unknown };

    Scheme scheme = Scheme::basic;
    Algorithm algorithm = Algorithm::md5;
    std::string realm;
    std::string nonce;
    std::string opaque;
    std::string algorithm_text;  // as written; empty without one
    bool has_qop_auth = false;
    bool is_stale = false;
};

// The parameters of an Authorization header with the scheme Digest. `count` is nc, a counter of requests with the nonce.
struct DigestResponse {
    Challenge::Algorithm algorithm = Challenge::Algorithm::md5;
    std::string user{};
    std::string realm{};
    std::string nonce{};
    std::string uri{};
    std::string response{};
    std::string client_nonce{};
    std::string count{};
    bool has_qop_auth = false;
    bool has_other_qop = false;
};

// nullopt for another scheme. Errc::malformed without a user, a nonce, a URI or a response, and with a parameter twice.
Result<std::optional<DigestResponse>> parse_digest_response(std::string_view header);

// The challenges of one WWW-Authenticate header; other schemes are left out. Errc::limit above kChallengesMax.
Result<std::vector<Challenge>> parse_challenges(std::string_view header);

}  // namespace live::wire::rtsp
