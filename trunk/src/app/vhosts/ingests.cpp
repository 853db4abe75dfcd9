#include "app/vhosts/ingests.hpp"

namespace live::app {

namespace {

using settings::Vhost;

}  // namespace

std::vector<service::ingest::IngestSet> Ingests::wanted() const {
    std::vector<service::ingest::IngestSet> wanted;
    const auto endpoints = endpoints_();
    for (const Vhost& vhost : settings_->vhosts) {
        if (!vhost.enabled || vhost.ingests.empty())
            continue;
        service::ingest::IngestPlace place;
        place.vhost = vhost.name;
        place.rtmp_port = endpoints.empty() ? place.rtmp_port : endpoints.front().port;
        place.log_level = settings_->ff_log_level;
        place.log_dir = settings_->ff_log_dir;
        wanted.push_back({std::move(place), vhost.ingests});
    }
    return wanted;
}

std::string Ingests::url_of(const session::ClientRequest& stream) const {
    const auto serving = vhosts_.rules_of(stream.vhost);
    return serving.ok() ? service::admission::stream_url(serving->name, stream.app, stream.stream) : std::string();
}

}  // namespace live::app
