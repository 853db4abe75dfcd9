// Outputs: the outputs that make files of streams: recordings, HLS, DASH and snapshots, and the list of streams to play.
#pragma once

#include "app/library/library.hpp"
#include "app/parts/client_core.hpp"
#include "app/parts/outgoing_calls.hpp"
#include "app/parts/part.hpp"
#include "app/parts/stream_core.hpp"
#include "app/parts/worker_links.hpp"
#include "app/vhosts/hls_fragments.hpp"
#include "app/vhosts/stream_fetcher.hpp"
#include "app/vhosts/stream_list.hpp"
#include "app/vhosts/vhost_files.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/dash/dash_handler.hpp"
#include "service/dash/dash_service.hpp"
#include "service/files/sessions.hpp"
#include "service/hls/hls_handler.hpp"
#include "service/hls/hls_service.hpp"
#include "service/snapshot/snapshot_service.hpp"
#include "service/workers/session_ownership.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Outputs final : public Part {
public:
    // All must outlive this.
    struct Shared {
        const settings::CurrentSettings& settings;
        const ServerNames& names;
        StreamCore& streams;
        ClientCore& clients;
        OutgoingCalls& calls;
        service::admission::AdmissionPolicies& admission;
        session::StreamEvents& events;
        WorkerLinks& workers;
        const session::Protocols& protocols;  // may be filled later
    };

    Outputs(const Shared& shared, const Log& log);
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;

    const session::http::FileRoots& files() const { return files_; }
    // Another worker publishes the stream: it makes the recordings and calls the callbacks.
    void on_sibling_published(const session::ClientRequest& request, const session::StreamPlan& plan);

    void add_services(service::ServiceList& services) override;
    void add_routes(HttpWiring& http) override;

private:
    VhostFiles files_;
    service::files::PathClaims claims_;  // shared by recordings, HLS and DASH
    Library library_;
    VhostOptions<service::hls::HlsOptions> hls_options_;
    HlsFragments hls_events_;
    service::files::Sessions viewers_;  // of HLS and DASH
    service::workers::SessionOwnership homes_;
    service::hls::HlsService hls_;
    service::hls::HlsHandler hls_player_;
    VhostOptions<service::dash::DashOptions> dash_options_;
    service::dash::DashService dash_;
    service::dash::DashHandler dash_player_;
    service::snapshot::SnapshotService snapshots_;
    service::snapshot::SnapshotService thumbnails_;
    StreamFetcher fetcher_;
    StreamList stream_list_;
    service::stats::StreamStats& stats_;
    const media::StreamTable& streams_;
    service::workers::WorkerService& workers_;
};

}  // namespace live::app
