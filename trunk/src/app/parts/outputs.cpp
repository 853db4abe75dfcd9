#include "app/parts/outputs.hpp"

#include <filesystem>

#include "api/streams/dvrs_handler.hpp"
#include "api/streams/thumbnail_handler.hpp"
#include "app/start/server_id.hpp"
#include "app/wiring/http_wiring.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"

namespace live::app {

namespace {

// The worker's private copy of a file.
std::string own_path(const std::string& path, const engine::workers::WorkerIdentity& worker) {
    return worker.is_worker() ? fmt::format("{}.worker{}", path, worker.number) : path;
}

Zone zone_of(const settings::Settings& settings) { return settings.utc_time ? Zone::utc : Zone::local; }

}  // namespace

Outputs::Outputs(const Shared& shared, const Log& log)
    : files_(shared.settings),
      open_recordings_(open_recordings_path(own_path(shared.settings->pid, shared.names.identity()))),
      dvr_options_(shared.settings, &settings::Vhost::dvr),
      dvr_(shared.streams.table(), dvr_options_, recording_context(shared), log),
      hls_options_(shared.settings, &settings::Vhost::hls),
      hls_events_(shared.settings, shared.calls.hooks(), std::filesystem::current_path().string()),
      viewers_(shared.admission, shared.events, shared.clients.table(), shared.clients.places()),
      homes_(shared.workers.service(), viewers_, shared.names.workers_secret, log.with_id("WRK")),
      hls_({shared.streams.table(), hls_options_, viewers_, hls_events_, claims_, zone_of(*shared.settings)}, log),
      hls_player_(hls_.index(), hls_options_, files_, viewers_),
      dash_options_(shared.settings, &settings::Vhost::dash),
      dash_(shared.streams.table(), dash_options_, claims_, log),
      dash_player_(dash_.store(), dash_options_, files_, viewers_),
      snapshots_(shared.streams.table()),
      thumbnails_(shared.streams.table(), service::snapshot::SnapshotService::thumbnails()),
      fetcher_(shared.admission),
      stream_list_(shared.settings, shared.protocols, hls_.index(), dash_player_),
      stats_(shared.clients.stats()),
      workers_(shared.workers.service()) {
    files_.set_players(viewers_, dash_player_.viewers());
    if (!workers_.identity().is_worker())
        return;
    viewers_.set_homes(homes_);
    hls_player_.set_remote_files(shared.workers.files());
    dash_player_.set_remote_files(shared.workers.files());
}

service::dvr::DvrContext Outputs::recording_context(const Shared& shared) {
    service::dvr::DvrContext context;
    context.open = &open_recordings_;
    context.claims = &claims_;
    context.product = fmt::format("{}/{}", kProduct, kVersion);
    context.zone = zone_of(*shared.settings);
    context.on_recorded = [&callbacks = shared.admission.callbacks()](const service::dvr::Recorded& recorded) {
        callbacks.report_recording(recorded.request, recorded.plan, recorded.file, recorded.error);
    };
    return context;
}

// Before the live streams: an HTTP-TS mount may match the name of a fragment. DASH before HLS: of several workers, HLS takes any
// other .m4s and .mp4 for a fragment of a stream on another one.
void Outputs::add_routes(HttpWiring& http) {
    if (workers_.identity().is_worker())
        http.add_for_workers(service::workers::SessionOwnership::kPath, homes_);
    http.add_files(dash_player_);
    http.add_files(hls_player_);
    api::Endpoints& endpoints = http.endpoints();
    endpoints.add<api::DvrsHandler>("/api/v1/dvrs", endpoints.server(), dvr_);
    endpoints.add<api::SnapshotHandler>(api::SnapshotHandler::kPath, snapshots_, fetcher_);
    endpoints.add<api::ThumbnailHandler>(api::ThumbnailHandler::kPath, thumbnails_, stream_list_, &workers_);
    endpoints.add<api::StreamListHandler>(api::StreamListHandler::kPath, endpoints.server(), stats_, stream_list_, &workers_);
}

void Outputs::add_services(service::ServiceList& services) {
    services.add(homes_);
    services.add(dvr_);
    services.add(dash_);
    services.add(hls_);
}

void Outputs::on_sibling_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    dash_.on_published(request, plan);
    hls_.on_published(request, plan);
}

}  // namespace live::app
