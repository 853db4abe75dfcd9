#include "service/clips/ring_clip.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/fibers/scope.hpp"
#include "service/recordings/recording_scan.hpp"

namespace live::service::clips {

namespace {

constexpr std::chrono::seconds kPinLimit{10};

session::ClientRequest request_of(const Clip& clip) {
    session::ClientRequest request;
    request.vhost = clip.vhost;
    request.app = app_of_clips(clip.app);
    request.stream = clip.stream;
    return request;
}

session::StreamPlan plan_of(const Clip& clip) {
    session::StreamPlan plan;
    plan.vhost = clip.vhost;
    plan.url = recordings::url_of(clip.vhost, app_of_clips(clip.app), clip.stream);
    return plan;
}

dvr::DvrOptions options_of(const Clip& clip) {
    dvr::DvrOptions options;
    options.enabled = true;
    options.path = clip.file;
    options.format = dvr::DvrFormat::fmp4;
    return options;
}

dvr::DvrContext with_events(dvr::DvrContext context, std::function<void(const dvr::Recorded&)> on_recorded) {
    context.on_recorded = std::move(on_recorded);
    context.on_progress = nullptr;
    return context;
}

}  // namespace

RingClip::RingClip(const ClipContext& context, Clip clip, const Ref<media::Source>& source, Log log)
    : context_(context),
      clip_(std::move(clip)),
      log_(std::move(log)),
      recording_(with_events(context.recording, [this](const dvr::Recorded& recorded) { note(recorded); })),
      recorder_(source, request_of(clip_), plan_of(clip_), options_of(clip_), recording_, log_,
                media::Cursor::Start::join_point) {}

// A second file, after another codec, has the same name and fails: the first one is the clip.
void RingClip::note(const dvr::Recorded& recorded) {
    if (error_ && error_->empty())
        return;
    error_ = recorded.error;
    bytes_ = recorded.bytes;
    clip_.start = recorded.start.value_or(clip_.start);
    clip_.duration = recorded.duration;
}

void RingClip::run(io::Deadline deadline) {
    io::Scope timer("clip-end");
    const MediaTime rest = std::max(clip_.start + clip_.duration - recordings::wall_now(), MediaTime());
    const auto timed = timer.start("clip-end", [this, rest](io::Deadline forever) {
        if (io::sleep(forever.sooner(io::Deadline::after(rest))).ok())
            recorder_.end();
    });
    if (!timed.ok())
        recorder_.end();
    recorder_.run(deadline);
    const io::CancelShield shield;
    static_cast<void>(timer.stop(io::Deadline::after(kPinLimit)));
    if (error_ && error_->empty())
        static_cast<void>(
            io::off_loop([path = clip_.file] { return Result<bool>(recordings::pin(path)); }, io::Deadline::after(kPinLimit)));
    report();
}

void RingClip::report() {
    const std::string error = error_.value_or("no key frame was published in this span");
    const std::string url = recordings::url_of(clip_.vhost, clip_.app, clip_.stream);
    if (error.empty())
        LOG_INFO(log_, "clip of {}: {}, {:.3f} s, {} bytes", url, clip_.file,
                 std::chrono::duration<double>(clip_.duration).count(), bytes_);
    else
        LOG_WARN(log_, "clip of {}: {} cannot be made: {}", url, clip_.file, error);
    context_.on_clip({clip_, error, bytes_});
}

}  // namespace live::service::clips
