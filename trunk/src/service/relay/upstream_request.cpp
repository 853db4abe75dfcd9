#include "service/relay/upstream_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/endpoint.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::relay {

namespace {

using wire::amf::Value;

constexpr std::uint16_t kUsualPort = 1935;

// The client's query without vhost=, which tcUrl already carries.
std::string query_for(std::string_view param) {
    std::string query;
    param.remove_prefix(std::min<std::size_t>(param.size(), param.starts_with('?') ? 1 : 0));
    while (!param.empty()) {
        const std::size_t end = std::min(param.find('&'), param.size());
        const std::string_view one = param.substr(0, end);
        if (!one.empty() && !one.starts_with("vhost="))
            query += (query.empty() ? "?" : "&") + std::string(one);
        param.remove_prefix(std::min(end + 1, param.size()));
    }
    return query;
}

std::string tc_url_of(const Origin& origin, const std::string& vhost, const std::string& app) {
    const std::string& host = vhost == wire::rtmp::kDefaultVhost ? origin.host : vhost;
    const std::string place =
        origin.port == kUsualPort && host.find(':') == std::string::npos ? host : Endpoint{host, origin.port}.text();
    return fmt::format("{}://{}/{}", origin.is_secure ? "rtmps" : "rtmp", place, app);
}

}  // namespace

Result<std::string> extend_path(std::string_view path, std::string_view server_id) {
    std::size_t hops = 1;
    for (std::string_view rest = path; !rest.empty(); ++hops) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        if (rest.substr(0, end) == server_id)
            return Error(Errc::denied, "the edges pull from each other in a circle: this server is in the path already");
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::string extended = path.empty() ? std::string(server_id) : fmt::format("{},{}", path, server_id);
    if (hops > kHopsMax || extended.size() >= kPathBytesMax)
        return Error(Errc::denied, fmt::format("more than {} servers in a row", kHopsMax));
    return extended;
}

engine::rtmp::ClientOptions upstream_request(const Origin& origin, const session::ClientRequest& client, const std::string& vhost,
                                             const ClusterOptions& options, const Node& node, const std::string& path) {
    std::string name = options.vhost;
    if (const std::size_t at = name.find("[vhost]"); at != std::string::npos)
        name.replace(at, 7, vhost);
    engine::rtmp::ClientOptions request;
    request.mode = engine::rtmp::ClientOptions::Mode::play;
    request.app = client.app;
    request.tc_url = tc_url_of(origin, name, client.app);
    request.stream = client.stream + query_for(client.param);
    request.flash_version = "WIN 15,0,0,239";
    Value arguments = Value::object({{"millrace_path", path}});
    if (options.debug_srs_upnode) {
        arguments.set("srs_sig", node.signature).set("srs_server", node.signature).set("srs_license", "MIT");
        arguments.set("srs_version", node.version).set("srs_pid", static_cast<double>(node.process_id));
        arguments.set("srs_id", node.server_id);
    }
    request.connect_arguments = std::move(arguments);
    return request;
}

}  // namespace live::service::relay
