#include "service/ffmpeg/media_child.hpp"

#include <algorithm>
#include <csignal>
#include <tuple>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::ffmpeg {

namespace {

constexpr std::size_t kInputPipeBytes = 512U << 10;
constexpr std::size_t kOutputPipeBytes = 256U << 10;
constexpr std::chrono::seconds kWatchInterval{1};
constexpr std::chrono::seconds kFinishLimit{2};
constexpr std::chrono::seconds kLogLimit{1};

}  // namespace

void MediaChild::fail(Why why, std::string text, std::optional<std::size_t> output) {
    if (std::exchange(is_over_, true))
        return;
    end_.why = why;
    end_.text = std::move(text);
    end_.output = output;
    over_.raise();
}

Result<void> MediaChild::start() {
    const auto its_reports = TRY(reports_.open());
    io::ChildOptions options;
    options.arguments = setup_.arguments;
    options.ends_with_us = true;
    options.errors = its_reports.log.fd();
    options.handles = {its_reports.progress.fd()};
    io::ChildEnd its_input;
    if (setup_.is_piped_in) {
        std::tie(input_, its_input) = TRY(io::open_pipe_to_child(kInputPipeBytes));
        options.input = its_input.fd();
    }
    std::vector<io::ChildEnd> its_outputs;
    while (setup_.is_piped_out && outputs_.size() < setup_.outputs.size()) {
        auto [output, its_output] = TRY(io::open_pipe_from_child(kOutputPipeBytes));
        options.handles.push_back(its_output.fd());
        its_outputs.push_back(std::move(its_output));
        outputs_.push_back(std::move(output));
    }
    child_ = TRY(io::ChildProcess::spawn(options));
    state_.pid = child_->pid();
    return {};
}

Result<void> MediaChild::start_fibers(const Work& work) {
    TRY(reports_.start([this](std::string_view line) { take_line(line); },
                       [this, &work](const Progress& progress) {
                           const Progress before = std::exchange(state_.progress, progress);
                           if (work.on_progress)
                               work.on_progress(before, progress);
                       }));
    TRY(feeder_.start("child-in", [&work](io::Deadline forever) { work.feed(forever); }));
    for (std::size_t i = 0; i < outputs_.size(); ++i)
        TRY(work_.start("child-out", [this, &work, i](io::Deadline forever) { work.read(i, outputs_[i], forever); }));
    return work_.start("child-exit", [this](io::Deadline forever) {
        const auto exit = child_->wait(forever);
        if (exit.ok())
            fail(Why::exited, "ffmpeg " + exit->text());
    });
}

MediaChild::End MediaChild::run(const Work& work, io::Deadline deadline) {
    if (const auto started = start(); !started.ok()) {
        const bool is_missing = started.code() == Errc::not_found || started.code() == Errc::denied;
        return {is_missing ? Why::missing : Why::exited, started.error().sentence(), false, {}};
    }
    LOG_INFO(log_, "{} forked process, pid={}", setup_.label, state_.pid);
    log_file_.add(fmt::format("{} pid={}", setup_.label, state_.pid));
    if (const auto fibers = start_fibers(work); !fibers.ok())
        fail(Why::exited, fibers.error().text());
    watch(work, deadline);
    stop();
    return end_;
}

void MediaChild::watch(const Work& work, io::Deadline deadline) {
    while (!is_over_) {
        const auto woken = io::wait(over_, deadline.sooner(io::Deadline::after(kWatchInterval)));
        if (!woken.ok() && woken.code() == Errc::cancelled)
            return fail(Why::cancelled, "");
        write_log();
        if (!is_over_ && work.is_wanted && !work.is_wanted())
            fail(Why::unwanted, "nobody plays its stream");
        check_outputs();
    }
}

// An output that is silent while another one is not has failed by itself; otherwise the process has.
void MediaChild::check_outputs() {
    const TimePoint now = io::now();
    const auto is_late = [now](const std::optional<TimePoint>& since, auto limit) { return since && now - *since > limit; };
    const bool is_process =
        std::ranges::all_of(owed_since_, [&](const auto& one) { return is_late(one, setup_.silence_max / 2); });
    for (std::size_t i = 0; i < owed_since_.size(); ++i)
        if (is_late(owed_since_[i], setup_.silence_max))
            fail(Why::silent,
                 fmt::format("{} gave no output for {} s", setup_.outputs[i],
                             std::chrono::duration_cast<std::chrono::seconds>(setup_.silence_max).count()),
                 is_process ? std::nullopt : std::optional(i));
}

// The end of its input ends a child that may finish a file; ffmpeg that waits for input ignores the first SIGTERM. A child that
// hangs is killed.
void MediaChild::stop() {
    const io::CancelShield shield;
    static_cast<void>(feeder_.stop(io::Deadline::never()));
    input_.close();
    if (!setup_.may_finish || end_.why == Why::silent || end_.why == Why::bad_output)
        child_->send_signal(SIGKILL);
    static_cast<void>(child_->stop(io::Deadline::after(kFinishLimit)));
    reports_.finish();
    write_log();
    static_cast<void>(work_.stop(io::Deadline::never()));
    outputs_.clear();
}

Result<void> MediaChild::write(Bytes bytes, io::Deadline deadline) {
    for (auto& since : owed_since_)
        since = since.value_or(io::now());
    return setup_.is_piped_in ? input_.write_all(bytes, deadline) : Result<void>();
}

void MediaChild::note_output(std::size_t index, std::uint64_t bytes) {
    end_.had_output = true;
    state_.output_bytes += bytes;
    owed_since_[index].reset();
}

void MediaChild::log_dropped(std::uint64_t more) {
    const std::uint64_t dropped = state_.dropped_packets + more;
    if (dropped <= dropped_logged_)
        return;
    LOG_WARN(log_, "{} ffmpeg is too slow, dropped_packets={}", setup_.label, dropped);
    dropped_logged_ = dropped;
}

void MediaChild::take_line(std::string_view line) {
    if (auto missing = missing_encoder(line); !missing.empty())
        end_.missing_encoder = std::move(missing);
    const std::string safe = redacted(line);
    log_file_.add(safe);
    LOG_INFO_REPEATED(log_, "{} ffmpeg: {}", setup_.label, safe);
}

void MediaChild::write_log() {
    if (const auto written = log_file_.flush(io::Deadline::after(kLogLimit)); !written.ok())
        LOG_WARN(log_, "{} has no log file any longer: {}", setup_.label, written.error().sentence());
}

void RunningChildren::add(const MediaChild::State& child) {
    ++count;
    const auto its = io::usage_of(child.pid).value_or(io::ProcessUsage());
    usage.cpu_seconds += its.cpu_seconds;
    usage.resident_bytes += its.resident_bytes;
}

}  // namespace live::service::ffmpeg
