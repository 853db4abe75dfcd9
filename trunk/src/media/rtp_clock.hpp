// RtpClock: where a publisher's RTP packets stand on one timeline for audio and video. RTP timestamps begin anywhere and
// each kind has its own; before the first sender report the two are put together by their arrival. With reports of both kinds the
// frame is moved, little by little, to where the publisher's own clock puts it beside the audio.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "media/packet.hpp"

namespace live::media {

class RtpClock {
public:
    // The frame moves by at most this part of the time that passes.
    static constexpr int kSlewDivisor = 10;
    // Reports that put audio and video further apart are not believed.
    static constexpr std::chrono::seconds kShiftMax{5};

    struct Place {
        std::uint32_t timestamp = 0;  // for the RTP log: on its line, which goes on from one publisher to the next
        MediaTime time{};
    };

    // For one publisher; its first packet is at `start`.
    explicit RtpClock(MediaTime start) : start_(start) {}

    // Of a packet of audio or frame, in the order of their numbers; `clock_rate` is the same for all of a kind. `reported` is
    // the publisher's own clock at this timestamp, when it has sent a report.
    Place place(Kind kind, std::uint32_t timestamp, std::uint32_t clock_rate, TimePoint arrived,
                std::optional<std::chrono::microseconds> reported);
    // How far the frame has been moved.
    MediaTime shift() const { return shift_; }

private:
    struct Track {
        std::uint32_t first = 0;
        std::int64_t ticks = 0;             // since the first, unwrapped
        MediaTime base{};                   // of the first
        MediaTime time{};                   // of the latest, not moved
        std::optional<MediaTime> offset{};  // from our time to the publisher's clock
        bool seen = false;
    };

    void begin(Track& track, std::uint32_t timestamp, TimePoint arrived);
    void move_frame(MediaTime passed);

    MediaTime start_;
    TimePoint first_arrival_{};
    std::array<Track, 2> tracks_{};
    MediaTime shift_{};
    bool started_ = false;
};

}  // namespace live::media
