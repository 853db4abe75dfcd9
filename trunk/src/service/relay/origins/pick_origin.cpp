#include "service/relay/origins/pick_origin.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"

namespace live::service::relay {

std::vector<Origin> usable_origins(std::vector<Origin> origins, OriginUse use, const ClusterOptions& options) {
    if (use == OriginUse::push) {
        std::erase_if(origins, [](const Origin& origin) { return is_http(origin.scheme); });
        return origins;
    }
    const bool wants_http = options.protocol != PullProtocol::rtmp;
    const auto is_other = [&](const Origin& origin) { return is_http(origin.scheme) != wants_http; };
    if (options.follow_client && !std::ranges::all_of(origins, is_other))
        std::erase_if(origins, is_other);
    return origins;
}

Candidates find_origins(Resolver& resolver, const std::string& url, OriginUse use, const ClusterOptions& options,
                        io::Deadline deadline) {
    ClusterOptions asked = options;
    if (use == OriginUse::push)
        asked.protocol = PullProtocol::rtmp;
    Location location = resolver.find(url, asked, deadline);
    if (const auto* unknown = std::get_if<Unknown>(&location))
        return RetryLater{unknown->why, unknown->retry_after};
    if (const auto* nowhere = std::get_if<Nowhere>(&location))
        return RetryLater{nowhere->why, StaticResolver::kRetry};
    std::vector<Origin> origins = usable_origins(std::get<Located>(std::move(location)).origins, use, asked);
    if (origins.empty())
        return RetryLater{"no origin takes a publisher: all are HTTP", StaticResolver::kRetry};
    return origins;
}

std::vector<std::string> names_of(const std::vector<Origin>& origins) {
    std::vector<std::string> names;
    for (const Origin& origin : origins)
        names.push_back(origin.text());
    return names;
}

Pick pick_origin(Resolver& resolver, const OriginHealth& health, const std::string& url, const ClusterOptions& options,
                 const LeftOrigins& left, io::Deadline deadline) {
    Candidates candidates = find_origins(resolver, url, OriginUse::push, options, deadline);
    if (auto* later = std::get_if<RetryLater>(&candidates))
        return std::move(*later);
    auto& origins = std::get<std::vector<Origin>>(candidates);
    const auto choice = health.choose(names_of(origins), url, left, io::now()).value();
    if (choice.wait > Duration::zero())
        return RetryLater{{}, choice.wait};
    return std::move(origins[choice.index]);
}

}  // namespace live::service::relay
