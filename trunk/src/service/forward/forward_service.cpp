#include "service/forward/forward_service.hpp"

#include <algorithm>
#include <utility>

#include "base/log_format.hpp"
#include "base/random.hpp"
#include "service/forward/forwarder.hpp"

namespace live::service::forward {

namespace {

// "/app/stream" belongs to the default virtual host, "vhost/app/stream" to another.
std::string vhost_of(const std::string& source_url) {
    return source_url.substr(0, std::min(source_url.find('/'), source_url.size()));
}

}  // namespace

ForwardService::ForwardService(media::StreamTable& streams, const OptionsOf<ForwardOptions>& options, ForwardContext context,
                               Log log)
    : streams_(streams), options_(options), context_(std::move(context)), log_(std::move(log)) {}

ForwardService::~ForwardService() = default;

void ForwardService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    reap();
    const ForwardOptions* found = options_.find(request.vhost);
    if (stopping_ || found == nullptr || !found->enabled)
        return;
    const ForwardOptions& options = *found;
    if (!options.backend.empty() && !plan.forward_urls)
        return;  // configured by a reload after the publisher was admitted
    const std::vector<std::string>& destinations = plan.forward_urls ? *plan.forward_urls : options.destinations;
    const bool is_known =
        std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job->url == plan.url && !job->is_leaving; });
    const Ref<media::Source> source = streams_.find(plan.url);
    if (is_known || !source)
        return;
    const StreamName name{vhost_of(plan.url), request.app, request.stream, request.param};
    std::size_t count = 0;
    for (const std::string& text : destinations) {
        if (++count > kDestinationsMax) {
            LOG_WARN(log_, "FWR {} has {} destinations, {} are the limit", plan.url, destinations.size(), kDestinationsMax);
            return;
        }
        if (const auto destination = make_destination(text, name); destination.ok())
            start_push(*destination, source);
        else
            LOG_ERROR(log_, "FWR {}: {}", plan.url, destination.error().sentence());
    }
}

void ForwardService::start_push(const Destination& destination, Ref<media::Source> source) {
    auto job = std::make_unique<Job>(source->url());
    // std::function must be copyable; the forwarder has one owner, the fiber.
    auto forwarder = std::make_shared<Forwarder>(destination, std::move(source), context_, log_.with_id(random_id()));
    const auto started = job->scope.start("forward", [forwarder](io::Deadline forever) { forwarder->run(forever); });
    if (started.ok())
        jobs_.push_back(std::move(job));
    else
        LOG_ERROR(log_, "FWR cannot start, to={}: {}", destination.label, started.error().text());
}

void ForwardService::on_unpublished(const std::string& url) {
    for (const auto& job : jobs_) {
        if (job->url != url || job->is_leaving)
            continue;
        job->is_leaving = true;
        job->scope.cancel();
    }
    reap();
}

void ForwardService::reap() {
    // A stop joins the jobs one after another.
    if (!stopping_)
        std::erase_if(jobs_, [](const auto& job) { return job->scope.size() == 0; });
}

Result<void> ForwardService::stop(io::Deadline deadline) {
    stopping_ = true;
    for (const auto& job : jobs_)
        job->scope.cancel();
    for (const auto& job : jobs_)
        TRY(job->scope.stop(deadline));
    jobs_.clear();
    return {};
}

std::size_t ForwardService::active() const {
    return static_cast<std::size_t>(
        std::count_if(jobs_.begin(), jobs_.end(), [](const auto& job) { return !job->is_leaving && job->scope.size() > 0; }));
}

}  // namespace live::service::forward
