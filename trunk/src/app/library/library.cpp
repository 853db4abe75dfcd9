#include "app/library/library.hpp"

#include <string>
#include <vector>

#include "api/common/endpoints.hpp"
#include "api/streams/dvrs_handler.hpp"
#include "api/streams/recordings_handler.hpp"
#include "app/start/server_id.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"

namespace live::app {

namespace {

// The worker's private copy of a file.
std::string own_path(const std::string& path, const engine::workers::WorkerIdentity& worker) {
    return worker.is_worker() ? fmt::format("{}.worker{}", path, worker.number) : path;
}

// Where the recordings of each virtual host are.
std::vector<service::recordings::RecordingRoot> recording_roots(const settings::Settings& settings) {
    std::vector<service::recordings::RecordingRoot> roots;
    for (const settings::Vhost& vhost : settings.vhosts)
        if (vhost.dvr.enabled)
            roots.push_back({vhost.name, service::dvr::path_template(vhost.dvr)});
    return roots;
}

}  // namespace

Library::Library(const Shared& shared, const Log& log)
    : open_recordings_(open_recordings_path(own_path(shared.settings->pid, shared.identity))),
      recordings_([&settings = shared.settings] { return recording_roots(*settings); },
                  [&settings = shared.settings] { return settings->recordings; }, log),
      dvr_options_(shared.settings, &settings::Vhost::dvr),
      dvr_(shared.streams, dvr_options_, recording_context(shared), log),
      port_(shared.settings, {recordings_, shared.admission, shared.events, shared.clients}, shared.scratch, shared.places,
            shared.identity, log) {}

service::dvr::DvrContext Library::recording_context(const Shared& shared) {
    service::dvr::DvrContext context;
    context.open = &open_recordings_;
    context.claims = &shared.claims;
    context.product = fmt::format("{}/{}", kProduct, kVersion);
    context.zone = shared.settings->utc_time ? Zone::utc : Zone::local;
    context.on_recorded = [&callbacks = shared.admission.callbacks(), this](const service::dvr::Recorded& recorded) {
        callbacks.report_recording(recorded.request, recorded.plan, recorded.file, recorded.error);
        recordings_.on_recording({.vhost = recorded.plan.vhost,
                                  .app = recorded.request.app,
                                  .stream = recorded.request.stream,
                                  .path = recorded.file,
                                  .start = recorded.start,
                                  .duration = recorded.duration,
                                  .bytes = recorded.bytes,
                                  .is_complete = true});
    };
    context.on_progress = [this](const service::dvr::RecordingProgress& progress) {
        recordings_.on_recording({.vhost = progress.note.vhost,
                                  .app = progress.note.app,
                                  .stream = progress.note.stream,
                                  .path = progress.file,
                                  .start = progress.note.start,
                                  .duration = progress.playable,
                                  .bytes = progress.bytes});
    };
    return context;
}

void Library::add_services(service::ServiceList& services) {
    services.add(recordings_);
    services.add(dvr_);
}

void Library::add_routes(api::Endpoints& endpoints) {
    endpoints.add<api::DvrsHandler>(api::DvrsHandler::kPath, endpoints.server(), dvr_);
    endpoints.add<api::RecordingsHandler>(api::RecordingsHandler::kPath, endpoints.server(), recordings_);
    endpoints.add<api::RecordingFilesHandler>(api::RecordingFilesHandler::kPath, endpoints.server(), recordings_);
    endpoints.add<api::RecordingPinHandler>(api::RecordingPinHandler::kPath, endpoints.server(), recordings_);
    endpoints.add<api::RecordingDiskHandler>(api::RecordingDiskHandler::kPath, endpoints.server(), recordings_);
}

}  // namespace live::app
