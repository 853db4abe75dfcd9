#include "service/relay/relay_service.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::relay {

RelayService::RelayService(PullContext context, Resolver& resolver, Log log)
    : context_(std::move(context)), resolver_(resolver), log_(std::move(log)) {}

RelayService::~RelayService() = default;

Result<void> RelayService::pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline) {
    const auto source = context_.streams.find(plan.url);
    const ClusterOptions* options = context_.options.find(plan.vhost);
    if (options == nullptr)
        return Error(Errc::not_found, "no virtual host serves " + plan.vhost);
    const auto limit = deadline.sooner(io::Deadline::after(options->first_frame_timeout));
    if (source && source->publications().owner() != nullptr && !has(plan.url))
        return {};
    const auto job = TRY(find_or_start(request, plan));
    if (job->pull.is_playing())
        return {};
    const TimePoint asked = io::now();
    TRY(job->pull.wait_for_media(limit));
    joins_.add(std::chrono::duration<double>(io::now() - asked).count());
    return {};
}

// The owners are the service and the fiber of a waiting client.
Result<std::shared_ptr<RelayService::Job>> RelayService::find_or_start(const session::ClientRequest& request,
                                                                       const session::StreamPlan& plan) {
    reap();
    auto extended = extend_path(request.relay_path(), context_.node.server_id);
    if (!extended.ok()) {
        LOG_INFO(log_, "edge-pull not started, stream={}: {}", plan.url, extended.error().sentence());
        return extended.error();
    }
    std::string path = *std::move(extended);
    if (const auto known = jobs_.find(plan.url); known != jobs_.end() && !known->second->pull.is_over())
        return known->second;
    if (stopping_)
        return Error(Errc::cancelled, "the server is stopping");
    if (context_.is_short_of_memory())
        return context_.memory->refusal();
    if (jobs_.size() + leaving_.size() >= kPullsMax)
        return Error(Errc::limit, fmt::format("{} streams are pulled already", jobs_.size()));
    auto job =
        std::make_shared<Job>(context_, resolver_, health_, totals_, request, plan, std::move(path), log_.with_id(random_id()));
    Pull& pull = job->pull;
    TRY(job->scope.start("pull", [&pull](io::Deadline forever) { pull.run(forever); }));
    std::shared_ptr<Job>& place = jobs_[plan.url];
    if (place != nullptr)
        leaving_.push_back(std::move(place));
    place = job;
    return job;
}

bool RelayService::has(const std::string& url) const {
    const auto job = jobs_.find(url);
    return job != jobs_.end() && !job->second->pull.is_over();
}

void RelayService::adopt(const session::ClientRequest& request, const session::StreamPlan& plan) {
    if (has(plan.url))
        return;
    const auto started = find_or_start(request, plan);
    if (!started.ok())
        LOG_WARN(log_, "edge-pull cannot start, stream={}: {}", plan.url, started.error().sentence());
}

void RelayService::give_way(const std::string& url) {
    if (has(url))
        jobs_.find(url)->second->pull.give_way();
}

void RelayService::look_again(const std::string& url) {
    if (has(url))
        jobs_.find(url)->second->pull.look_again();
}

void RelayService::hold_players(const std::string& url) {
    if (const auto source = context_.streams.find(url); source && source->is_published()) {
        source->publications().set_may_return(true);
        held_[url] = io::now();
    }
}

void RelayService::release_held_players() {
    std::erase_if(held_, [this](const auto& entry) {
        if (io::now() - entry.second < kHeldFor)
            return false;
        if (const auto source = context_.streams.find(entry.first))
            source->publications().set_may_return(false);
        return true;
    });
}

void RelayService::on_tick() {
    reap();
    release_held_players();
}

void RelayService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    const ClusterOptions* options = context_.options.find(plan.vhost);
    const bool is_edge = options != nullptr && options->mode == ClusterMode::remote;
    const auto source = context_.streams.find(plan.url);
    if (!is_edge || request.kind == session::ClientKind::relay_pull || stopping_ || !source)
        return;
    reap();
    // A publisher that takes over the stream gets a new push: the old one would kick the wrong client.
    on_unpublished(plan.url);
    const auto started = pushes_.start(context_, resolver_, health_, request, plan, source, log_.with_id(random_id()));
    if (!started.ok())
        LOG_ERROR(log_, "edge-fwr cannot start, stream={}: {}", plan.url, started.error().text());
}

void RelayService::on_unpublished(const std::string& url) {
    pushes_.end_if([&url](const Push& push) { return push.url() == url; });
}

void RelayService::reap() {
    // stop() waits for the jobs one by one.
    if (stopping_)
        return;
    std::erase_if(jobs_, [](const auto& entry) { return entry.second->scope.size() == 0; });
    std::erase_if(leaving_, [](const auto& job) { return job->scope.size() == 0; });
    pushes_.reap();
}

Result<void> RelayService::stop(io::Deadline deadline) {
    stopping_ = true;
    for (const auto& [url, job] : jobs_)
        leaving_.push_back(job);
    for (const auto& job : leaving_)
        job->scope.cancel();
    pushes_.end_all();
    for (const auto& job : leaving_)
        TRY(job->scope.stop(deadline));
    leaving_.clear();
    jobs_.clear();
    return pushes_.stop(deadline);
}

std::vector<PullFacts> RelayService::list() const {
    std::vector<PullFacts> all;
    for (const auto& [url, job] : jobs_)
        if (!job->pull.is_over())
            all.push_back(job->pull.facts());
    return all;
}

std::optional<PullFacts> RelayService::find(const std::string& url) const {
    const auto job = jobs_.find(url);
    return job == jobs_.end() || job->second->pull.is_over() ? std::nullopt : std::optional(job->second->pull.facts());
}

}  // namespace live::service::relay
