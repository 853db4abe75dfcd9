// AudioMeter: whether audio comes faster than anybody could hear it. Transcoding costs processor time that others wait for, and a
// client may send an hour of audio in a second. Dry: the time is given.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "wire/codec/codec.hpp"

namespace live::media {

// How long one frame of a codec audio_frames, about: its head is looked at, or its size. Never nothing. `sample_rate` is AAC's.
MediaTime audio_in(wire::codec::Codec codec, Bytes frame, std::uint32_t sample_rate);

class AudioMeter {
public:
    static constexpr int kTimesRealTime = 2;
    // What a network held back may come at once.
    static constexpr MediaTime kBurst = std::chrono::seconds(5);

    // Whether so much audio that came at `arrived` is within bounds. What is not does not count.
    bool take(MediaTime audio, TimePoint arrived) {
        const TimePoint used = std::max(used_until_, arrived) + audio / kTimesRealTime;
        if (used - arrived > kBurst / kTimesRealTime)
            return false;
        used_until_ = used;
        return true;
    }

private:
    TimePoint used_until_;
};

}  // namespace live::media
