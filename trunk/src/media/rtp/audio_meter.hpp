// AudioMeter: detects audio that arrives much faster than real time. Transcoding costs CPU time that other streams need, and a
// client can send an hour of audio in a second. Dry: the time is passed in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "wire/codec/codec.hpp"

namespace live::media {

// Approximate duration of one frame, from its header or its size. Never zero. `sample_rate` is used for AAC.
MediaTime audio_in(wire::codec::Codec codec, Bytes frame, std::uint32_t sample_rate);

class AudioMeter {
public:
    static constexpr int kTimesRealTime = 2;
    // A network that was congested may deliver its backlog at once.
    static constexpr MediaTime kBurst = std::chrono::seconds(5);

    // Whether this much audio, which arrived at `arrived`, is within bounds. Audio that is not accepted does not count.
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
