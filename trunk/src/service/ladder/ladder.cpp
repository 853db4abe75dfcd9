#include "service/ladder/ladder.hpp"

#include <utility>

#include <fmt/ranges.h>
#include <unistd.h>

#include "base/backoff.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/ffmpeg/arguments.hpp"
#include "wire/flv/codec.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::ladder {

namespace {

std::string names_of(const std::vector<Rung>& rungs) {
    std::string names;
    for (const Rung& rung : rungs)
        names += fmt::format("{}{}:{}x{}k", names.empty() ? "" : ",", rung.name, rung.height, rung.kbps);
    return names;
}

}  // namespace

Ladder::Ladder(Ref<media::Source> source, LadderOptions options, LadderTiming timing, Log log)
    : source_(std::move(source)), options_(std::move(options)), timing_(timing), log_(std::move(log)) {}

std::optional<Ladder::Begin> Ladder::wait_for_key(media::Cursor& cursor, io::Deadline deadline) {
    std::optional<media::Packet> config;
    for (;;) {
        while (auto packet = cursor.take()) {
            if (packet->kind != MediaKind::video)
                continue;
            if (packet->is_config())
                config = std::move(packet);
            else if (packet->key && packet->content == media::Content::frame && config)
                return Begin{*std::move(config), *std::move(packet)};
        }
        if (!io::wait(cursor.readable(), deadline).ok())
            return std::nullopt;
    }
}

bool Ladder::plan(const Begin& begin) {
    wire::mp4::SampleReader reader;
    static_cast<void>(reader.push_video(frame_of(begin.config)));
    static_cast<void>(reader.push_video(frame_of(begin.key)));
    const bool can_feed = begin.config.codec == media::Codec::avc || wire::flv::fourcc_of(begin.config.codec).has_value();
    if (!can_feed || !reader.video() || reader.video()->height == 0) {
        LOG_WARN(log_, "LADDER {} cannot encode renditions of this video", url());
        return false;
    }
    state_.rungs = plan_rungs(options_, reader.video()->height);
    return !state_.rungs.empty();
}

LadderChild::End Ladder::run_child(const Begin& begin, media::Cursor& cursor, io::Deadline deadline) {
    auto arguments = ladder_arguments(options_, state_.rungs, encoder_);
    arguments.front() =
        ffmpeg::choose_program(arguments.front(), ::access(std::string(ffmpeg::kConventionalProgram).c_str(), X_OK) == 0);
    if (!missing_logged_)
        LOG_INFO(log_, "LADDER {} start, renditions={}, argv={}", url(), names_of(state_.rungs), fmt::join(arguments, " "));
    child_ = std::make_unique<LadderChild>(
        LadderChild::Setup{url(), std::move(arguments), state_.rungs, begin.config, begin.key, timing_.silence_max}, cursor,
        log_);
    state_.phase = Phase::running;
    ++state_.starts;
    auto end = child_->run(deadline);
    state_.dropped_packets += child_->state().dropped_packets + cursor.dropped();
    child_.reset();
    return end;
}

void Ladder::report(const LadderChild::End& end) {
    state_.last_end = end.text;
    if (end.why == LadderChild::End::Why::missing) {
        if (!std::exchange(missing_logged_, true))
            LOG_ERROR(log_, "LADDER {} has no renditions, because ffmpeg cannot start: {}", url(), end.text);
        return;
    }
    missing_logged_ = false;
    if (!end.missing_encoder.empty())
        state_.last_end = fmt::format("ffmpeg has no encoder {}", end.missing_encoder);
    LOG_WARN(log_, "LADDER {} child ended: {}, starts={}", url(), state_.last_end, state_.starts);
    if (end.why == LadderChild::End::Why::failed && !end.had_frames && !options_.fallback.empty() && encoder_.empty()) {
        encoder_ = options_.fallback;
        LOG_WARN(log_, "LADDER {} encodes with {} from now on, as fallback says", url(), encoder_);
    }
}

void Ladder::run(io::Deadline deadline) {
    Backoff backoff(timing_.restart_first, timing_.restart_max);
    using Start = media::Cursor::Start;
    for (Start start = Start::join_point;; start = Start::now) {
        media::Cursor cursor(source_, media::WakeMode::at_once, start, media::Cursor::Tracks::defaults, media::Audience::none);
        state_.phase = Phase::waiting;
        const auto begin = wait_for_key(cursor, deadline);
        if (!begin)
            return;
        if (!plan(*begin)) {
            state_.phase = Phase::unusable;
            return source_->publications().expect_renditions(0);
        }
        // Only at first: later, players have the stream already, and must not wait.
        if (state_.starts == 0)
            source_->publications().expect_renditions(state_.rungs.size());
        const TimePoint began = io::now();
        const auto end = run_child(*begin, cursor, deadline);
        if (end.why == LadderChild::End::Why::cancelled)
            return;
        source_->publications().expect_renditions(0);
        report(end);
        if (end.why == LadderChild::End::Why::new_format)
            continue;
        if (io::now() - began >= timing_.good_after)
            backoff.reset();
        state_.phase = Phase::pausing;
        const auto pause = backoff.next(static_cast<std::uint32_t>(random_number()));
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            return;
    }
}

}  // namespace live::service::ladder
