#include "app/parts/upkeep.hpp"

#include "api/debug/memory_handler.hpp"
#include "app/memory/allocator.hpp"
#include "app/wiring/http_wiring.hpp"

namespace live::app {

Upkeep::Upkeep(const Shared& shared, const Log& log)
    : memory_keeper_({shared.clients.places().memory(), shared.streams.table(), shared.streams.slabs(), shared.services,
                      shared.clients.table(), shared.names.shared_limits()},
                     log),
      housekeeping_({shared.streams.table(), shared.clients.places(), shared.streams.fan_out(), shared.services,
                     std::chrono::duration_cast<std::chrono::seconds>(shared.settings->threads.interval)},
                    log),
      memory_(shared.streams.slabs(), shared.clients.stats(), shared.clients.places(), shared.protocols, log,
              shared.clients.access_log()),
      allocator_(make_allocator_figures(shared.settings->tcmalloc_release_rate, log)) {}

void Upkeep::add_services(service::ServiceList& services) {
    services.add(memory_keeper_);
    services.add(housekeeping_);
}

void Upkeep::add_routes(HttpWiring& http) {
    api::Endpoints& endpoints = http.endpoints();
    endpoints.add<api::MemoryHandler>("/api/v1/memory", endpoints.server(), memory_);
    if (allocator_ != nullptr)
        endpoints.add<api::AllocatorHandler>("/api/v1/tcmalloc", endpoints.server(), *allocator_);
}

}  // namespace live::app
