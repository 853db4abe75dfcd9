#include "app/parts/outputs.hpp"

#include <filesystem>

#include "api/events/events_handler.hpp"
#include "api/events/subtitles_handler.hpp"
#include "api/streams/thumbnail_handler.hpp"
#include "app/wiring/http_wiring.hpp"

namespace live::app {

namespace {

Zone zone_of(const settings::Settings& settings) { return settings.utc_time ? Zone::utc : Zone::local; }

}  // namespace

Outputs::Outputs(const Shared& shared, const Log& log)
    : files_(shared.settings),
      library_({shared.settings, shared.names.identity(), shared.streams.table(), shared.clients.table(), shared.clients.places(),
                shared.clients.scratch(), shared.admission, shared.events, claims_, shared.calls.http(), shared.clients.stats()},
               log),
      hls_options_(shared.settings, &settings::Vhost::hls),
      hls_events_(shared.settings, shared.calls.hooks(), std::filesystem::current_path().string()),
      viewers_(shared.admission, shared.events, shared.clients.table(), shared.clients.places()),
      homes_(shared.workers.service(), viewers_, shared.names.workers_secret, log.with_id("WRK")),
      hls_({shared.streams.table(), hls_options_, viewers_, hls_events_, claims_, zone_of(*shared.settings), &library_.mirrors()},
           log),
      hls_player_(hls_.index(), hls_options_, files_, viewers_),
      dash_options_(shared.settings, &settings::Vhost::dash),
      dash_(shared.streams.table(), dash_options_, claims_, log, &library_.mirrors()),
      dash_player_(dash_.store(), dash_options_, files_, viewers_),
      snapshots_(shared.streams.table()),
      thumbnails_(shared.streams.table(), service::snapshot::SnapshotService::thumbnails()),
      fetcher_(shared.admission),
      stream_list_(shared.settings, shared.protocols, hls_.index(), dash_player_),
      stats_(shared.clients.stats()),
      streams_(shared.streams.table()),
      workers_(shared.workers.service()) {
    files_.set_players(viewers_, dash_player_.viewers());
    files_.set_access(shared.admission.access());
    if (!workers_.identity().is_worker())
        return;
    viewers_.set_homes(homes_);
    hls_player_.set_remote_files(shared.workers.files());
    dash_player_.set_remote_files(shared.workers.files());
}

// Before the live streams: an HTTP-TS mount may match the name of a fragment. DASH before HLS: of several workers, HLS takes any
// other .m4s and .mp4 for a fragment of a stream on another one.
void Outputs::add_routes(HttpWiring& http) {
    if (workers_.identity().is_worker())
        http.add_for_workers(service::workers::SessionOwnership::kPath, homes_);
    if (session::http::Handler* const recordings = library_.beside_streams())
        http.add_streams(*recordings);
    http.add_files(dash_player_);
    http.add_files(hls_player_);
    api::Endpoints& endpoints = http.endpoints();
    library_.add_routes(endpoints);
    endpoints.add<api::EventsHandler>(api::EventsHandler::kPath, endpoints.server(), stats_, streams_);
    endpoints.add<api::SubtitlesHandler>(api::SubtitlesHandler::kPath, endpoints.server(), stats_, streams_);
    endpoints.add<api::SnapshotHandler>(api::SnapshotHandler::kPath, snapshots_, fetcher_);
    endpoints.add<api::ThumbnailHandler>(api::ThumbnailHandler::kPath, thumbnails_, stream_list_, &workers_);
    endpoints.add<api::StreamListHandler>(api::StreamListHandler::kPath, endpoints.server(), stats_, stream_list_, &workers_);
}

void Outputs::add_services(service::ServiceList& services) {
    services.add(homes_);
    library_.add_services(services);
    services.add(dash_);
    services.add(hls_);
    library_.add_port(services);
}

void Outputs::on_sibling_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    dash_.on_published(request, plan);
    hls_.on_published(request, plan);
}

}  // namespace live::app
