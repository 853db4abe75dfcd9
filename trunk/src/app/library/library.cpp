#include "app/library/library.hpp"

#include <string>
#include <vector>

#include "api/common/endpoints.hpp"
#include "api/streams/dvrs_handler.hpp"
#include "api/streams/recordings_handler.hpp"
#include "api/streams/uploads_handler.hpp"
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
                  [&settings = shared.settings] { return settings->recordings; },
                  shared.identity.is_worker() ? service::recordings::RecordingsService::Others::present
                                              : service::recordings::RecordingsService::Others::absent,
                  log),
      uploads_({shared.settings, shared.http, recordings_, [&settings = shared.settings] { return recording_roots(*settings); },
                shared.admission.callbacks(), shared.identity.is_first()},
               log),
      hls_options_(shared.settings, &settings::Vhost::hls),
      dvr_options_(shared.settings, &settings::Vhost::dvr),
      dvr_(shared.streams, dvr_options_, recording_context(shared), log),
      clips_(clip_context(shared), log),
      stats_(shared.stats),
      port_(shared.settings, {recordings_, shared.admission, shared.events, shared.clients, hls_options_}, shared.scratch,
            shared.places, shared.identity, log) {}

service::dvr::DvrContext Library::recording_context(const Shared& shared) {
    service::dvr::DvrContext context;
    context.open = &open_recordings_;
    context.claims = &shared.claims;
    context.product = fmt::format("{}/{}", kProduct, kVersion);
    context.zone = shared.settings->utc_time ? Zone::utc : Zone::local;
    context.on_recorded = [&callbacks = shared.admission.callbacks(), this](const service::dvr::Recorded& recorded) {
        callbacks.report_recording(recorded.request, recorded.plan, recorded.file, recorded.error);
        const service::recordings::RecordingEvent event{.vhost = recorded.plan.vhost,
                                                        .app = recorded.request.app,
                                                        .stream = recorded.request.stream,
                                                        .path = recorded.file,
                                                        .start = recorded.start,
                                                        .duration = recorded.duration,
                                                        .bytes = recorded.bytes,
                                                        .is_complete = true};
        recordings_.on_recording(event);
        uploads_.add(event);
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

// A clip is a recording of another stream, which no rule deletes.
service::clips::ClipContext Library::clip_context(const Shared& shared) {
    service::dvr::DvrContext recording = recording_context(shared);
    recording.on_recorded = nullptr;
    recording.on_progress = nullptr;
    const auto on_clip = [&callbacks = shared.admission.callbacks(), this](const service::clips::ClipEvent& event) {
        session::ClientRequest request;
        request.vhost = event.clip.vhost;
        request.app = event.clip.app;
        request.stream = event.clip.stream;
        session::StreamPlan plan;
        plan.vhost = event.clip.vhost;
        plan.url = service::recordings::url_of(event.clip.vhost, event.clip.app, event.clip.stream);
        callbacks.report_recording(request, plan, event.clip.file, event.error);
        if (event.error.empty())
            recordings_.on_recording({.vhost = event.clip.vhost,
                                      .app = service::clips::app_of_clips(event.clip.app),
                                      .stream = event.clip.stream,
                                      .path = event.clip.file,
                                      .start = event.clip.start,
                                      .duration = event.clip.duration,
                                      .bytes = event.bytes,
                                      .is_complete = true});
    };
    return {recordings_, shared.streams, dvr_options_, std::move(recording), on_clip};
}

void Library::add_services(service::ServiceList& services) {
    services.add(recordings_);
    services.add(uploads_.service());
    services.add(uploads_.pushes());
    services.add(dvr_);
    services.add(clips_);
}

void Library::add_routes(api::Endpoints& endpoints) {
    endpoints.add<api::ClipHandler>(api::ClipHandler::kPath, endpoints.server(), stats_, clips_);
    endpoints.add<api::DvrsHandler>(api::DvrsHandler::kPath, endpoints.server(), dvr_);
    endpoints.add<api::RecordingsHandler>(api::RecordingsHandler::kPath, endpoints.server(), recordings_);
    endpoints.add<api::RecordingFilesHandler>(api::RecordingFilesHandler::kPath, endpoints.server(), recordings_);
    endpoints.add<api::RecordingPinHandler>(api::RecordingPinHandler::kPath, endpoints.server(), recordings_);
    endpoints.add<api::RecordingDiskHandler>(api::RecordingDiskHandler::kPath, endpoints.server(), recordings_);
    endpoints.add<api::UploadsHandler>(api::UploadsHandler::kPath, endpoints.server(), uploads_.service());
    endpoints.add<api::UploadStateHandler>(api::UploadStateHandler::kPath, endpoints.server(), uploads_.service());
}

}  // namespace live::app
