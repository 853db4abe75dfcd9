// Accepts connections from a listening socket and serves each in its own fiber.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "session/limits/proxy_rules.hpp"

namespace live::session {

// Reads the PROXY header of a peer that sends one, and sets the address of its client as the peer's. Returns false without a
// header: then the connection must be closed.
bool take_proxy_header(io::TcpStream& stream, const ProxyRules& proxies, const Log& log, io::Deadline deadline);

// The next connection; nullptr once cancelled, or when the listener was closed. Other errors are logged and retried.
std::unique_ptr<io::TcpStream> next_connection(io::TcpListener& listener, const Log& log, io::Deadline deadline);
void log_refused(const io::TcpStream& stream, const Error& error, const Log& log);

// Runs until next_connection() returns nullptr. `proxies` and `log` must outlive the connections. Each connection is served by
// serve(stream, deadline) in a fiber that belongs to `connections` and may outlive this call.
template <class Serve>
void accept_each(io::TcpListener& listener, io::Scope& connections, std::string_view fiber_name, const Log& log,
                 const ProxyRules& proxies, io::Deadline deadline, Serve serve) {
    while (auto stream = next_connection(listener, log, deadline)) {
        // std::function requires copyable captures; the stream's only owner is the fiber, which takes it out of the shared box.
        auto box = std::make_shared<std::unique_ptr<io::TcpStream>>(std::move(stream));
        const auto started = connections.start(fiber_name, [serve, box, &proxies, &log](io::Deadline forever) {
            if (take_proxy_header(**box, proxies, log, forever))
                serve(std::move(*box), forever);
        });
        if (!started.ok())
            log_refused(**box, started.error(), log);
    }
}

}  // namespace live::session
