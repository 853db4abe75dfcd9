// AcmeOptions: the acme block of the conf's root. Plain values with their defaults, and the files that it leads to.
#pragma once

#include <string>
#include <vector>

#include "base/config/option_check.hpp"
#include "engine/acme/client.hpp"

namespace live::service::acme {

struct AcmeOptions {
    bool enabled = false;
    bool accept_terms = false;
    std::vector<std::string> domains;
    std::string email;
    bool staging = false;
    // URL of the certificate authority's directory; empty: Let's Encrypt.
    std::string directory;
    engine::acme::ChallengeType challenge = engine::acme::ChallengeType::http_01;
    // Endpoints for HTTP-01.
    std::vector<std::string> listen = {"80"};
};

// The directory of `options`.
std::string directory_of(const AcmeOptions& options);

// Beside the pid file, for its owner only.
struct AcmeFiles {
    std::string certificate;       // the chain and its key
    std::string account;           // the key of the account
    std::string challenge;         // of HTTP-01, while it can be asked for
    std::string alpn_certificate;  // of TLS-ALPN-01, while it can be asked for: with its key
};
AcmeFiles files_beside(const std::string& pid_file);

config::Findings check_acme_options(const AcmeOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<AcmeOptions> kAcmeCheck{check_acme_options};

}  // namespace live::service::acme
