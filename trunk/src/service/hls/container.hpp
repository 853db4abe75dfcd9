// Container: what the fragments of a stream are. MPEG-TS is what every player of HLS knows; what players do not take from it
// (AV1, VP9, Opus, FLAC) goes into fragmented MP4 when `hls_use_fmp4 auto` leaves the choice to the stream. CodecWatch says which
// codecs a publisher sends, and so what its fragments have to be. Dry.
#pragma once

#include <cstdint>
#include <string>

#include "media/packet.hpp"
#include "service/hls/options.hpp"

namespace live::service::hls {

enum class Container : std::uint8_t { ts, fmp4 };

class CodecWatch {
public:
    // True when the packet is of another codec than its kind's packets before it. Known from the configuration on, and of codecs
    // without one from the first frame.
    bool note(const media::Packet& packet);

    // What these codecs need, as far as they are known.
    Container needs() const;
    // The codec of that kind when the container cannot carry it, else "".
    std::string left_out(media::Kind kind, Container container) const;

private:
    media::Codec video_ = media::Codec::none;
    media::Codec audio_ = media::Codec::none;
};

}  // namespace live::service::hls
