#include "service/ladder/ladder_service.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/ffmpeg/arguments.hpp"

namespace live::service::ladder {

void LadderService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    const LadderOptions* options = options_.find(request.vhost);
    const bool is_relayed = request.kind == session::ClientKind::relay_pull || request.is_sibling;
    const bool is_made_here = request.kind == session::ClientKind::engine_publish;
    if (jobs_.is_stopping() || options == nullptr || !options->enabled || options->renditions.empty() || is_relayed ||
        is_made_here)
        return;
    const Ref<media::Source> source = streams_.find(plan.url);
    if (!source)
        return;
    on_unpublished(plan.url);  // of a publisher that this one replaces
    if (jobs_.size() >= kLaddersMax) {
        LOG_ERROR(log_, "LADDER {} is left out: {} ladders are the limit", plan.url, kLaddersMax);
        return;
    }
    std::string log_path = ffmpeg::child_log_path(log_folder_(), {"ladder", plan.vhost, request.app, request.stream});
    const auto started =
        jobs_.start(source, *options, timing_, limits_.of(plan.url, io::now()), std::move(log_path), log_.with_id(request.id));
    if (started.ok() && !options->on_demand) {
        source->publications().expect_renditions(1);  // at least
        source->announce_renditions();
    }
    if (!started.ok())
        LOG_ERROR(log_, "LADDER {} cannot start: {}", plan.url, started.error().text());
}

// The readers that note no demand by themselves: other nodes, RTSP players of a rendition, and WebRTC players, whose links may
// get worse at any time.
void LadderService::on_tick() {
    jobs_.for_each_current([](const Ladder& ladder) {
        const media::Source& source = ladder.source();
        media::RenditionMaker* const maker = source.publications().rendition_maker();
        const auto is_played = [&source](const media::Track& track) {
            return track.rendition != media::RenditionId::none &&
                   (source.rtp_logs().reads_video(track.id) || source.wire_logs().reads_video(track.id));
        };
        const bool has_layers = !source.publications().brings_rtp() && source.rtp_logs().find() != nullptr;
        if (maker != nullptr &&
            (has_layers || source.wire_logs().has_nodes() || std::ranges::any_of(source.tracks().all(), is_played)))
            maker->want_renditions();
    });
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
    jobs_.for_each_current([&all](const Ladder& ladder) {
        const ffmpeg::MediaChild::State* const child = ladder.child();
        all.push_back({ladder.url(), ladder.state(), child == nullptr ? std::nullopt : std::optional(*child)});
    });
    return all;
}

void LadderService::write_metrics(MetricsText& text) const {
    const auto all = list();
    std::uint64_t dropped = ended_dropped_;
    std::uint64_t starts = ended_starts_;
    ffmpeg::RunningChildren running;
    for (const Listed& one : all) {
        starts += one.state.starts;
        dropped += one.state.dropped_packets + (one.child ? one.child->dropped_packets : 0);
        if (one.child)
            running.add(*one.child);
    }
    using Type = MetricsText::Type;
    text.family("millrace_ladders", Type::gauge, "Streams with a ladder.").sample(std::uint64_t{all.size()});
    text.family("millrace_ladder_children", Type::gauge, "Running ffmpeg processes of ladders.").sample(running.count);
    text.family("millrace_ladder_starts_total", Type::counter, "Starts of ffmpeg for ladders.").sample(starts);
    text.family("millrace_ladder_dropped_packets_total", Type::counter,
                "Packets that ladders did not encode, because ffmpeg was too slow.")
        .sample(dropped);
    text.family("millrace_ladder_children_cpu_seconds", Type::gauge, "CPU time of the running ffmpeg processes of ladders.")
        .sample(running.usage.cpu_seconds);
    text.family("millrace_ladder_children_memory_bytes", Type::gauge,
                "Resident memory of the running ffmpeg processes of ladders.")
        .sample(running.usage.resident_bytes);
}

}  // namespace live::service::ladder
