// The proof that a relayed request comes from a server of the same operator, who gave all of them one `cluster.secret`: such a
// server has asked the operator's callbacks for its own clients already. The proof is good for one request, for one stream, for
// half a minute. Dry: the caller supplies time and nonce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.hpp"

namespace live::service::relay {

// What a proof is for.
struct RelayedRequest {
    enum class Role : std::uint8_t { play, publish } role = Role::play;
    std::string_view vhost;  // as the relay states it
    std::string_view app;
    std::string_view stream;
    std::string_view path;  // of servers
};

// "2,SECONDS,NONCE,MAC": the MAC is HMAC-SHA256 of all that precedes it and of the request. Errc::system.
Result<std::string> make_relay_proof(std::string_view secret, const RelayedRequest& request, std::int64_t unix_seconds,
                                     std::string_view nonce);

class RelayProofs {
public:
    // How far the clocks of two servers may differ.
    static constexpr std::int64_t kWindowSeconds = 30;
    static constexpr std::size_t kNoncesMax = 65'536;
    static constexpr std::size_t kNonceBytesMax = 32;

    // Errc::malformed; Errc::denied for another secret, virtual host, stream or path, a time outside the window, or a nonce that
    // was used; Errc::limit when there are too many nonces to remember.
    Result<void> check(std::string_view proof, std::string_view secret, const RelayedRequest& request, std::int64_t unix_seconds);

    std::size_t size() const { return nonces_.size(); }

private:
    std::unordered_map<std::string, std::int64_t> nonces_;  // used, with the second of the proof
};

}  // namespace live::service::relay
