// Puts a publisher's sound and picture on one timeline. Each kind has an RTP clock of its own that begins anywhere; when they came
// says roughly how they belong together, and the sender reports say it exactly, once both kinds have had one. Dry.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace live::session::rtc {

class MediaClock {
public:
    // Reports are rounded and a little late; smaller differences than this are left alone.
    static constexpr std::chrono::microseconds kTolerance{5'000};

    enum class Line : std::uint8_t { audio, video };

    // Where a packet's frame is on the timeline that begins when the first packet came. `ntp` is the publisher's own clock at this
    // timestamp, when it is known. `clock_rate` is not 0.
    MediaTime time_of(Line line, std::uint32_t timestamp, std::uint32_t clock_rate, TimePoint arrived,
                      std::optional<std::chrono::microseconds> ntp);

private:
    struct State {
        bool begun = false;
        std::uint32_t last_timestamp = 0;
        std::int64_t ticks = 0;  // since its first packet
        MediaTime zero{};        // of its first packet on the timeline
        // Of the timeline against the publisher's clock; the same for both kinds when they fit.
        std::optional<std::chrono::microseconds> offset;
    };

    std::array<State, 2> states_;
    std::optional<TimePoint> start_;
};

}  // namespace live::session::rtc
