#include "bench/measure/client_meter.hpp"

#include <algorithm>

namespace live::bench {
namespace {

void keep_largest(std::optional<std::chrono::microseconds>& kept, Duration value) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(value);
    kept = std::max(kept.value_or(micros), micros);
}

}  // namespace

void ClientMeter::begin_task(TimePoint now) {
    ++tasks_;
    began_ = now;
    in_task_ = true;
    has_frame_ = false;
    has_media_ = false;
    media_before_ms_ += media_ms_;
    media_ms_ = 0;
    playout_ = Playout::waiting;
}

void ClientMeter::on_connected(TimePoint now) { keep_largest(connect_, now - began_); }

void ClientMeter::on_first_frame(TimePoint now) {
    if (has_frame_)
        return;
    has_frame_ = true;
    first_frame_at_ = now;
    keep_largest(first_frame_, now - began_);
}

void ClientMeter::on_media(TimePoint now, std::uint32_t timestamp_ms) {
    on_first_frame(now);
    if (!has_media_) {
        has_media_ = true;
        newest_ms_ = timestamp_ms;
    }
    const auto step = static_cast<std::int32_t>(timestamp_ms - newest_ms_);
    // Kinds are interleaved, so small steps back are ignored; a large one is a new start.
    if (step <= 0 && step > -kGapMin.count())
        return;
    const std::int64_t wall = wall_ms(now);
    play_until(wall);
    newest_ms_ = timestamp_ms;
    if (step > kGapMin.count())
        on_gap(std::chrono::milliseconds(step));
    else if (step > 0)
        media_ms_ += step;
    play_until(wall);
}

void ClientMeter::on_fragment(TimePoint now, std::chrono::milliseconds duration) {
    on_first_frame(now);
    const std::int64_t wall = wall_ms(now);
    play_until(wall);
    media_ms_ += duration.count();
    play_until(wall);
}

void ClientMeter::on_gap(std::chrono::milliseconds missing) {
    ++gaps_;
    gap_ms_ += missing.count();
}

void ClientMeter::on_delay(std::chrono::microseconds delay) {
    // Clocks slightly out of step can yield slightly negative delays.
    delay = std::max(delay, std::chrono::microseconds(0));
    ++delays_;
    delay_sum_ += delay;
    delay_max_ = std::max(delay_max_, delay);
}

// Advances the viewer's playback to this moment, with the media received before it.
void ClientMeter::play_until(std::int64_t wall_ms) {
    if (playout_ == Playout::playing && wall_ms - play_offset_ms_ > media_ms_) {
        playout_ = Playout::stalled;
        ran_dry_ms_ = play_offset_ms_ + media_ms_;
        ++stalls_;
    }
    if (playout_ == Playout::waiting && media_ms_ >= buffer_ms_) {
        playout_ = Playout::playing;
        play_offset_ms_ = wall_ms;
    } else if (playout_ == Playout::stalled) {
        // It stopped after showing everything received by then.
        const std::int64_t gathered = media_ms_ - (ran_dry_ms_ - play_offset_ms_);
        if (gathered >= buffer_ms_) {
            stall_ms_ += wall_ms - ran_dry_ms_;
            play_offset_ms_ += wall_ms - ran_dry_ms_;
            playout_ = Playout::playing;
        }
    }
}

void ClientMeter::end_task(TimePoint now, bool failed) {
    if (!in_task_)
        return;
    in_task_ = false;
    failed_ += failed ? 1 : 0;
    if (!has_frame_)
        return;
    const std::int64_t wall = wall_ms(now);
    play_until(wall);
    if (playout_ == Playout::stalled)
        stall_ms_ += wall - ran_dry_ms_;
    playing_ += std::chrono::duration_cast<std::chrono::microseconds>(now - first_frame_at_);
}

}  // namespace live::bench
