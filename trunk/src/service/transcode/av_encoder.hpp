// AvEncoder: samples of 48 kHz stereo in, frames of Opus or AAC out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "service/transcode/av_library.hpp"
#include "wire/codec/codec.hpp"

namespace live::service::transcode {

class AvEncoder {
public:
    // `library` outlives this; `bitrate` in bits a second. Errc::unsupported when there is no such encoder.
    static Result<AvEncoder> create(const AvLibrary& library, wire::codec::Codec codec, std::uint32_t bitrate);

    // How many samples (of both channels one) encode() wants.
    std::size_t frame_samples() const { return static_cast<std::size_t>(context_->frame_size); }
    // How many samples earlier than what goes in a frame begins that comes out.
    std::int64_t lead() const { return context_->initial_padding; }
    // Left and right in turn, frame_samples() of them. As many frames come out as went in, some later.
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
