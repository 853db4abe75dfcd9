// The versions of streams without B-frames, for WebRTC players.
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/engines/engine_service.hpp"
#include "service/ffmpeg/arguments.hpp"

namespace live::service::engines {

namespace {

constexpr std::chrono::milliseconds kVideoLook{20};

// In the order of presentation, with the key frames of the stream and little delay.
Engine plain_engine() {
    Engine engine;
    engine.ffmpeg = ffmpeg::kConventionalProgram;
    engine.on_demand = true;
    engine.options.name = "webrtc";
    engine.options.enabled = true;
    engine.options.perfile = {{"fflags", "nobuffer"}, {"probesize", "32768"}, {"analyzeduration", "500000"}};
    engine.options.vcodec = "libx264";
    engine.options.vthreads = 2;
    engine.options.vpreset = "veryfast";
    engine.options.vparams = {{"tune", "zerolatency"},        {"crf", "21"},          {"bf", "0"},
                              {"pix_fmt", "yuv420p"},         {"g", "9999"},          {"sc_threshold", "0"},
                              {"force_key_frames", "source"}, {"forced-idr", "1"},    {"fps_mode", "passthrough"},
                              {"enc_time_base", "-1"},        {"flush_packets", "1"}, {"flvflags", "no_duration_filesize"}};
    engine.options.acodec = "copy";
    engine.options.output = "rtmp://127.0.0.1:[port]/[app]?vhost=[vhost]/[stream]";
    return engine;
}

// No name of a client contains '#'.
session::StreamPlan hidden_plan(const session::StreamPlan& plan) {
    session::StreamPlan hidden = plan;
    hidden.url += "#webrtc";
    return hidden;
}

}  // namespace

Result<std::shared_ptr<ingest::Demand>> EngineService::start_plain(const session::ClientRequest& player,
                                                                   const session::StreamPlan& plan,
                                                                   const session::StreamPlan& hidden) {
    if (const auto found = demands_.find(hidden.url); found != demands_.end())
        return found->second;
    const auto source = context_.publish.streams.find(plan.url);
    if (!source || jobs_.is_stopping())
        return Error(Errc::not_found, "there is no stream " + plan.url);
    if (engine_count() >= kEnginesMax)
        return Error(Errc::limit, fmt::format("{} engines are the limit", kEnginesMax));
    Place place = context_.place();
    if (place.rtmp_ports.empty())
        place.rtmp_ports.push_back(1);  // for the names in the output, which goes through a pipe
    const auto published = published_.find(plan.url);
    const Log log = published == published_.end() ? log_ : published->second.log;
    // Owners: this, the job and waiting players.
    const auto demand = std::make_shared<ingest::Demand>();
    EngineJob::Setup setup{source,
                           {plain_engine()},
                           {plan.vhost, player.app, player.stream},
                           place,
                           {hidden.url},
                           limits_.of(hidden.url, io::now()),
                           demand,
                           hidden};
    TRY(jobs_.start(std::move(setup), timing_, context_.publish, log));
    demands_[hidden.url] = demand;
    return demand;
}

Result<Ref<media::Source>> EngineService::fetch_plain(const session::ClientRequest& player, const session::StreamPlan& plan,
                                                      io::Deadline deadline) {
    const session::StreamPlan hidden = hidden_plan(plan);
    const auto demand = TRY(start_plain(player, plan, hidden));
    const auto limit = deadline.sooner(io::Deadline::after(kPlainLimit));
    auto source = TRY(context_.publish.streams.find_or_create(hidden.url, hidden.play, hidden.chunk_size));
    TRY(ingest::wait_for_media(source, *demand, limit));
    // Audio may be first.
    while (!source->tracks().has_default(MediaKind::video)) {
        if (limit.expired())
            return Error(Errc::not_found, "ffmpeg has given no video in time");
        TRY(io::sleep(limit.sooner(io::Deadline::after(kVideoLook))));
    }
    source->set_options(hidden.play);
    return source;
}

// Also ends the engines of hidden streams that nobody has watched for a while.
void EngineService::note_viewers() {
    const TimePoint now = io::now();
    for (const auto& [url, demand] : demands_) {
        const auto source = context_.publish.streams.find(url);
        bool has_players = source && source->readers().is_watched();
        if (source)
            source->rtp_logs().for_each([&has_players](const media::RtpLog&) { has_players = true; });
        if (has_players)
            demand->note(now);
    }
    end_if([now](const EngineJob& job) { return job.setup().hidden && !job.setup().demand->is_wanted(now); });
}

}  // namespace live::service::engines
