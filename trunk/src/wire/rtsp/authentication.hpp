// Authentication of HTTP/1.1, which RTSP shares (RFC 2326, 14; RFC 7617; RFC 7616): challenges of servers, read; the answer of a
// client is made in engine/rtsp/credentials.hpp.
#pragma once

#include <cstdint>
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

// The challenges of one WWW-Authenticate header; other schemes are left out. Errc::limit above kChallengesMax.
Result<std::vector<Challenge>> parse_challenges(std::string_view header);

}  // namespace live::wire::rtsp
