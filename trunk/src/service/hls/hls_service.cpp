#include "service/hls/hls_service.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::hls {

HlsService::HlsService(const Parts& parts, Log log) : parts_(parts), log_(std::move(log)), jobs_("hls", log_) {}

HlsService::~HlsService() = default;

void HlsService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    jobs_.reap();
    const HlsOptions* found = parts_.options.find(request.vhost);
    if (stopping_ || found == nullptr || !found->enabled)
        return;
    const HlsOptions& options = *found;
    if (StreamOutput* known = jobs_.find(plan.url))
        return known->on_published(request);
    const Ref<media::Source> source = parts_.streams.find(plan.url);
    if (!source)
        return;
    StreamName name{plan.vhost, request.app, request.stream};
    auto claim = parts_.claims.claim(Names(options, name, parts_.zone).claimed_paths(), "the HLS of " + plan.url);
    if (!claim.ok()) {
        LOG_ERROR(log_, "HLS {} is not made for this publisher: {}", plan.url, claim.error().sentence());
        return;
    }
    StreamOutput::Setup setup{options,           std::move(name), plan.url,       parts_.zone,
                              *std::move(claim), parts_.claims,   parts_.mirrors, events_};
    StreamOutput* output = jobs_.start(std::move(setup), source, index_, parts_.events, log_.with_id(random_id()));
    if (output == nullptr)
        return;
    output->on_published(request);
    LOG_INFO(log_, "HLS {}: fragments of {} ms, window {} ms, in {}", plan.url, options.fragment.count(), options.window.count(),
             options.path);
}

void HlsService::on_unpublished(const std::string& url) {
    if (StreamOutput* output = jobs_.find(url))
        output->on_unpublished();
    jobs_.reap();
}

void HlsService::write_metrics(MetricsText& text) const {
    events_.write_metrics(text, "millrace_hls_events_total",
                          "Markers (scte35), timed metadata (id3) and lines of subtitles (text) of streams with HLS. Dropped: a "
                          "stream had 32 markers in its playlist, or 512 lines, 256 KiB or 8 languages of subtitles.");
}

Result<void> HlsService::start(io::Scope& fibers, io::Deadline) {
    return fibers.start("hls-sessions", [this](io::Deadline forever) { run(forever); });
}

void HlsService::run(io::Deadline deadline) {
    while (io::sleep(deadline.sooner(io::Deadline::after(kPollInterval))).ok()) {
        parts_.sessions.expire(io::now());
        jobs_.reap();
    }
}

Result<void> HlsService::stop(io::Deadline deadline) {
    stopping_ = true;
    parts_.sessions.clear();
    return jobs_.stop(deadline);
}

}  // namespace live::service::hls
