// OutputWiring: the outputs that make files of streams, wired together: recordings, HLS, DASH and snapshots.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/vhosts/hls_fragments.hpp"
#include "app/vhosts/vhost_files.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/wiring/http_wiring.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/dash/dash_handler.hpp"
#include "service/dash/dash_service.hpp"
#include "service/dvr/dvr_service.hpp"
#include "service/files/sessions.hpp"
#include "service/hls/hls_handler.hpp"
#include "service/hls/hls_service.hpp"
#include "service/hooks/hook_service.hpp"
#include "service/service_list.hpp"
#include "service/snapshot/snapshot_service.hpp"
#include "service/workers/other_files.hpp"
#include "service/workers/session_homes.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class OutputWiring {
public:
    // They outlive the wiring.
    struct Shared {
        const settings::CurrentSettings& settings;
        const ServerNames& names;
        service::admission::AdmissionPolicies& admission;
        session::StreamEvents& events;
        media::StreamTable& streams;
        session::ClientTable& clients;
        session::ConnectionLimits& places;
        service::hooks::HookService& hooks;
        service::workers::WorkerService& workers;
        service::workers::OtherFiles& other_files;
    };

    OutputWiring(const Shared& shared, const Log& log);
    OutputWiring(const OutputWiring&) = delete;
    OutputWiring& operator=(const OutputWiring&) = delete;

    service::dvr::DvrService& recordings() { return dvr_; }
    service::snapshot::SnapshotService& snapshots() { return snapshots_; }
    const session::http::FileRoots& files() const { return files_; }
    const service::hls::FileIndex& hls_index() const { return hls_.index(); }
    service::dash::DashHandler& dash_player() { return dash_player_; }
    // Finds the sessions of players on other workers.
    service::workers::SessionHomes& homes() { return homes_; }
    // Registers the players.
    void add_to(HttpWiring& http);
    void add_to(service::ServiceList& services);
    // Another worker publishes the stream: it makes the recordings and calls the callbacks.
    void on_sibling_published(const session::ClientRequest& request, const session::StreamPlan& plan);

private:
    service::dvr::DvrContext recording_context(const Shared& shared);

    VhostFiles files_;
    service::files::PathClaims claims_;  // shared by recordings, HLS and DASH
    service::dvr::OpenRecordings open_recordings_;
    VhostOptions<service::dvr::DvrOptions> dvr_options_;
    service::dvr::DvrService dvr_;
    VhostOptions<service::hls::HlsOptions> hls_options_;
    HlsFragments hls_events_;
    service::files::Sessions viewers_;  // of HLS and DASH
    service::workers::SessionHomes homes_;
    service::hls::HlsService hls_;
    service::hls::HlsHandler hls_player_;
    VhostOptions<service::dash::DashOptions> dash_options_;
    service::dash::DashService dash_;
    service::dash::DashHandler dash_player_;
    service::snapshot::SnapshotService snapshots_;
    const bool is_worker_;
};

}  // namespace live::app
