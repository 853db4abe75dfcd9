// The rows of service/acme/options.hpp.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "service/acme/options.hpp"

namespace live::service::acme {

inline constexpr std::array kChallengeNames = {
    config::Named<engine::acme::ChallengeType>{"http-01", engine::acme::ChallengeType::http_01},
    config::Named<engine::acme::ChallengeType>{"tls-alpn-01", engine::acme::ChallengeType::tls_alpn_01},
};

inline constexpr auto kAcmeRows = config::Rows{
    config::row(&AcmeOptions::enabled, "enabled", config::Reload::restart,
                "Ours: gets and renews a certificate for the TLS services whose cert and key are the default ones."),
    config::row(&AcmeOptions::accept_terms, "accept_terms", config::Reload::restart,
                "Ours: you agree to the terms of service of the certificate authority. Required."),
    config::row(&AcmeOptions::domains, "domain", config::Reload::restart,
                "Ours: the names in the certificate, separated by spaces. Each must lead to this server.")
        .example("live.example.com"),
    config::row(&AcmeOptions::email, "email", config::Reload::restart,
                "Ours: where the certificate authority may write to; empty: nowhere.")
        .example("ops@example.com"),
    config::row(&AcmeOptions::staging, "staging", config::Reload::restart,
                "Ours: uses the staging service of Let's Encrypt, for tries: no browser trusts its certificates."),
    config::row(&AcmeOptions::directory, "directory", config::Reload::restart,
                "Ours: the URL of another certificate authority's directory; empty: Let's Encrypt.")
        .example("https://acme.example.com/directory"),
    config::row(
        &AcmeOptions::challenge, "challenge", kChallengeNames, config::Reload::restart,
        "Ours: the proof for each name: http-01 on port 80, or tls-alpn-01 on port 443, which an https block listens on."),
    config::endpoints(&AcmeOptions::listen, "listen", config::Reload::restart,
                      "Ours: where http-01 is answered, while a certificate is ordered; a port of http_server answers too."),
};

}  // namespace live::service::acme
