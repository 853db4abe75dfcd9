// Service: a part of the server that works for as long as the server does, as the server sees it. The server has one list of
// them, in the order in which they depend on each other (service/service_list.hpp). What a service has no use for it leaves out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "io/scope.hpp"
#include "session/common/admission.hpp"

namespace live::service {

// What a service keeps in memory for streams: it counts against limits.memory_budget, and may be taken away.
class StreamHolder {
public:
    struct Held {
        std::string url;  // of the source
        std::size_t bytes = 0;
        bool is_published = false;
    };

    // Of each stream, once.
    virtual std::vector<Held> held() const = 0;
    // Lets go of what is held for a stream, unless somebody publishes it. Must not suspend.
    virtual void give_up(const std::string& url) = 0;

protected:
    ~StreamHolder() = default;
};

class Service {
public:
    virtual ~Service() = default;
    // In the log: "stopping NAME: ...".
    virtual std::string_view name() const = 0;

    // What it starts in `fibers` runs until all services have stopped. With an error the server does not start.
    virtual Result<void> start(io::Scope& /*fibers*/, io::Deadline /*deadline*/) { return {}; }

    // A reload, in two steps. First the settings to come: what has to be there when they count, is made; an error refuses them.
    virtual Result<void> prepare(io::Deadline /*deadline*/) { return {}; }
    // They count.
    virtual void apply(io::Deadline /*deadline*/) {}

    // session::StreamEvents has the order. None of the three may suspend.
    virtual void on_published(const session::ClientRequest& /*request*/, const session::StreamPlan& /*plan*/) {}
    virtual void on_unpublished(const std::string& /*url*/) {}
    // Each second.
    virtual void on_tick() {}

    // A stop, in two steps. First, while clients are still there: nobody new comes by this service.
    virtual Result<void> close(io::Deadline /*deadline*/) { return {}; }
    // Ends everything; afterwards nothing starts any more. Without close() before, does its work too. Errc::timed_out.
    virtual Result<void> stop(io::Deadline /*deadline*/) { return {}; }

    // nullptr: nothing.
    virtual StreamHolder* memory() { return nullptr; }
};

}  // namespace live::service
