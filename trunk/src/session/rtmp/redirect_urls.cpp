#include "session/rtmp/redirect_urls.hpp"

#include <algorithm>
#include <string_view>

#include "base/net/ip_network.hpp"
#include "wire/rtmp/stream_query.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::rtmp {

RedirectUrls redirect_urls(const Redirect& to, const ClientRequest& client) {
    // An address as host is no name: the default virtual host serves it, there as here.
    const bool is_default = client.vhost == wire::rtmp::kDefaultVhost || parse_ip(client.vhost).ok();
    std::string more = is_default ? "" : "vhost=" + client.vhost;
    if (!to.mark.empty())
        more.append(more.empty() ? "" : "&").append(to.mark);
    const std::string base = "rtmp://" + to.rtmp + "/" + client.app;
    std::string param = wire::rtmp::without_vhost(client.param);
    if (!more.empty())
        param += (param.empty() ? "?" : "&") + more;
    return {more.empty() ? base : base + "?" + more, base + "/" + client.stream + param};
}

std::string reconnect_url(const Redirect& to, const ClientRequest& client) {
    const bool is_default = client.vhost == wire::rtmp::kDefaultVhost || parse_ip(client.vhost).ok();
    const std::size_t query_at = std::min(client.tc_url.find('?'), client.tc_url.size());
    std::string query = wire::rtmp::without_vhost(std::string_view(client.tc_url).substr(query_at));
    const auto add = [&query](std::string_view parameter) { query.append(query.empty() ? "?" : "&").append(parameter); };
    if (!is_default)
        add("vhost=" + client.vhost);
    if (!to.mark.empty())
        add(to.mark);
    return "rtmp://" + to.rtmp + "/" + client.app + query;
}

}  // namespace live::session::rtmp
