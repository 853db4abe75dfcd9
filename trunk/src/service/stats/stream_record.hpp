// StreamRecord: the last hour of a stream and its newest events, for pages: bit rates, frame rate, key frames, delay and viewers.
// Dry; the memory is bounded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "service/stats/history.hpp"

namespace live::service::stats {

// Kinds of players that are counted apart.
inline constexpr std::size_t kPlayerKindsMax = 8;
using ViewerCounts = std::array<std::uint32_t, kPlayerKindsMax>;

struct StreamPoint {
    float received_kbps = 0;
    float sent_kbps = 0;
    float frames_per_second = 0;
    float key_frame_seconds = -1;  // distance between key frames; negative: unknown
    float delay_seconds = -1;      // mean of the players; negative: no players
    std::array<std::uint16_t, kPlayerKindsMax> viewers{};
};

struct StreamEvent {
    static constexpr std::size_t kTextMax = 200;

    TimePoint at{};
    std::string_view name;  // static
    std::string client;     // its id
    std::string text;
};

class StreamRecord {
public:
    static constexpr std::size_t kEventsMax = 16;
    // Consecutive differences between audio and video that must agree, one for each sample.
    static constexpr std::size_t kOffsets = 5;

    // Totals since begin().
    struct Totals {
        std::uint64_t received_bytes = 0;
        std::uint64_t sent_bytes = 0;
        std::uint64_t frames = 0;
    };

    // The totals start at zero.
    void begin(TimePoint now);
    // How far a player is behind the newest packet. Its mean goes into the next point.
    void add_delay(MediaTime delay);
    // The newest times of both kinds, some seconds apart.
    void add_times(MediaTime audio, MediaTime video);
    // A new publisher: earlier differences do not count.
    void restart_times() { offsets_seen_ = 0; }
    // Adds a point when an interval is over.
    void sample(TimePoint now, const Totals& totals, std::optional<MediaTime> key_frames, const ViewerCounts& viewers);
    // Longer texts are cut. The oldest event is dropped.
    void add_event(TimePoint now, std::string_view name, std::string_view client, std::string_view text);

    const History<StreamPoint>& history() const { return history_; }
    const std::deque<StreamEvent>& events() const { return events_; }
    // How far audio is behind video, if it is steadily: the smallest of the newest differences. Negative: video is behind.
    std::optional<MediaTime> audio_behind() const;
    // The highest frame rate of the last five minutes.
    double best_frame_rate() const;
    std::size_t bytes() const;

private:
    History<StreamPoint> history_;
    TimePoint last_at_{};
    Totals last_;
    MediaTime delay_sum_{};
    std::uint32_t delays_ = 0;
    std::deque<StreamEvent> events_;
    std::array<MediaTime, kOffsets> offsets_{};
    std::size_t offsets_seen_ = 0;
};

}  // namespace live::service::stats
