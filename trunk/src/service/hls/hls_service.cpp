#include "service/hls/hls_service.hpp"

#include <utility>

#include "base/log_format.hpp"
#include "base/random.hpp"
#include "io/loop.hpp"

namespace live::service::hls {

HlsService::HlsService(media::StreamTable& streams, Sessions& sessions, HlsEvents& events, files::PathClaims& claims, Log log)
    : streams_(streams), sessions_(sessions), events_(events), claims_(claims), log_(std::move(log)), jobs_("hls", log_) {}

HlsService::~HlsService() = default;

void HlsService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan, const HlsOptions& options,
                              Zone zone) {
    jobs_.reap();
    if (stopping_ || !options.enabled)
        return;
    if (StreamOutput* known = jobs_.find(plan.url))
        return known->on_published(request);
    const Ref<media::Source> source = streams_.find(plan.url);
    if (!source)
        return;
    StreamName name{plan.vhost, request.app, request.stream};
    auto claim = claims_.claim(Names(options, name, zone).claimed_paths(), "the HLS of " + plan.url);
    if (!claim.ok()) {
        LOG_ERROR(log_, "HLS {} is not made for this publisher: {}", plan.url, claim.error().sentence());
        return;
    }
    StreamOutput::Setup setup{options, std::move(name), plan.url, zone, *std::move(claim)};
    StreamOutput* output = jobs_.start(std::move(setup), source, index_, events_, log_.with_id(random_id()));
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

void HlsService::run(io::Deadline deadline) {
    while (io::sleep(deadline.sooner(io::Deadline::after(kBeat))).ok()) {
        sessions_.expire(io::now());
        jobs_.reap();
    }
}

Result<void> HlsService::stop(io::Deadline deadline) {
    stopping_ = true;
    sessions_.clear();
    return jobs_.stop(deadline);
}

}  // namespace live::service::hls
