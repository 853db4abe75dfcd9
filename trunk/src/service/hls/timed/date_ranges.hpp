// DateRanges: the markers of SCTE 35 of one stream as date ranges of its playlists (RFC 8216, 4.3.2.7.1), and as the cue tags of
// older players. Dry.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/text/utc_text.hpp"
#include "base/time.hpp"
#include "media/ring/timed_event.hpp"
#include "wire/hls/playlist.hpp"

namespace live::service::hls {

class DateRanges {
public:
    // The usual number; the oldest ranges leave when there are more.
    static constexpr std::size_t kMax = 32;
    // Messages of one event are repeated, with times that differ by their rounding.
    static constexpr MediaTime kSameMax = 1s;
    // Dates of equal times differ by their rounding.
    static constexpr std::chrono::milliseconds kSlack{5};

    explicit DateRanges(std::size_t most = kMax) : most_(most) {}

    // Adds a marker; `lead`: frames of the stream are decoded this much before they are shown, and dates are of decoding. Returns
    // the number of older ranges that it has displaced.
    std::size_t add(const media::TimedEvent& splice, MediaTime lead);
    // Returns the date of a media time, once it is known.
    using DateOf = std::function<std::optional<UtcTime>(MediaTime)>;
    // Gives new ranges their dates.
    void set_dates(const DateOf& date_of);
    void clear() { ranges_.clear(); }
    // Forgets the ranges that end before `date`, that of the first listed segment.
    void forget_before(UtcTime date);
    // Forgets the breaks that have not ended.
    void drop_open();

    // Adds the ranges that do not end before the first segment, and the cue tags if `has_cues`.
    void describe(wire::hls::MediaPlaylist& playlist, bool has_cues) const;
    // Returns the cue tag of a segment. `previous`: the date of the segment before, if there is one in the list.
    std::optional<wire::hls::CueTag> cue_before(UtcTime date, std::optional<UtcTime> previous) const;

private:
    struct Range {
        std::uint32_t event_id = 0;
        bool is_break = false;
        bool returns = false;  // by itself
        MediaTime start{};
        std::optional<MediaTime> end{};
        bool has_dates = false;
        wire::hls::DateRange tag;
    };

    Range* find_break(std::uint32_t event_id, MediaTime before);
    static std::optional<UtcTime> end_of(const Range& range);

    std::size_t most_;
    std::deque<Range> ranges_;  // in the order of arrival
};

}  // namespace live::service::hls
