#include "service/dash/dash_service.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/normal_path.hpp"
#include "base/text/variables.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::dash {

DashService::DashService(media::StreamTable& streams, const OptionsOf<DashOptions>& options, files::PathClaims& claims, Log log,
                         files::FileMirrors* mirrors)
    : streams_(streams), options_(options), claims_(claims), log_(std::move(log)), jobs_("dash", log_), mirrors_(mirrors) {}

DashService::~DashService() = default;

void DashService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    jobs_.reap();
    const DashOptions* found = options_.find(request.vhost);
    if (stopping_ || found == nullptr || !found->enabled)
        return;
    const DashOptions& options = *found;
    if (DashStream* known = jobs_.find(plan.url))
        return known->on_published(request);
    const Ref<media::Source> source = streams_.find(plan.url);
    if (!source)
        return;
    const std::string name =
        replace_variables(options.mpd_file, {{"vhost", plan.vhost}, {"app", request.app}, {"stream", request.stream}});
    const std::string mpd = normal_path(options.path, name);
    auto claim = claims_.claim(DashStream::claimed_paths(mpd), "the DASH of " + plan.url);
    if (!claim.ok()) {
        LOG_ERROR(log_, "DASH {} is not made for this publisher: {}", plan.url, claim.error().sentence());
        return;
    }
    DashStream* stream =
        jobs_.start(source, mpd, *std::move(claim), segments::StreamOfFiles{plan.vhost, request.app, request.stream, {}}, options,
                    store_, events_, log_.with_id(random_id()));
    if (stream == nullptr)
        return;
    if (!options.push.empty() && mirrors_ != nullptr)
        stream->set_mirror(mirrors_->mirror(options.push, options.path, {plan.vhost, request.app, request.stream, plan.url}));
    stream->on_published(request);
    LOG_INFO(log_, "DASH {}: fragments of {} ms, {} in {}/{}", plan.url, options.fragment.count(), options.window_size,
             options.path, name);
}

void DashService::on_unpublished(const std::string& url) {
    if (DashStream* stream = jobs_.find(url))
        stream->on_unpublished();
    jobs_.reap();
}

void DashService::write_metrics(MetricsText& text) const {
    events_.write_metrics(text, "millrace_dash_events_total",
                          "Markers (scte35) and timed metadata (id3) of streams with DASH, which has no subtitles (text). "
                          "Dropped: a stream had 32 markers in its MPD.");
}

Result<void> DashService::stop(io::Deadline deadline) {
    stopping_ = true;
    return jobs_.stop(deadline);
}

}  // namespace live::service::dash
