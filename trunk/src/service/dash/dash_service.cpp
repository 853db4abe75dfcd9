#include "service/dash/dash_service.hpp"

#include <algorithm>
#include <utility>

#include "base/log_format.hpp"
#include "base/random_id.hpp"
#include "base/variables.hpp"
#include "io/loop.hpp"
#include "service/files/normal_path.hpp"

namespace live::service::dash {

DashService::DashService(media::StreamTable& streams, Log log) : streams_(streams), log_(std::move(log)) {}

DashService::~DashService() = default;

DashService::Job* DashService::find(const std::string& url) {
    const auto found =
        std::ranges::find_if(jobs_, [&url](const auto& job) { return !job->stream.is_over() && job->stream.url() == url; });
    return found == jobs_.end() ? nullptr : found->get();
}

void DashService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan,
                               const DashOptions& options) {
    reap();
    if (stopping_ || !options.enabled)
        return;
    if (Job* known = find(plan.url))
        return known->stream.on_published();
    const Ref<media::Source> source = streams_.find(plan.url);
    if (!source)
        return;
    const std::string name =
        replace_variables(options.mpd_file, {{"vhost", plan.vhost}, {"app", request.app}, {"stream", request.stream}});
    auto job = std::make_unique<Job>(source, files::normal_path(options.path, name), options, held_, log_.with_id(random_id()));
    DashStream& stream = job->stream;
    auto started = job->maker.start("dash", [&stream](io::Deadline forever) { stream.run(forever); });
    if (started.ok()) {
        started = job->writer.start("dash-files", [&stream](io::Deadline forever) { stream.run_files(forever); });
        if (!started.ok())
            stream.close_files();
    }
    if (!started.ok())
        LOG_ERROR(log_, "DASH {} cannot start: {}", plan.url, started.error().text());
    if (job->maker.size() == 0)
        return;
    stream.on_published();
    LOG_INFO(log_, "DASH {}: fragments of {} ms, {} in {}/{}", plan.url, options.fragment.count(), options.window_size,
             options.path, name);
    jobs_.push_back(std::move(job));
}

void DashService::on_unpublished(const std::string& url) {
    if (Job* job = find(url))
        job->stream.on_unpublished();
    reap();
}

void DashService::reap() {
    std::erase_if(jobs_, [](const auto& job) { return job->maker.size() == 0 && job->writer.size() == 0; });
}

Result<void> DashService::stop(io::Deadline deadline) {
    stopping_ = true;
    for (const auto& job : jobs_)
        job->maker.cancel();
    for (const auto& job : jobs_)
        TRY(job->maker.stop(deadline));
    const auto until = deadline.is_never() ? deadline : io::Deadline::at(deadline.when() - kStopMargin);
    for (const auto& job : jobs_) {
        if (!job->writer.join(until).ok())
            LOG_WARN(log_, "DASH {}: what is left is not written", job->stream.url());
        TRY(job->writer.stop(deadline));
    }
    reap();
    return {};
}

}  // namespace live::service::dash
