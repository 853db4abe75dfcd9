// RtpClock: maps a publisher's RTP timestamps to one timeline for audio and video. RTP timestamps start anywhere and differ by
// kind; before the first sender report the kinds are aligned by arrival time. Once both kinds have reports, video is shifted
// gradually to its place next to the audio on the publisher's clock.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

class RtpClock {
public:
    // Video shifts by at most this fraction of the elapsed time.
    static constexpr int kSlewDivisor = 10;
    // Reports that put audio and video further apart are ignored.
    static constexpr std::chrono::seconds kShiftMax{5};

    struct Place {
        std::uint32_t timestamp = 0;  // for the RTP log; continues from one publisher to the next
        MediaTime time{};
    };

    // How a kind begins whose first packet comes with a report, if the other kind has one: by arrival, so that later reports
    // shift video; or where the reports put it.
    enum class Begin : std::uint8_t { by_arrival, by_reports };

    // For one publisher whose first packet is at `start`.
    explicit RtpClock(MediaTime start, Begin begin = Begin::by_arrival) : start_(start), begin_(begin) {}

    // Places an audio or video packet, in sequence order; `clock_rate` is the same for all packets of a kind. `reported` is the
    // publisher's clock at this timestamp, if it has sent a report.
    Place place(MediaKind kind, std::uint32_t timestamp, std::uint32_t clock_rate, TimePoint arrived,
                std::optional<std::chrono::microseconds> reported);
    // Places a packet of another layer of the video, whose timestamps are on the same timeline; nothing before the first place().
    std::optional<Place> place_layer(std::uint32_t timestamp, std::uint32_t clock_rate) const;
    // Places a packet of a further track, audio, video or data, which is numbered from 0. It is where the reports of the track
    // and of the first audio or video put it; without reports, where it arrived.
    MediaTime place_further(std::size_t number, std::uint32_t timestamp, std::uint32_t clock_rate, TimePoint arrived,
                            std::optional<std::chrono::microseconds> reported);
    // How far video has been shifted.
    MediaTime shift() const { return shift_; }

private:
    struct Track {
        std::uint32_t first = 0;
        std::int64_t ticks = 0;             // since the first packet, unwrapped
        MediaTime base{};                   // of the first packet
        MediaTime time{};                   // of the latest packet, not shifted
        std::optional<MediaTime> offset{};  // from our time to the publisher's clock
        bool seen = false;
    };

    static void advance(Track& track, std::uint32_t timestamp, std::uint32_t clock_rate);
    void note_arrival(Track& track, std::uint32_t timestamp, TimePoint arrived);
    void begin(MediaKind kind, std::uint32_t timestamp, TimePoint arrived, std::optional<std::chrono::microseconds> reported);
    void move_frame(MediaTime passed);

    MediaTime start_;
    Begin begin_;
    TimePoint first_arrival_{};
    std::array<Track, 2> tracks_{};
    std::vector<Track> further_;  // few
    MediaTime shift_{};
    bool started_ = false;
};

}  // namespace live::media
