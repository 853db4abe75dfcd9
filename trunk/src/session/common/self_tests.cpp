#include "session/common/self_tests.hpp"

#include <string>
#include <utility>

#include "io/net/network_interfaces.hpp"

namespace live::session {

std::vector<Endpoint> reachable_endpoints(const Endpoint& bound) {
    if (bound.ip != "0.0.0.0" && bound.ip != "::")
        return {bound};
    std::vector<Endpoint> all;
    const auto devices = io::interface_addresses();
    if (!devices.ok())
        return all;
    for (const std::string& ip : io::device_addresses(*devices))
        if (Endpoint endpoint{ip, bound.port}; endpoint.is_ipv6() == bound.is_ipv6())
            all.push_back(std::move(endpoint));
    return all;
}

}  // namespace live::session
