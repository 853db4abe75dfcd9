#include "service/relay/origins/resolver.hpp"

#include <algorithm>

#include "io/fibers/loop.hpp"
#include "io/net/resolve.hpp"

namespace live::service::relay {

Location StaticResolver::find(const std::string& /*url*/, const ClusterOptions& options, io::Deadline deadline) {
    // Copied, because a reload may free the options during a suspension.
    const std::vector<std::string> texts = options.origin;
    const PullProtocol protocol = options.protocol;
    std::vector<Origin> found;
    std::string why = "the virtual host has no origin (cluster.origin)";
    for (const std::string& text : texts) {
        auto origin = parse_origin(text, protocol);
        if (!origin.ok()) {
            why = origin.error().sentence();
            continue;
        }
        if (!origin->is_resolved) {
            found.push_back(*std::move(origin));
            continue;
        }
        const auto addresses = resolve(*origin, deadline);
        if (!addresses.ok())
            why = addresses.error().sentence();
        else
            for (const Endpoint& address : *addresses)
                found.push_back({address.ip, address.port, origin->scheme, false, origin->host});
    }
    if (found.empty())
        return Unknown{why, kRetry};
    return Located{std::move(found)};
}

bool StaticResolver::knows(std::string_view host, std::uint16_t port, const ClusterOptions& options) const {
    return std::ranges::any_of(options.origin, [&](const std::string& text) {
        const auto origin = parse_origin(text, options.protocol);
        if (!origin.ok() || origin->port != port)
            return false;
        const auto is_there = [&](const Endpoint& address) { return address.ip == host; };
        return origin->host == host || std::ranges::any_of(names_, [&](const Name& name) {
                   return name.host == origin->host && name.port == port && std::ranges::any_of(name.addresses, is_there);
               });
    });
}

Result<std::vector<Endpoint>> StaticResolver::resolve(const Origin& name, io::Deadline deadline) {
    const auto known = [&] {
        return std::ranges::find_if(names_, [&](const Name& one) { return one.host == name.host && one.port == name.port; });
    };
    if (const auto fresh = known(); fresh != names_.end() && io::now() - fresh->resolved < kNameAge)
        return fresh->addresses;
    const auto addresses = io::resolve(name.host, name.port, deadline);
    auto entry = known();
    if (!addresses.ok() && (entry == names_.end() || addresses.code() == Errc::cancelled))
        return addresses.error();
    if (entry == names_.end())
        entry = names_.insert(names_.end(), Name{name.host, name.port, {}, {}});
    entry->resolved = io::now();
    if (addresses.ok())
        entry->addresses = *addresses;
    return entry->addresses;
}

}  // namespace live::service::relay
