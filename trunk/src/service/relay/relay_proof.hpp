// A proof that a relayed request comes from a server of the same operator: all of them have one `cluster.secret`. Such a server
// has called the operator's callbacks for its own clients already. A proof is valid once, for one stream, within half a minute.
// Dry: the caller supplies time and nonce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.hpp"

namespace live::service::relay {

// The request that a proof belongs to.
struct RelayedRequest {
    enum class Role : std::uint8_t { play, publish } role = Role::play;
    std::string_view vhost;  // as in the relay's request
    std::string_view app;
    std::string_view stream;
    std::string_view path;  // of servers
};

// "2,SECONDS,NONCE,MAC": the MAC is HMAC-SHA256 of all that precedes it and of the request. Errc::system.
Result<std::string> make_relay_proof(std::string_view secret, const RelayedRequest& request, std::int64_t unix_seconds,
                                     std::string_view nonce);

class RelayProofs {
public:
    // The greatest difference between the clocks of two servers.
    static constexpr std::int64_t kWindowSeconds = 30;
    static constexpr std::size_t kNoncesMax = 65'536;
    static constexpr std::size_t kNonceBytesMax = 32;

    // Errc::malformed; Errc::denied for another secret, virtual host, stream or path, a time outside the window, or a nonce that
    // was used; Errc::limit when the table of nonces is full.
    Result<void> check(std::string_view proof, std::string_view secret, const RelayedRequest& request, std::int64_t unix_seconds);

    std::size_t size() const { return nonces_.size(); }

private:
    std::unordered_map<std::string, std::int64_t> nonces_;  // used, with the second of the proof
};

}  // namespace live::service::relay
