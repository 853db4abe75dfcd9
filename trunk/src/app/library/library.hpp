// Library: the recorders, the library of what they have recorded, and the port that plays it.
#pragma once

#include "app/library/playback_port.hpp"
#include "app/library/uploads.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "base/log/log.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/clips/clip_service.hpp"
#include "service/dvr/dvr_service.hpp"
#include "service/files/path_claims.hpp"
#include "service/recordings/recordings_service.hpp"
#include "service/service_list.hpp"
#include "service/stats/stream_stats.hpp"
#include "settings/current_settings.hpp"

namespace live::api {
class Endpoints;
}

namespace live::app {

class Library {
public:
    // All must outlive this.
    struct Shared {
        const settings::CurrentSettings& settings;
        const engine::workers::WorkerIdentity identity;
        media::StreamTable& streams;
        session::ClientTable& clients;
        session::ConnectionLimits& places;
        MutBytes scratch;
        service::admission::AdmissionPolicies& admission;
        session::StreamEvents& events;
        service::files::PathClaims& claims;
        const service::http_client::HttpClient& http;
        const service::stats::StreamStats& stats;
    };

    Library(const Shared& shared, const Log& log);
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    // The recorders; and the port, after what it depends on.
    void add_services(service::ServiceList& services);
    void add_port(service::ServiceList& services) { services.add(port_); }
    service::files::FileMirrors& mirrors() { return uploads_.pushes(); }
    void add_routes(api::Endpoints& endpoints);
    // Plays recordings on the port of the live streams; nullptr without playback.
    session::http::Handler* beside_streams() { return port_.beside_streams(); }

private:
    service::dvr::DvrContext recording_context(const Shared& shared);
    service::clips::ClipContext clip_context(const Shared& shared);

    service::dvr::OpenRecordings open_recordings_;
    service::recordings::RecordingsService recordings_;
    Uploads uploads_;
    VhostOptions<service::hls::HlsOptions> hls_options_;
    VhostOptions<service::dvr::DvrOptions> dvr_options_;
    service::dvr::DvrService dvr_;
    service::clips::ClipService clips_;
    const service::stats::StreamStats& stats_;
    PlaybackPort port_;
};

}  // namespace live::app
