#include "base/net/own_endpoint.hpp"

#include <algorithm>

namespace live {

namespace {

bool is_any(std::string_view ip) { return ip == "0.0.0.0" || ip == "::"; }

}  // namespace

bool is_own_endpoint(const Endpoint& to, std::span<const Endpoint> own, std::string_view local_ip) {
    return std::ranges::any_of(own, [&](const Endpoint& listener) {
        if (listener.port != to.port)
            return false;
        if (listener.ip == to.ip)
            return true;
        return is_any(listener.ip) && (to.is_loopback() || is_any(to.ip) || to.ip == local_ip);
    });
}

}  // namespace live
