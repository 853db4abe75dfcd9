#include "service/hls/hls_service.hpp"

#include <algorithm>
#include <utility>

#include "base/log_format.hpp"
#include "base/random_id.hpp"
#include "io/loop.hpp"

namespace live::service::hls {

HlsService::HlsService(media::StreamTable& streams, Sessions& sessions, HlsEvents& events, Log log)
    : streams_(streams), sessions_(sessions), events_(events), log_(std::move(log)) {}

HlsService::~HlsService() = default;

HlsService::Job* HlsService::find(const std::string& url) {
    const auto found =
        std::ranges::find_if(jobs_, [&url](const auto& job) { return !job->output.is_over() && job->output.url() == url; });
    return found == jobs_.end() ? nullptr : found->get();
}

void HlsService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan, const HlsOptions& options,
                              Zone zone) {
    reap();
    if (stopping_)
        return;
    if (Job* known = find(plan.url)) {
        if (options.enabled)
            known->output.on_published(request);
        return;
    }
    const Ref<media::Source> source = streams_.find(plan.url);
    if (!options.enabled || !source)
        return;
    StreamOutput::Setup setup{options, {plan.vhost, request.app, request.stream}, plan.url, zone};
    auto job = std::make_unique<Job>(std::move(setup), source, index_, events_, log_.with_id(random_id()));
    StreamOutput& output = job->output;
    auto started = job->maker.start("hls", [&output](io::Deadline forever) { output.run(forever); });
    if (started.ok()) {
        started = job->writer.start("hls-files", [&output](io::Deadline forever) { output.run_files(forever); });
        if (!started.ok())
            output.close_files();
    }
    if (!started.ok())
        LOG_ERROR(log_, "HLS {} cannot start: {}", plan.url, started.error().text());
    if (job->maker.size() == 0)
        return;
    output.on_published(request);
    LOG_INFO(log_, "HLS {}: fragments of {} ms, window {} ms, in {}", plan.url, options.fragment.count(), options.window.count(),
             options.path);
    jobs_.push_back(std::move(job));
}

void HlsService::on_unpublished(const std::string& url) {
    if (Job* job = find(url))
        job->output.on_unpublished();
    reap();
}

void HlsService::reap() {
    std::erase_if(jobs_, [](const auto& job) { return job->maker.size() == 0 && job->writer.size() == 0; });
}

void HlsService::run(io::Deadline deadline) {
    while (io::sleep(deadline.sooner(io::Deadline::after(kBeat))).ok()) {
        sessions_.expire(io::now());
        reap();
    }
}

Result<void> HlsService::stop(io::Deadline deadline) {
    stopping_ = true;
    sessions_.clear();
    for (const auto& job : jobs_)
        job->maker.cancel();
    for (const auto& job : jobs_)
        TRY(job->maker.stop(deadline));
    const auto until = deadline.is_never() ? deadline : io::Deadline::at(deadline.when() - kStopMargin);
    for (const auto& job : jobs_) {
        if (!job->writer.join(until).ok())
            LOG_WARN(log_, "HLS {}: what is left is not written", job->output.url());
        TRY(job->writer.stop(deadline));
    }
    reap();
    return {};
}

}  // namespace live::service::hls
