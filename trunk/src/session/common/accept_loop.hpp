// Gives each connection that a listening socket takes a fiber of its own.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "io/scope.hpp"
#include "io/tcp_listener.hpp"

namespace live::session {

// The next connection; nullptr once cancelled, or when the listener was closed. What else goes wrong is logged and tried again.
std::unique_ptr<io::TcpStream> next_connection(io::TcpListener& listener, const Log& log, io::Deadline deadline);
void log_refused(const io::TcpStream& stream, const Error& error, const Log& log);

// Until there is no next one. Each is served by serve(stream, deadline) in a fiber that belongs to `connections` and may outlive
// this call.
template <class Serve>
void accept_each(io::TcpListener& listener, io::Scope& connections, std::string_view fiber_name, const Log& log,
                 io::Deadline deadline, Serve serve) {
    while (auto stream = next_connection(listener, log, deadline)) {
        // std::function wants to be copied; the stream has one owner, the fiber, which takes it out of the shared box.
        auto box = std::make_shared<std::unique_ptr<io::TcpStream>>(std::move(stream));
        const auto started =
            connections.start(fiber_name, [serve, box](io::Deadline forever) { serve(std::move(*box), forever); });
        if (!started.ok())
            log_refused(**box, started.error(), log);
    }
}

}  // namespace live::session
