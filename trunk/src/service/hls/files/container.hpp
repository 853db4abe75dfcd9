// Container: the format of a stream's fragments. Every HLS player supports MPEG-TS; codecs that players do not accept in MPEG-TS
// (AV1, VP9, Opus, FLAC) go into fragmented MP4 when `hls_use_fmp4 auto` leaves the choice to the stream. CodecWatch tracks the
// codecs of a publisher and returns the container that they need. Dry.
#pragma once

#include <cstdint>
#include <string>

#include "media/ring/packet.hpp"
#include "service/hls/options.hpp"

namespace live::service::hls {

enum class Container : std::uint8_t { ts, fmp4, webvtt };

class CodecWatch {
public:
    // Reports whether the packet's codec differs from that of earlier packets of its kind. The configuration has the codec, or
    // the first frame if the codec has no configuration.
    bool note(const media::Packet& packet);

    // The container required by the codecs known so far.
    Container needs() const;
    // The codec of that kind if the container cannot carry it; otherwise "".
    std::string left_out(MediaKind kind, Container container) const;

private:
    media::Codec video_ = media::Codec::none;
    media::Codec audio_ = media::Codec::none;
};

}  // namespace live::service::hls
