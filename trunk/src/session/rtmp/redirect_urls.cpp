#include "session/rtmp/redirect_urls.hpp"

#include "base/ip_network.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::rtmp {

RedirectUrls redirect_urls(const std::string& place, const ClientRequest& client) {
    // An address as host is no name: the default virtual host serves it, there as here.
    const bool is_default = client.vhost == wire::rtmp::kDefaultVhost || parse_ip(client.vhost).ok();
    const bool is_named = is_default || client.param.find("vhost=") != std::string::npos;
    const std::string vhost = is_named ? "" : "vhost=" + client.vhost;
    const std::string base = "rtmp://" + place + "/" + client.app;
    std::string param = client.param;
    if (!vhost.empty())
        param += (param.empty() ? "?" : "&") + vhost;
    return {vhost.empty() ? base : base + "?" + vhost, base + "/" + client.stream + param};
}

}  // namespace live::session::rtmp
