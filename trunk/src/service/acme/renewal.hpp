// The times at which a certificate is ordered. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/acme/p256_key.hpp"

namespace live::service::acme {

inline constexpr std::chrono::seconds kFirstRetry{60};
inline constexpr std::chrono::hours kRetryMax{12};

// After two thirds of the lifetime, and up to a twentieth later by `jitter`, 0 to 1: servers that started together do not renew
// together. At once for a self-signed certificate and for other names.
inline std::chrono::sys_seconds renewal_of(const engine::acme::CertificateFacts& facts, std::vector<std::string> domains,
                                           double jitter) {
    std::ranges::sort(domains);
    if (facts.is_self_signed || facts.domains != domains)
        return {};
    constexpr std::int64_t kShares = 20;
    const std::chrono::seconds life = facts.ends - facts.begins;
    const double share = std::clamp(jitter, 0.0, 1.0) * static_cast<double>((life / kShares).count());
    return facts.begins + life * 2 / 3 + std::chrono::seconds(static_cast<std::int64_t>(share));
}

// The pause after so many failures in a row, 1 at least.
inline std::chrono::seconds retry_after_failures(std::size_t failures, std::optional<std::chrono::seconds> asked) {
    constexpr std::size_t kDoublings = 12;
    const std::chrono::seconds doubled = kFirstRetry * (1LL << std::min(std::max<std::size_t>(failures, 1) - 1, kDoublings));
    return std::max(std::min<std::chrono::seconds>(doubled, kRetryMax), asked.value_or(std::chrono::seconds(0)));
}

}  // namespace live::service::acme
