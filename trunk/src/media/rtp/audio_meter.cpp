#include "media/rtp/audio_meter.hpp"

#include "wire/codec/audio/opus.hpp"

namespace live::media {

namespace {

constexpr std::uint32_t kOpusRate = 48'000;

MediaTime of_samples(std::uint64_t samples, std::uint32_t rate) {
    constexpr std::uint64_t kMicros = 1'000'000;
    return MediaTime(samples * kMicros / std::max<std::uint32_t>(rate, 1));
}

}  // namespace

MediaTime audio_in(wire::codec::Codec codec, Bytes frame, std::uint32_t sample_rate) {
    constexpr std::uint32_t kAacSamples = 1024;
    // Other codecs encode the duration in codec-specific ways; few frames are shorter, and no codec needs more bytes per second
    // than PCM.
    constexpr MediaTime kMin = std::chrono::milliseconds(20);
    constexpr std::uint32_t kBytesASecond = 176'400;
    constexpr std::uint32_t kG711Rate = 8'000;
    const MediaTime by_size = of_samples(frame.size(), kBytesASecond);
    switch (codec) {
        case wire::codec::Codec::opus: {
            const auto samples = wire::codec::opus_samples(frame);
            return samples.ok() ? of_samples(*samples, kOpusRate) : kMin;
        }
        case wire::codec::Codec::aac: return of_samples(kAacSamples, sample_rate);
        case wire::codec::Codec::g711a:
        case wire::codec::Codec::g711u: return std::max(kMin, of_samples(frame.size(), kG711Rate));
        default: return std::max(kMin, by_size);
    }
}

}  // namespace live::media
