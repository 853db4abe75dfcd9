#include "service/ladder/ladder_service.hpp"

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/process/process_usage.hpp"

namespace live::service::ladder {

void LadderService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    const LadderOptions* options = options_.find(request.vhost);
    const bool is_relayed = request.kind == session::ClientKind::relay_pull || request.is_sibling;
    if (jobs_.is_stopping() || options == nullptr || !options->enabled || options->renditions.empty() || is_relayed)
        return;
    const Ref<media::Source> source = streams_.find(plan.url);
    if (!source)
        return;
    on_unpublished(plan.url);  // of a publisher that this one replaces
    if (jobs_.size() >= kLaddersMax) {
        LOG_ERROR(log_, "LADDER {} is left out: {} ladders are the limit", plan.url, kLaddersMax);
        return;
    }
    const auto started = jobs_.start(source, *options, timing_, log_.with_id(random_id()));
    if (started.ok())
        source->publications().expect_renditions(1);  // at least
    else
        LOG_ERROR(log_, "LADDER {} cannot start: {}", plan.url, started.error().text());
}

void LadderService::on_unpublished(const std::string& url) {
    jobs_.end_if([this, &url](const Ladder& ladder) {
        if (ladder.url() != url)
            return false;
        ended_starts_ += ladder.state().starts;
        ended_dropped_ += ladder.state().dropped_packets + (ladder.child() == nullptr ? 0 : ladder.child()->dropped_packets);
        return true;
    });
    jobs_.reap();
}

std::vector<LadderService::Listed> LadderService::list() const {
    std::vector<Listed> all;
    jobs_.for_each([&all](const Ladder& ladder) {
        const LadderChild::State* const child = ladder.child();
        all.push_back({ladder.url(), ladder.state(), child == nullptr ? std::nullopt : std::optional(*child)});
    });
    return all;
}

void LadderService::write_metrics(MetricsText& text) const {
    const auto all = list();
    io::ProcessUsage usage;
    std::uint64_t dropped = ended_dropped_;
    std::uint64_t starts = ended_starts_;
    std::uint64_t running = 0;
    for (const Listed& one : all) {
        starts += one.state.starts;
        dropped += one.state.dropped_packets + (one.child ? one.child->dropped_packets : 0);
        if (!one.child)
            continue;
        ++running;
        const auto its = io::usage_of(one.child->pid).value_or(io::ProcessUsage());
        usage.cpu_seconds += its.cpu_seconds;
        usage.resident_bytes += its.resident_bytes;
    }
    using Type = MetricsText::Type;
    text.family("millrace_ladders", Type::gauge, "Streams with a ladder.").sample(std::uint64_t{all.size()});
    text.family("millrace_ladder_children", Type::gauge, "Running ffmpeg processes of ladders.").sample(running);
    text.family("millrace_ladder_starts_total", Type::counter, "Starts of ffmpeg for ladders.").sample(starts);
    text.family("millrace_ladder_dropped_packets_total", Type::counter,
                "Packets that ladders did not encode, because ffmpeg was too slow.")
        .sample(dropped);
    text.family("millrace_ladder_children_cpu_seconds", Type::gauge, "CPU time of the running ffmpeg processes of ladders.")
        .sample(usage.cpu_seconds);
    text.family("millrace_ladder_children_memory_bytes", Type::gauge,
                "Resident memory of the running ffmpeg processes of ladders.")
        .sample(usage.resident_bytes);
}

}  // namespace live::service::ladder
