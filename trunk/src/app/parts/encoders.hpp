// Encoders: the services that encode published streams in child processes: ladders.
#pragma once

#include "api/streams/transcodes_handler.hpp"
#include "app/parts/part.hpp"
#include "app/parts/stream_core.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/wiring/http_wiring.hpp"
#include "base/log/log.hpp"
#include "service/ladder/ladder_service.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Encoders final : public Part {
public:
    // Both must outlive this.
    Encoders(const settings::CurrentSettings& settings, StreamCore& streams, const Log& log)
        : ladder_options_(settings, &settings::Vhost::ladder), ladders_(streams.table(), ladder_options_, log) {}

    void add_services(service::ServiceList& services) override { services.add(ladders_); }
    void add_routes(HttpWiring& http) override {
        api::Endpoints& endpoints = http.endpoints();
        endpoints.add<api::TranscodesHandler>(api::TranscodesHandler::kPath, endpoints.server(), ladders_);
    }

private:
    VhostOptions<service::ladder::LadderOptions> ladder_options_;
    service::ladder::LadderService ladders_;
};

}  // namespace live::app
