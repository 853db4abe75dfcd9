// Translates an SDP agreement for the parts that handle only RTP.
#pragma once

#include "engine/rtp/media_types.hpp"
#include "wire/sdp/answer.hpp"

namespace live::engine::webrtc {

// The negotiated features the session uses.
struct Repairs {
    bool nack = true;
    bool twcc = true;
};

inline rtp::TrackFormat track_format(const wire::sdp::Accepted& accepted, const Repairs& repairs) {
    return {.kind = accepted.kind,
            .mid = accepted.mid,
            .codec = accepted.codec.name,
            .payload_type = accepted.codec.payload_type,
            .clock_rate = accepted.codec.clock_rate,
            .rtx_payload_type = accepted.rtx_payload_type,
            .has_nack = repairs.nack && accepted.codec.has_feedback("nack"),
            .transport_wide_id = repairs.twcc ? accepted.transport_wide_id : std::uint8_t{0},
            .mid_id = accepted.mid_id,
            .rid_id = accepted.rid_id,
            .repaired_rid_id = accepted.repaired_rid_id,
            .layers = accepted.layers};
}

}  // namespace live::engine::webrtc
