#include "service/ffmpeg/own_output.hpp"

#include <algorithm>
#include <string>

#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::ffmpeg {

namespace {

constexpr std::string_view kRtmp = "rtmp://";
constexpr std::uint16_t kRtmpPort = 1935;

bool is_this_server(std::string_view output, std::span<const std::uint16_t> rtmp_ports) {
    if (!output.starts_with(kRtmp))
        return false;
    output.remove_prefix(kRtmp.size());
    const auto where = parse_host(output.substr(0, output.find('/')));
    if (!where.ok())
        return false;
    const std::uint16_t port = where->port.value_or(kRtmpPort);
    return std::ranges::find(rtmp_ports, port) != rtmp_ports.end() &&
           (where->host == "localhost" || Endpoint{where->host, port}.is_loopback());
}

}  // namespace

std::optional<session::ClientRequest> own_output(std::string_view output, std::span<const std::uint16_t> rtmp_ports) {
    if (!is_this_server(output, rtmp_ports))
        return std::nullopt;
    const auto to = wire::rtmp::parse_stream_url(output);
    if (!to.ok() || !wire::rtmp::admit(*to).ok())
        return std::nullopt;
    session::ClientRequest request;
    // As ffmpeg's would: rules about addresses see a client of this machine.
    request.ip = request.peer_ip = "127.0.0.1";
    request.vhost = to->vhost;
    request.app = to->app;
    request.stream = to->stream;
    request.param = to->param;
    return request;
}

}  // namespace live::service::ffmpeg
