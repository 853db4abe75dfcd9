// AvDecoder: decodes frames of one audio codec to 48 kHz stereo samples.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "service/transcode/av_library.hpp"
#include "wire/codec/codec.hpp"

namespace live::service::transcode {

inline constexpr int kSampleRate = 48'000;
inline constexpr int kChannels = 2;

class AvDecoder {
public:
    // Larger frames are refused: AAC has at most 6,144 bits per channel, Opus 1,275 bytes per frame and 48 frames.
    static constexpr std::size_t kFrameBytesMax = 64 * 1024;

    // `library` outlives this. Errc::unsupported when there is no decoder, Errc::malformed when it rejects `config`.
    static Result<AvDecoder> create(const AvLibrary& library, wire::codec::Codec codec, Bytes config);

    // Appends samples, left and right interleaved. Errc::malformed, Errc::limit: the frame yielded nothing.
    Result<void> decode(Bytes frame, std::vector<float>& samples);
    // Samples per channel still inside the resampler, at 48 kHz.
    std::int64_t delay() const;

private:
    AvDecoder(const AvLibrary& library, ContextPtr context);

    Result<void> prepare_resampler();
    Result<void> resample(std::vector<float>& samples);

    const AvLibrary* library_;
    ContextPtr context_;
    PacketPtr packet_;
    FramePtr frame_;
    ResamplerPtr resampler_;
    // The input rate the resampler was created for.
    int rate_ = 0;
    int format_ = -1;
    int channels_ = 0;
};

}  // namespace live::service::transcode
