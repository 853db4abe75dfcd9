#include "service/dvr/dvr_service.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "service/dvr/file_name.hpp"
#include "service/dvr/interrupted_recording.hpp"

namespace live::service::dvr {

DvrService::DvrService(media::StreamTable& streams, const OptionsOf<DvrOptions>& options, DvrContext context, Log log)
    : streams_(streams), options_(options), context_(std::move(context)), log_(std::move(log)) {
    context_.events = &events_;
}

DvrService::~DvrService() = default;

Result<void> DvrService::start(io::Scope& fibers, io::Deadline deadline) {
    // Its owners are this call and the fiber.
    const auto done = std::make_shared<Signal>();
    TRY(fibers.start("dvr-left", [this, done](io::Deadline forever) {
        finish_interrupted(forever);
        done->raise();
    }));
    static_cast<void>(io::wait(*done, deadline.sooner(io::Deadline::after(kInterruptedLimit))));
    return {};
}

void DvrService::finish_interrupted(io::Deadline deadline) {
    if (context_.open == nullptr)
        return;
    const auto left = context_.open->left(deadline);
    if (!left.ok()) {
        LOG_WARN(log_, "DVR: cannot list unfinished recordings: {}", left.error().text());
        return;
    }
    for (const auto& [name, recording] : *left)
        finish_one(recording, name, deadline);
}

void DvrService::finish_one(const OpenRecording& recording, const std::string& name, io::Deadline deadline) {
    const auto left = io::off_loop([path = recording.path] { return finish_interrupted_recording(path); }, deadline);
    // A later start may finish it.
    if (!left.ok() && (left.code() == Errc::conflict || left.code() == Errc::cancelled || left.code() == Errc::timed_out)) {
        LOG_WARN(log_, "DVR {}: an unfinished recording is kept as it is: {}", recording.url, left.error().text());
        return;
    }
    static_cast<void>(context_.open->remove(name, deadline));
    if (!left.ok() && left.code() != Errc::not_found)
        LOG_ERROR(log_, "DVR {}: {}.tmp cannot be finished: {}", recording.url, recording.path, left.error().text());
    if (!left.ok() || !left->path)
        return;
    namespace fs = std::filesystem;
    const std::string file = *left->path == recording.path
                                 ? recording.file
                                 : (fs::path(recording.file).parent_path() / fs::path(*left->path).filename()).string();
    LOG_INFO(log_,
             "DVR {}: finished {}, left by a process that was killed: {:.3f} s, {} bytes; dropped {} incomplete bytes after them",
             recording.url, file, std::chrono::duration<double>(left->duration).count(), left->bytes, left->lost_bytes);
    session::StreamPlan plan;
    plan.vhost = recording.vhost;
    plan.url = recording.url;
    if (context_.on_recorded)
        context_.on_recorded({recording.request, plan, file, {}, left->duration, left->bytes});
}

void DvrService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    const DvrOptions* options = options_.find(request.vhost);
    if (jobs_.is_stopping() || options == nullptr || !options->enabled ||
        !is_recorded(*options, {plan.vhost, request.app, request.stream}))
        return;
    const bool is_known = jobs_.find([&plan](const Job& job) { return job.url() == plan.url; }) != nullptr;
    const Ref<media::Source> source = streams_.find(plan.url);
    if (is_known || !source)
        return;
    std::erase_if(failed_, [&plan](const Listed& one) { return one.url == plan.url; });
    const auto started = jobs_.start(*this, source, request, plan, *options, context_, log_.with_id(random_id()));
    if (!started.ok())
        LOG_ERROR(log_, "DVR {} cannot be recorded: {}", plan.url, started.error().text());
}

void DvrService::note_end(const Recorder& recorder) {
    if (recorder.state().error.empty())
        return;
    failed_.push_back({recorder.url(), false, recorder.state()});
    if (failed_.size() > kFailedMax)
        failed_.pop_front();
}

void DvrService::write_metrics(MetricsText& text) const {
    events_.write_metrics(text, "millrace_dvr_events_total",
                          "Markers (scte35), timed metadata (id3) and lines of subtitles (text) of recorded streams. Dropped: a "
                          "fragment had 64 events or 64 KiB of them, or the format is plain MP4, which has no place for them.");
}

void DvrService::on_unpublished(const std::string& url) {
    jobs_.end_if([&url](const Job& job) { return job.url() == url; });
    jobs_.reap();
}

std::vector<DvrService::Listed> DvrService::list() const {
    std::vector<Listed> all;
    jobs_.for_each([&all](const Job& job) { all.push_back({job.url(), true, job.recorder.state()}); });
    all.insert(all.end(), failed_.begin(), failed_.end());
    return all;
}

}  // namespace live::service::dvr
