// Ingests: the ingests of all enabled virtual hosts, from the settings tree.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/net/endpoint.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/ingest/ingest_service.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Ingests final : public service::ingest::WantedIngests {
public:
    // `settings` and `vhosts` outlive this. Ingests publish to the first of the RTMP endpoints.
    Ingests(const settings::CurrentSettings& settings, const service::admission::VhostPolicy& vhosts,
            std::function<std::vector<Endpoint>()> endpoints)
        : settings_(settings), vhosts_(vhosts), endpoints_(std::move(endpoints)) {}

    std::vector<service::ingest::IngestSet> wanted() const override;
    std::string url_of(const session::ClientRequest& stream) const override;

private:
    const settings::CurrentSettings& settings_;
    const service::admission::VhostPolicy& vhosts_;
    const std::function<std::vector<Endpoint>()> endpoints_;
};

}  // namespace live::app
