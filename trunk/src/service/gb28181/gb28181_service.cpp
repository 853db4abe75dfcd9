#include "service/gb28181/gb28181_service.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "session/gb28181/protocol.hpp"

namespace live::service::gb28181 {

Gb28181Service::Gb28181Service(const session::gb28181::Context& context, std::vector<std::string> listen, const Log& log)
    : listen_(std::move(listen)), output_(context.options.output), log_(log), server_(context, listeners_, connections_, log) {}

Gb28181Service::~Gb28181Service() = default;

Result<void> Gb28181Service::start(io::Scope&, io::Deadline) {
    for (const std::string& text : listen_) {
        const auto endpoints = TRY(parse_endpoint(text));
        for (const Endpoint& endpoint : endpoints) {
            const auto listening = listen_at(endpoint);
            // The IPv6 address of a bare port: the machine may have no IPv6.
            if (!listening.ok() && endpoints.size() > 1 && endpoint.is_ipv6() && listening.code() == Errc::system)
                LOG_WARN(log_, "the GB28181 caster does not listen at {}: {}", endpoint.text(), listening.error().sentence());
            else if (!listening.ok())
                return Error(listening.error()).during("listening for the GB28181 caster");
        }
    }
    return server_.start();
}

Result<void> Gb28181Service::listen_at(const Endpoint& endpoint) {
    auto listener = TRY(io::TcpListener::listen(endpoint));
    auto socket = TRY(io::UdpSocket::bind(listener->endpoint(), session::gb28181::Server::kBufferBytes));
    LOG_INFO(log_, "GB28181 caster listen at tcp://{} and udp, output={}", endpoint.text(), redacted(output_));
    TRY(server_.add(std::move(listener)));
    return server_.add(std::move(socket));
}

Result<void> Gb28181Service::close(io::Deadline) {
    server_.close();
    return {};
}

Result<void> Gb28181Service::hand_over(io::Deadline deadline) {
    server_.stop_receiving();
    return listeners_.stop(deadline);
}

Result<void> Gb28181Service::stop(io::Deadline deadline) {
    server_.stop_receiving();
    return io::stop_all({&listeners_, &connections_}, deadline);
}

std::optional<session::Protocol> Gb28181Service::protocol() { return session::gb28181::describe(server_, listen_); }

}  // namespace live::service::gb28181
