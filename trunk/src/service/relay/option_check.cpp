#include <fmt/format.h>

#include "service/relay/options.hpp"
#include "service/relay/origins/origin.hpp"
#include "wire/http/url.hpp"

namespace live::service::relay {

namespace {

// Parses the origins of an edge.
void check_origins(const ClusterOptions& options, std::string_view vhost, config::Findings& findings) {
    std::string first_error;
    bool is_askable = options.origin.empty();
    for (const std::string& text : options.origin) {
        const auto origin = parse_origin(text, options.protocol);
        is_askable = is_askable || (origin.ok() && origin->scheme != Scheme::srt);
        if (origin.ok())
            continue;
        if (first_error.empty())
            first_error = fmt::format("vhost {}: cluster: {}", vhost, origin.error().sentence());
        findings.warnings.push_back(fmt::format("vhost {}: {}", vhost, origin.error().sentence()));
    }
    if (options.backend.empty() && !options.origin.empty() && findings.warnings.size() == options.origin.size())
        findings.error = std::move(first_error);
    if (options.token_traverse && options.backend.empty() && !is_askable)
        findings.warnings.push_back(fmt::format(
            "vhost {}: token_traverse refuses all clients, because srt:// origins are not asked and there is no other", vhost));
}

}  // namespace

config::Findings check_cluster_options(const ClusterOptions& options, const config::CheckContext& around) {
    config::Findings findings;
    if (!options.backend.empty())
        if (const auto url = wire::http::parse_url(options.backend); !url.ok())
            findings.error =
                fmt::format("vhost {}: cluster.backend: found \"{}\": {}", around.vhost, options.backend, url.error().sentence());
    if (options.mode != ClusterMode::remote)
        return findings;
    if (options.backend.empty() && options.origin.empty() && !around.has_registry)
        findings.error =
            fmt::format("vhost {}: cluster.mode is remote and there is no origin: set cluster {{ origin }}", around.vhost);
    check_origins(options, around.vhost, findings);
    return findings;
}

}  // namespace live::service::relay
