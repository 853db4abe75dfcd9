#include <algorithm>

#include <fmt/format.h>

#include "service/ingest/arguments.hpp"
#include "service/ingest/options.hpp"

namespace live::service::ingest {

config::Findings check_ingest_options(const std::vector<IngestOptions>& ingests, const config::CheckContext& around) {
    config::Findings findings;
    for (const IngestOptions& ingest : ingests) {
        if (!ingest.enabled)
            continue;
        if (ingest.engines.empty())
            findings.warnings.push_back(fmt::format(
                "vhost {}: ingest {} is enabled and has no engine, so no output: it does not run", around.vhost, ingest.id));
        std::vector<std::string> errors;
        for (const auto& engine : ingest.engines)
            if (const auto words = build_ingest_arguments(ingest, engine, {.vhost = std::string(around.vhost)}, {}); !words.ok())
                errors.push_back(words.error().sentence());
        if (!errors.empty() && errors.size() == ingest.engines.size() && findings.error.empty())
            findings.error = errors.back();
        std::ranges::move(errors, std::back_inserter(findings.warnings));
    }
    return findings;
}

}  // namespace live::service::ingest
