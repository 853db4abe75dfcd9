// Ingests: the ingests of all enabled virtual hosts, from the settings tree.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/net/endpoint.hpp"
#include "service/ingest/ingest_service.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Ingests final : public service::ingest::WantedIngests {
public:
    // `settings` outlives this. Ingests publish to the first of the RTMP endpoints.
    Ingests(const settings::CurrentSettings& settings, std::function<std::vector<Endpoint>()> endpoints)
        : settings_(settings), endpoints_(std::move(endpoints)) {}

    std::vector<service::ingest::IngestSet> wanted() const override;

private:
    const settings::CurrentSettings& settings_;
    const std::function<std::vector<Endpoint>()> endpoints_;
};

}  // namespace live::app
