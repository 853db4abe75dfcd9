// The wall clock and random numbers for proofs.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/bytes/random.hpp"
#include "service/relay/relay_proof.hpp"

namespace live::service::relay {

inline std::int64_t unix_seconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// Returns an empty string without a secret.
inline std::string proof_for(const RelayedRequest& request, std::string_view secret) {
    if (secret.empty())
        return {};
    auto proof = make_relay_proof(secret, request, unix_seconds_now(), random_id(16));
    return proof.ok() ? *std::move(proof) : std::string();
}

}  // namespace live::service::relay
