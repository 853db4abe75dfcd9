#include "service/rtmp_client/dial.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "base/net/own_endpoint.hpp"
#include "base/net/redirect_rule.hpp"
#include "io/net/resolve.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"

namespace live::service::rtmp_client {

namespace {

Result<std::unique_ptr<io::Stream>> dial_one(const Target& target, const Endpoint& endpoint, const DialContext& context,
                                             io::Deadline deadline, Signal* signal) {
    const Error loop(Errc::denied,
                     fmt::format("{} is this server itself: the stream would go round in a circle", endpoint.text()));
    if (!target.sent_by.empty() && !may_send_us(target.sent_by, endpoint.ip))
        return Error(Errc::denied, fmt::format("{} may not send this server to {}", target.sent_by, endpoint.text()));
    if (is_own_endpoint(endpoint, context.own_endpoints(), ""))
        return Error(loop);
    auto tcp = TRY(io::TcpStream::connect(endpoint, deadline, signal));
    // The system uses the target address as source address when connecting to one of this machine's addresses.
    if (is_own_endpoint(endpoint, context.own_endpoints(), tcp->local_ip()))
        return Error(loop);
    if (!target.is_secure)
        return std::unique_ptr<io::Stream>(std::move(tcp));
    if (context.tls == nullptr)
        return Error(Errc::unsupported, "TLS is not available");
    return std::unique_ptr<io::Stream>(
        TRY(io::TlsStream::connect(std::move(tcp), *context.tls, target.name.empty() ? target.host : target.name, deadline)));
}

}  // namespace

Result<std::unique_ptr<io::Stream>> dial(const Target& target, const DialContext& context, io::Deadline deadline,
                                         Signal* signal) {
    const auto limit = deadline.sooner(io::Deadline::after(kDialLimit));
    const auto endpoints = TRY(io::resolve(target.host, target.port, limit));
    Result<std::unique_ptr<io::Stream>> dialled = Error(Errc::not_found, "no address");
    for (const Endpoint& endpoint : endpoints) {
        dialled = dial_one(target, endpoint, context, limit, signal);
        if (dialled.ok() || dialled.code() == Errc::denied || dialled.code() == Errc::cancelled)
            break;
    }
    return dialled;
}

}  // namespace live::service::rtmp_client
