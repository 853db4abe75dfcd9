// Service: a part of the server that works for the server's lifetime, as the server sees it. The server has one list of services,
// in dependency order (service/service_list.hpp). A service overrides only the functions it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "session/common/admission.hpp"
#include "session/common/protocol.hpp"

namespace live::service {

// A service's memory for streams: it counts against limits.memory_budget, and may be reclaimed.
class StreamHolder {
public:
    struct Held {
        enum class What : std::uint8_t { window, record };

        std::string url;  // of the source
        std::size_t bytes = 0;
        bool is_published = false;
        What what = What::window;  // segments for players, or figures about the stream
    };

    // One entry per stream.
    virtual std::vector<Held> held() const = 0;
    // Releases the memory held for a stream, unless it is published. Must not suspend.
    virtual void give_up(const std::string& url) = 0;

protected:
    ~StreamHolder() = default;
};

class Service {
public:
    virtual ~Service() = default;
    // In the log: "stopping NAME: ...".
    virtual std::string_view name() const = 0;

    // Fibers that it starts in `fibers` run until all services have stopped. With an error the server does not start.
    virtual Result<void> start(io::Scope& /*fibers*/, io::Deadline /*deadline*/) { return {}; }

    // A reload, in two steps. First, with the coming settings: prepares everything that must exist when they take effect; an
    // error refuses them.
    virtual Result<void> prepare(io::Deadline /*deadline*/) { return {}; }
    // The new settings take effect.
    virtual void apply(io::Deadline /*deadline*/) {}

    // session::StreamEvents defines the order. None of these three may suspend.
    virtual void on_published(const session::ClientRequest& /*request*/, const session::StreamPlan& /*plan*/) {}
    virtual void on_unpublished(const std::string& /*url*/) {}
    // See session::StreamEvents. Must not suspend. By default, what was begun for the publisher continues.
    virtual void on_stand_in(const session::ClientRequest& /*request*/, const session::StreamPlan& /*plan*/) {}
    // Every second.
    virtual void on_tick() {}

    // A stop, in two steps. First, while clients are still connected: accepts no new ones.
    virtual Result<void> close(io::Deadline /*deadline*/) { return {}; }
    // Instead of close(): another process has the same sockets and accepts the new clients. Must not read these sockets.
    virtual Result<void> hand_over(io::Deadline deadline) { return close(deadline); }
    // Ends everything; nothing starts afterwards. Without a preceding close(), does its work too. Errc::timed_out.
    virtual Result<void> stop(io::Deadline /*deadline*/) { return {}; }

    // nullptr when it holds none.
    virtual StreamHolder* memory() { return nullptr; }
    // The protocol that it serves, for the reports; it must not outlive this.
    virtual std::optional<session::Protocol> protocol() { return std::nullopt; }
    // Writes its metrics for Prometheus, except those of the protocol. Must not suspend.
    virtual void write_metrics(MetricsText& /*text*/) const {}
};

}  // namespace live::service
