#include "session/rtc/media_clock.hpp"

namespace live::session::rtc {

MediaTime MediaClock::time_of(Line line, std::uint32_t timestamp, std::uint32_t clock_rate, TimePoint arrived,
                              std::optional<std::chrono::microseconds> ntp) {
    State& state = states_[static_cast<std::size_t>(line)];
    const State& other = states_[1 - static_cast<std::size_t>(line)];
    if (!start_)
        start_ = arrived;
    if (!state.begun) {
        state.begun = true;
        state.zero = std::chrono::duration_cast<MediaTime>(arrived - *start_);
    } else {
        state.ticks += static_cast<std::int32_t>(timestamp - state.last_timestamp);
    }
    state.last_timestamp = timestamp;
    const auto rate = static_cast<std::int64_t>(clock_rate);
    const MediaTime since(state.ticks / rate * 1'000'000 + state.ticks % rate * 1'000'000 / rate);
    if (ntp) {
        state.offset = state.zero + since - *ntp;
        // The kind that was reported first stays, the other one moves to it.
        if (other.offset && std::chrono::abs(*state.offset - *other.offset) > kTolerance) {
            state.zero += *other.offset - *state.offset;
            state.offset = other.offset;
        }
    }
    return state.zero + since;
}

}  // namespace live::session::rtc
