// Upkeep: the work of the process for itself: the memory budget, the work of every second, and the memory counters of the API.
#pragma once

#include <memory>

#include "api/debug/allocator_handler.hpp"
#include "app/memory/memory_keeper.hpp"
#include "app/parts/client_core.hpp"
#include "app/parts/housekeeping.hpp"
#include "app/parts/part.hpp"
#include "app/parts/stream_core.hpp"
#include "app/wiring/memory_counts.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Upkeep final : public Part {
public:
    // All must outlive this. `services` and `protocols` may be filled later.
    struct Shared {
        const settings::CurrentSettings& settings;
        const ServerNames& names;
        service::ServiceList& services;
        const session::Protocols& protocols;
        StreamCore& streams;
        ClientCore& clients;
    };
    Upkeep(const Shared& shared, const Log& log);

    void add_services(service::ServiceList& services) override;
    void add_routes(HttpWiring& http) override;

private:
    MemoryKeeper memory_keeper_;
    Housekeeping housekeeping_;
    ProcessMemory memory_;
    const std::unique_ptr<api::Allocator> allocator_;  // nullptr in ordinary builds
};

}  // namespace live::app
