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

Pick pick_origin(Resolver& resolver, const OriginBook& book, const std::string& url, OriginUse use, const ClusterOptions& options,
                 const LeftOrigins& left, io::Deadline deadline) {
    ClusterOptions asked = options;
    if (use == OriginUse::push)
        asked.protocol = PullProtocol::rtmp;
    Location location = resolver.find(url, asked, deadline);
    if (const auto* unknown = std::get_if<Unknown>(&location))
        return NotNow{unknown->why, unknown->retry_after};
    if (const auto* nowhere = std::get_if<Nowhere>(&location))
        return NotNow{nowhere->why, StaticResolver::kRetry};
    std::vector<Origin> origins = usable_origins(std::get<Located>(std::move(location)).origins, use, asked);
    std::vector<std::string> names;
    for (const Origin& origin : origins)
        names.push_back(origin.text());
    const auto choice = book.choose(names, url, left, io::now());
    if (!choice)
        return NotNow{"no origin takes a publisher: all are HTTP", StaticResolver::kRetry};
    if (choice->wait > Duration::zero())
        return NotNow{{}, choice->wait};
    return Picked{std::move(origins[choice->index]), origins.size() > 1};
}

}  // namespace live::service::relay
