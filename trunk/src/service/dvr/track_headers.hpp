// TrackHeaders: the newest metadata and sequence headers that a recorder has read. Each file begins with them. `media::Tracks`
// has newer ones than those of the packets that the recorder reads: it is up to a poll interval behind the source.
#pragma once

#include <array>
#include <vector>

#include "media/ring/packet.hpp"

namespace live::service::dvr {

class TrackHeaders {
public:
    // `header` is metadata or a sequence header.
    void keep(const media::Packet& header) {
        if (!header.extra) {
            defaults_[index_of(header.kind)] = header;
            return;
        }
        std::erase_if(others_,
                      [&header](const media::Packet& known) { return known.kind == header.kind && known.track == header.track; });
        others_.push_back(header);
    }
    // Empty if it is missing.
    Bytes metadata() const { return defaults_[index_of(MediaKind::data)].payload.bytes(); }
    // Whether the default track of the kind has a header.
    bool has(MediaKind kind) const { return defaults_[index_of(kind)].is_config(); }
    // Calls `each` with the headers of audio and video, default tracks first.
    template <class Each>
    void for_each(Each&& each) const {
        for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
            if (has(kind))
                each(defaults_[index_of(kind)]);
        for (const media::Packet& header : others_)
            each(header);
    }

private:
    std::array<media::Packet, kMediaKindCount> defaults_;
    std::vector<media::Packet> others_;
};

}  // namespace live::service::dvr
