// SplicePoints: the newest splices of a stream, and the places where they cut its segments: the splice, and the end of a break
// that returns by itself. Dry.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "media/ring/timed_event.hpp"

namespace live::media {

class SplicePoints {
public:
    static constexpr std::size_t kMax = 8;
    // Longer sections are not kept for other nodes.
    static constexpr std::size_t kKeptBytesMax = 256;
    // Times in milliseconds are this much earlier than exact ones.
    static constexpr MediaTime kSlack = 5ms;

    struct Splice {
        MediaTime at{};
        std::vector<std::uint8_t> section;

        bool operator==(const Splice&) const = default;
    };

    // Adds a splice; encoders repeat them, and a repeated one changes nothing.
    void add(const TimedEvent& splice);
    // A segment begins with a frame that is shown at `pts` and decoded `lead` earlier: earlier cuts are done.
    void begin_segment(MediaTime pts, MediaTime lead = {});
    MediaTime lead() const { return lead_; }
    // Reports whether a cut is due before a frame that is shown at `pts`.
    bool is_cut_due(MediaTime pts) const { return !cuts_.empty() && cuts_.front() <= pts + kSlack; }

    // The newest splices, the oldest first: with them, another node cuts in the same places.
    const std::vector<Splice>& splices() const { return splices_; }
    void restore(const std::vector<Splice>& splices);

private:
    void cut_at(MediaTime at);

    std::vector<Splice> splices_;
    std::vector<MediaTime> cuts_;  // to come, in order
    MediaTime lead_{};             // of the newest segment
    MediaTime begun_ = MediaTime::min() / 2;
};

}  // namespace live::media
