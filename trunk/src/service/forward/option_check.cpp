#include <fmt/format.h>

#include "service/forward/destination.hpp"
#include "service/forward/options.hpp"

namespace live::service::forward {

config::Findings check_forward_options(const ForwardOptions& options, const config::CheckContext& around) {
    config::Findings findings;
    if (!options.enabled || !options.backend.empty())
        return findings;
    if (options.destinations.empty())
        findings.warnings.push_back(
            fmt::format("vhost {}: forward is enabled and has no destination: nothing is forwarded", around.vhost));
    std::string first_error;
    for (const std::string& text : options.destinations)
        if (const auto valid = validate_destination(text); !valid.ok()) {
            if (first_error.empty())
                first_error = fmt::format("vhost {}: forward: {}", around.vhost, valid.error().sentence());
            findings.warnings.push_back(fmt::format("vhost {}: {}", around.vhost, valid.error().sentence()));
        }
    if (!options.destinations.empty() && findings.warnings.size() == options.destinations.size())
        findings.error = std::move(first_error);
    return findings;
}

}  // namespace live::service::forward
