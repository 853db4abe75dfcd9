// AvEncoder: encodes 48 kHz stereo samples to frames of Opus or AAC.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "service/transcode/av_library.hpp"
#include "wire/codec/codec.hpp"

namespace live::service::transcode {

class AvEncoder {
public:
    // `library` outlives this; `bitrate` in bits per second. Errc::unsupported when there is no such encoder.
    static Result<AvEncoder> create(const AvLibrary& library, wire::codec::Codec codec, std::uint32_t bitrate);

    // Samples per channel for one encode().
    std::size_t frame_samples() const { return static_cast<std::size_t>(context_->frame_size); }
    // Returns the number of samples by which an output frame begins earlier than its input.
    std::int64_t lead() const { return context_->initial_padding; }
    // frame_samples() of left and right, interleaved. Each input frame yields one output frame, maybe later.
    Result<void> encode(std::span<const float> samples);
    Result<std::optional<Slice>> poll();
    // An AudioSpecificConfig for AAC.
    Bytes config() const { return {context_->extradata, static_cast<std::size_t>(context_->extradata_size)}; }

private:
    AvEncoder(const AvLibrary& library, ContextPtr context);

    const AvLibrary* library_;
    ContextPtr context_;
    PacketPtr packet_;
    FramePtr frame_;
    std::int64_t samples_ = 0;
};

}  // namespace live::service::transcode
