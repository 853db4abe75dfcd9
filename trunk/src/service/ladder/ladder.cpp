#include "service/ladder/ladder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/ranges.h>
#include <unistd.h>

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

// Owners of the limit: the service, and this.
Ladder::Ladder(Ref<media::Source> source, LadderOptions options, LadderTiming timing, std::shared_ptr<ffmpeg::StartLimit> limit,
               std::string log_path, Log log)
    : source_(std::move(source)),
      options_(std::move(options)),
      timing_(timing),
      log_path_(std::move(log_path)),
      log_(std::move(log)),
      pace_({timing.restart_first, timing.restart_max, timing.good_after}, std::move(limit)) {
    if (options_.on_demand)
        source_->publications().set_rendition_maker(this);
    name_renditions();
}

Ladder::~Ladder() { leave(); }

void Ladder::leave() {
    if (source_->publications().rendition_maker() == this)
        source_->publications().set_rendition_maker(nullptr);
}

std::size_t Ladder::due_renditions() const {
    if (state_.phase == Phase::pausing || state_.phase == Phase::unusable)
        return 0;
    return std::max<std::size_t>(state_.rungs.size(), 1);
}

void Ladder::set_phase(Phase phase) {
    state_.phase = phase;
    name_renditions();
}

// Before the plan, any configured rendition may be part of it.
void Ladder::name_renditions() {
    std::vector<std::string> names;
    if (due_renditions() > 0 && state_.rungs.empty())
        std::ranges::transform(options_.renditions, std::back_inserter(names), &RenditionOptions::name);
    else if (due_renditions() > 0)
        std::ranges::transform(state_.rungs, std::back_inserter(names), &Rung::name);
    source_->publications().name_renditions(media::Publications::NamedBy::maker, std::move(names));
    source_->announce_renditions();
}

bool Ladder::wait_for_demand(io::Deadline deadline) {
    while (!is_wanted()) {
        set_phase(Phase::idle);
        if (!io::wait(demand_.began(), deadline).ok())
            return false;
    }
    return true;
}

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

ffmpeg::MediaChild::End Ladder::run_child(const Begin& begin, media::Cursor& cursor, io::Deadline deadline) {
    auto arguments = ladder_arguments(options_, state_.rungs, encoder_);
    arguments.front() =
        ffmpeg::choose_program(arguments.front(), ::access(std::string(ffmpeg::kConventionalProgram).c_str(), X_OK) == 0);
    if (!missing_logged_)
        LOG_INFO(log_, "LADDER {} start, renditions={}, argv={}", url(), names_of(state_.rungs), fmt::join(arguments, " "));
    child_ = std::make_unique<LadderChild>(LadderChild::Setup{url(), std::move(arguments), state_.rungs, begin.config, begin.key,
                                                              timing_.silence_max, [this] { return is_wanted(); }, log_path_},
                                           cursor, log_);
    set_phase(Phase::running);
    ++state_.starts;
    pace_.note_start();
    auto end = child_->run(deadline);
    state_.dropped_packets += child_->state().dropped_packets + cursor.dropped();
    child_.reset();
    return end;
}

void Ladder::report(const ffmpeg::MediaChild::End& end) {
    state_.last_end = end.text;
    if (end.why == ffmpeg::MediaChild::Why::missing) {
        if (!std::exchange(missing_logged_, true))
            LOG_ERROR(log_, "LADDER {} has no renditions, because ffmpeg cannot start: {}", url(), end.text);
        return;
    }
    missing_logged_ = false;
    if (!end.missing_encoder.empty())
        state_.last_end = fmt::format("ffmpeg has no encoder {}", end.missing_encoder);
    LOG_WARN(log_, "LADDER {} child ended: {}, starts={}", url(), state_.last_end, state_.starts);
    if (end.why != ffmpeg::MediaChild::Why::new_format && !end.had_output && !options_.fallback.empty() && encoder_.empty()) {
        encoder_ = options_.fallback;
        LOG_WARN(log_, "LADDER {} encodes with {} from now on (fallback)", url(), encoder_);
    }
}

void Ladder::run(io::Deadline deadline) {
    run_children(deadline);
    leave();
}

void Ladder::run_children(io::Deadline deadline) {
    const auto on_wait = [this] {
        source_->publications().expect_renditions(0);
        set_phase(Phase::pausing);
    };
    using Start = media::Cursor::Start;
    for (Start start = Start::join_point;; start = options_.on_demand ? Start::join_point : Start::now) {
        if (!wait_for_demand(deadline) || !pace_.wait_for_turn(on_wait, deadline))
            return;
        media::Cursor cursor(source_, media::WakeMode::at_once, start, media::Cursor::Tracks::defaults, media::Audience::none);
        set_phase(Phase::waiting);
        const auto begin = wait_for_key(cursor, deadline);
        if (!begin)
            return;
        if (!plan(*begin)) {
            source_->publications().expect_renditions(0);
            return set_phase(Phase::unusable);
        }
        // Only at first: later, players have the stream already, and must not wait.
        if (state_.starts == 0 && !options_.on_demand)
            source_->publications().expect_renditions(state_.rungs.size());
        const auto end = run_child(*begin, cursor, deadline);
        if (end.why == ffmpeg::MediaChild::Why::cancelled)
            return;
        source_->publications().expect_renditions(0);
        if (end.why == ffmpeg::MediaChild::Why::unwanted) {
            LOG_INFO(log_, "LADDER {} ends, because its renditions have no players", url());
            continue;
        }
        report(end);
        if (end.why == ffmpeg::MediaChild::Why::new_format)
            continue;
        set_phase(Phase::pausing);
        if (!pace_.pause(deadline))
            return;
    }
}

}  // namespace live::service::ladder
