#include "session/http/redirect.hpp"

#include "base/net/ip_network.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"
#include "wire/rtmp/stream_query.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::http {

Reply redirect_reply(const Request& request, const std::string& place, const std::string& vhost, const std::string& mark) {
    using wire::http::Status;
    std::string url = "http://" + place + wire::http::percent_encode_path(request.path());
    std::string parameters = wire::rtmp::without_vhost(request.target.raw_query);
    parameters.erase(0, 1);
    // An address as host is no name: the default virtual host serves it, there as here.
    const bool is_default = vhost == wire::rtmp::kDefaultVhost || parse_ip(vhost).ok();
    if (!is_default)
        parameters += (parameters.empty() ? "vhost=" : "&vhost=") + wire::http::percent_encode(vhost);
    if (!mark.empty())
        parameters.append(parameters.empty() ? "" : "&").append(mark);
    if (!parameters.empty())
        url += "?" + parameters;
    Reply reply = error_reply(request.is_get() ? Status::found : Status::temporary_redirect, "the stream is on another server");
    reply.headers.emplace_back("Location", std::move(url));
    return reply;
}

}  // namespace live::session::http
