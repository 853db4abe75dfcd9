#include "service/engines/engine_job.hpp"

#include <utility>

#include <fmt/ranges.h>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "service/ffmpeg/find_program.hpp"

namespace live::service::engines {

namespace {

using Why = ffmpeg::MediaChild::Why;

Restart restart_of(Why why) {
    switch (why) {
        case Why::silent: return Restart::silent;
        case Why::refused: return Restart::refused;
        case Why::new_format: return Restart::format;
        case Why::missing: return Restart::missing;
        case Why::cancelled:
        case Why::unwanted:
        case Why::bad_output:
        case Why::exited: break;
    }
    return Restart::exited;
}

std::string names_of(const std::vector<Engine>& engines) {
    std::vector<std::string> names;
    for (const Engine& engine : engines)
        names.push_back(engine.options.name);
    return fmt::format("{}", fmt::join(names, ","));
}

std::vector<std::string> output_names(const std::vector<Engine>& engines) {
    if (engines.size() == 1)
        return {"ffmpeg"};
    std::vector<std::string> names;
    for (const Engine& engine : engines)
        names.push_back("engine " + engine.options.name);
    return names;
}

std::string outputs_of(const Command& command) {
    std::vector<std::string> outputs;
    for (const Command::Output& output : command.outputs)
        outputs.push_back(output.text);
    return fmt::format("{}", fmt::join(outputs, " "));
}

}  // namespace

EngineJob::EngineJob(Setup setup, EngineTiming timing, PublishContext publish, Log log)
    : setup_(std::move(setup)),
      timing_(timing),
      publish_(publish),
      log_(std::move(log)),
      pace_({timing.restart_first, timing.restart_max, timing.good_after}, setup_.limit) {}

std::string EngineJob::label() const {
    const std::string engines = names_of(setup_.engines);
    return setup_.input.label() + (engines.empty() ? "" : " engine=" + engines);
}

bool EngineJob::is_wanted() const { return setup_.demand == nullptr || setup_.demand->is_wanted(io::now()); }

bool EngineJob::wait_for_demand(io::Deadline deadline) {
    while (!is_wanted()) {
        state_.phase = Phase::idle;
        if (!io::wait(setup_.demand->began(), deadline).ok())
            return false;
    }
    return true;
}

void EngineJob::run(io::Deadline deadline) {
    using Start = media::Cursor::Start;
    for (Start start = Start::join_point;; start = setup_.demand != nullptr ? Start::join_point : Start::now) {
        if (!wait_for_demand(deadline) || !pace_.wait_for_turn([this] { state_.phase = Phase::pausing; }, deadline))
            return;
        const auto end = run_once(start, deadline);
        if (!end)
            return;
        if (end->why == Why::unwanted)
            continue;
        note_end(*end);
        if (end->why == Why::new_format)
            continue;
        state_.phase = Phase::pausing;
        state_.failed = failed_in(*end);
        if (!state_.failed.empty())
            return static_cast<void>(io::sleep(deadline));
        if (!pace_.pause(deadline))
            return;
    }
}

bool EngineJob::wait_for_beginning(MediaFeed& feed, media::Cursor& cursor, io::Deadline deadline) {
    for (;;) {
        while (!feed.has_begun()) {
            const auto packet = cursor.take();
            if (!packet)
                break;
            feed.push(*packet);
        }
        if (feed.has_begun())
            return true;
        if (!io::wait(cursor.readable(), deadline).ok())
            return false;
    }
}

std::optional<ffmpeg::MediaChild::End> EngineJob::run_once(media::Cursor::Start start, io::Deadline deadline) {
    media::Cursor cursor(setup_.source, media::WakeMode::at_once, start, media::Cursor::Tracks::defaults, media::Audience::none);
    MediaFeed feed;
    state_.phase = Phase::waiting;
    if (!wait_for_beginning(feed, cursor, deadline))
        return std::nullopt;
    return run_child(feed, cursor, deadline);
}

std::optional<ffmpeg::MediaChild::End> EngineJob::run_child(MediaFeed& feed, media::Cursor& cursor, io::Deadline deadline) {
    // The service has built it before, so that it can be built. Times in it are those of this start.
    auto command = MUST(build_command(setup_.engines, setup_.input, setup_.place, std::chrono::system_clock::now()));
    command.arguments.front() = ffmpeg::find_program(command.arguments.front());
    if (!missing_logged_)
        LOG_INFO(log_, "ENC {} start, output={}, argv={}", label(), redacted(outputs_of(command)),
                 redacted(fmt::format("{}", fmt::join(command.arguments, " "))));
    const bool makes_images = setup_.engines.front().options.oformat == "image2";
    const std::function<bool()> is_wanted = [this] { return this->is_wanted(); };
    child_ = std::make_unique<EngineChild>(
        EngineChild::Setup{label(), std::move(command), output_names(setup_.engines), makes_images, timing_.silence_max,
                           setup_.hidden, is_wanted, engine_log_path(setup_.engines.front(), setup_.input, setup_.place)},
        feed, cursor, publish_, log_);
    state_.phase = Phase::running;
    ++state_.starts;
    pace_.note_start();
    auto end = child_->run(deadline);
    state_.dropped_packets += child_->state().dropped_packets + cursor.dropped();
    silent_outputs_ = 0;
    for (std::size_t i = 0; i < setup_.engines.size(); ++i)
        silent_outputs_ += child_->state().pid != 0 && child_->output_bytes(i) == 0 ? 1 : 0;
    child_.reset();
    return end.why == Why::cancelled ? std::nullopt : std::optional(std::move(end));
}

// Returns the engines that have caused the end of a child that several share: all, if it has ended before it has worked and the
// reason is unknown; none, if it has worked.
std::vector<std::size_t> EngineJob::failed_in(const ffmpeg::MediaChild::End& end) const {
    std::vector<std::size_t> failed;
    if (setup_.engines.size() == 1)
        return failed;
    if (end.output)
        return {*end.output};
    const bool is_unknown = end.why == Why::exited && end.missing_encoder.empty() && silent_outputs_ > 0;
    for (std::size_t i = 0; i < setup_.engines.size(); ++i) {
        const ffmpeg::EngineOptions& options = setup_.engines[i].options;
        const bool needs_missing =
            !end.missing_encoder.empty() && (options.vcodec == end.missing_encoder || options.acodec == end.missing_encoder);
        if (is_unknown || needs_missing)
            failed.push_back(i);
    }
    return failed;
}

void EngineJob::note_end(const ffmpeg::MediaChild::End& end) {
    ++state_.restarts[static_cast<std::size_t>(restart_of(end.why))];
    if (setup_.demand != nullptr)
        setup_.demand->note_failure(end.text);
    state_.last_end = end.missing_encoder.empty() ? end.text : "ffmpeg has no encoder " + end.missing_encoder;
    if (end.why == Why::missing) {
        if (!std::exchange(missing_logged_, true))
            LOG_ERROR(log_, "ENC {} has no output, because {} cannot start: {}", label(), setup_.engines.front().ffmpeg,
                      end.text);
        return;
    }
    missing_logged_ = false;
    LOG_WARN(log_, "ENC {} process terminate, please restart it: {}, starts={}", label(), state_.last_end, state_.starts);
}

}  // namespace live::service::engines
