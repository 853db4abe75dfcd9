// Timeline: maps a publisher's wrapping 32-bit millisecond stamps to one 64-bit timeline per source that starts at zero, never
// runs backwards within a track and survives wraps, jumps, looped clips, stray stamps and a new publisher. It repairs stamps and
// never rejects them.
//
// Audio and video move together: when two stamps of one kind in a row agree on a new time base, one new shift is computed and
// each kind adopts it when it reaches it, so that their distance is that of the publisher. A single stamp out of line moves
// nothing, and neither do headers and data: many publishers stamp them carelessly, for example always 0.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

class Timeline {
public:
    // A step back by more than this, or ahead of everything by more than kLeap and the time that has passed, is out of line. A
    // stream whose frames are regularly further apart may step twice as far as they are.
    static constexpr std::chrono::milliseconds kJumpBack{500};
    static constexpr std::chrono::milliseconds kLeap{500};
    // A step ahead within this, or within the publisher's timeout, keeps the time base. It is in line while fewer than
    // kRateFrames show how far apart the frames are.
    static constexpr std::chrono::milliseconds kJumpAhead{10'000};
    static constexpr std::uint32_t kRateFrames = 8;
    // How far another track of a kind may be ahead of the first one, or behind it: transport streams carry up to a second of
    // audio in one unit.
    static constexpr std::chrono::milliseconds kTrackDistance{1'000};
    // How far after the newest packet a new time base starts, and after the previous one of its kind a stray frame is placed.
    static constexpr std::chrono::milliseconds kJoin{10};

    // The same after another node's connection: enough that no frame must be moved, because audio is somewhat older than the
    // first frame.
    static constexpr std::chrono::milliseconds kRelayJoin{300};

    enum class Event : std::uint8_t {
        none,
        doubt,  // out of line: a stray stamp, or the first of a new time base
        jump,   // a new time base has begun: this stamp agrees with the previous one of its kind
        stray,  // the previous stamp of the kind was out of line, and this one continues those before it
    };

    struct Stamp {
        MediaTime dts{};
        Event event = Event::none;
    };

    // Places a frame of the first track of its kind, or a data message.
    Stamp map(MediaKind kind, std::uint32_t stamp_ms, TimePoint arrived = {});
    // Places a frame of another track: on the same time base, and near the first track.
    MediaTime follow(MediaKind kind, TrackId id, std::uint32_t stamp_ms, TimePoint arrived = {});
    // The time of a header, or of any other audio or video packet without a frame: that of the latest frame of its kind.
    MediaTime header_time(MediaKind kind) const;
    // The next stamp comes from another publisher: its time base continues right after the newest packet.
    void start_publisher();
    // Sets how long this publisher may be silent.
    void allow_gap(std::chrono::milliseconds timeout);
    // For a publisher that is another node, with the first stamp of its audio or video: stamps are kept as they are, as far as
    // they continue the stream.
    void start_relay(std::uint32_t stamp_ms);

    MediaTime newest() const { return std::chrono::milliseconds(newest_ms_); }
    // Added to a dts, gives the publisher's own time.
    MediaTime publisher_offset() const { return std::chrono::milliseconds(-shift_ms_); }
    std::uint64_t jumps() const { return jumps_; }

private:
    // The time base on which a stamp that is out of line would be in line.
    struct Doubt {
        std::int64_t raw_ms = 0;
        std::int64_t shift_ms = 0;
    };

    struct Track {
        std::int64_t raw_ms = 0;     // of the latest stamp in line, unwrapped
        std::int64_t shift_ms = 0;   // added to raw_ms
        std::int64_t own_ms = 0;     // the latest, on the source's timeline
        std::int64_t last_ms = 0;    // the same, never backwards
        std::optional<Doubt> doubt;  // the latest stamp was out of line
        bool seen = false;           // by this publisher
        bool ever = false;           // by any publisher
    };

    struct Follower {
        std::int64_t last_ms = 0;
        bool is_far = false;  // the latest stamp was too far from the first track's
    };

    std::int64_t ahead_max_ms(TimePoint arrived) const;
    bool is_in_line(const Track& track, std::int64_t time_ms, TimePoint arrived) const;
    bool confirms(const std::optional<Doubt>& doubt, std::int64_t raw_ms, TimePoint arrived) const;
    std::optional<std::int64_t> find_shift(const Track& track, std::int64_t raw_ms, TimePoint arrived, Event& event);
    Stamp map_unusual(MediaKind kind, std::uint32_t stamp_ms, TimePoint arrived);
    void accept(Track& track, std::int64_t raw_ms, std::int64_t time_ms, TimePoint arrived);
    std::int64_t place_stray(Track& track, std::int64_t raw_ms, TimePoint arrived);
    MediaTime map_data(std::uint32_t stamp_ms);

    std::array<Track, kMediaKindCount> tracks_{};                  // the first of each kind
    std::map<std::pair<MediaKind, TrackId>, Follower> followers_;  // each other track
    std::int64_t newest_ms_ = 0;
    std::int64_t start_ms_ = 0;                // of this publisher
    std::int64_t shift_ms_ = 0;                // the time base
    std::optional<std::int64_t> previous_ms_;  // the one before, to which the stamps may return
    std::int64_t jump_ahead_ms_ = kJumpAhead.count();
    std::int64_t step_ms_ = 0;  // the largest of the latest steps between frames
    TimePoint arrived_{};       // the latest frame
    std::uint64_t jumps_ = 0;
    std::uint32_t frames_ = 0;  // of this publisher, up to kRateFrames
    bool started_ = false;      // by this publisher
    bool is_relay_ = false;
    bool any_packet_ = false;  // by any publisher
};

}  // namespace live::media
