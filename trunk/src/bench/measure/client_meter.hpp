// Measures what one client of a load experiences, over all its tasks: time to connect and to the first frame, amount received,
// gaps in media time, stalls of a viewer with a buffer, and the delay of stamped media. Dry: the time is an argument. Counting
// costs a few instructions, because a core runs ten thousand of these.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace live::bench {

class ClientMeter {
public:
    // A larger step in media time is a gap: something is missing.
    static constexpr std::chrono::milliseconds kGapMin{500};

    // `buffer`: how much media a viewer buffers before playback (re)starts.
    explicit ClientMeter(std::chrono::milliseconds buffer = std::chrono::milliseconds(1000)) : buffer_ms_(buffer.count()) {}

    void begin_task(TimePoint now);
    void on_connected(TimePoint now);
    // First response: the first byte of HTTP, "publishing may begin" of RTMP. The first call of a task counts.
    void on_first_frame(TimePoint now);
    void on_bytes(std::uint64_t count) { bytes_ += count; }
    // A message or tag with media, in order of arrival; kinds may be interleaved. The timestamp is RTMP's and FLV's, which wraps.
    void on_media(TimePoint now, std::uint32_t timestamp_ms);
    // A whole fragment with that much media, following what was received before.
    void on_fragment(TimePoint now, std::chrono::milliseconds duration);
    void on_gap(std::chrono::milliseconds missing);
    // RTP: packets received, and packets lost for good.
    void on_packets(std::uint64_t came, std::uint64_t lost) {
        packets_ += came;
        lost_packets_ += lost;
    }
    void on_delay(std::chrono::microseconds delay);
    // Publisher: how late a message was sent.
    void on_late(std::chrono::microseconds late) { late_max_ = late > late_max_ ? late : late_max_; }
    void end_task(TimePoint now, bool failed);
    bool in_task() const { return in_task_; }

    // All tasks together; for the running one, up to the last end_task() or on_media().
    std::uint64_t tasks() const { return tasks_; }
    std::uint64_t failed() const { return failed_; }
    std::uint64_t bytes() const { return bytes_; }
    // The slowest of its tasks; nothing before the first one connected.
    std::optional<std::chrono::microseconds> connect_time() const { return connect_; }
    std::optional<std::chrono::microseconds> first_frame_time() const { return first_frame_; }
    // Wall time from each task's first frame to its end.
    std::chrono::microseconds playing_time() const { return playing_; }
    // Media time received, without the gaps.
    std::chrono::milliseconds media_time() const { return std::chrono::milliseconds(media_before_ms_ + media_ms_); }
    std::uint64_t packets() const { return packets_; }
    std::uint64_t lost_packets() const { return lost_packets_; }
    std::uint64_t gaps() const { return gaps_; }
    std::chrono::milliseconds gap_time() const { return std::chrono::milliseconds(gap_ms_); }
    std::uint64_t stalls() const { return stalls_; }
    std::chrono::milliseconds stall_time() const { return std::chrono::milliseconds(stall_ms_); }
    std::uint64_t delays() const { return delays_; }
    std::chrono::microseconds delay_mean() const { return delays_ == 0 ? 0us : delay_sum_ / static_cast<std::int64_t>(delays_); }
    std::chrono::microseconds delay_max() const { return delay_max_; }
    std::chrono::microseconds late_max() const { return late_max_; }

private:
    enum class Playout : std::uint8_t { waiting, playing, stalled };

    void play_until(std::int64_t wall_ms);
    std::int64_t wall_ms(TimePoint now) const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(now - first_frame_at_).count();
    }

    TimePoint began_{};
    TimePoint first_frame_at_{};
    std::optional<std::chrono::microseconds> connect_, first_frame_;
    std::chrono::microseconds playing_{}, delay_sum_{}, delay_max_{}, late_max_{};
    std::uint64_t tasks_ = 0, failed_ = 0, bytes_ = 0, packets_ = 0, lost_packets_ = 0, gaps_ = 0, stalls_ = 0, delays_ = 0;
    std::int64_t buffer_ms_;
    std::int64_t gap_ms_ = 0, stall_ms_ = 0;
    std::int64_t media_before_ms_ = 0;  // of earlier tasks
    std::int64_t media_ms_ = 0;         // of this one
    std::int64_t play_offset_ms_ = 0;   // while playing: wall minus media on the screen
    std::int64_t ran_dry_ms_ = 0;       // while stalled: since when
    std::uint32_t newest_ms_ = 0;       // on the stream's clock
    bool has_frame_ = false;
    bool has_media_ = false;
    bool in_task_ = false;
    Playout playout_ = Playout::waiting;
};

}  // namespace live::bench
