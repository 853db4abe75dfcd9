#include "wire/rtp_payload/audio.hpp"

#include <algorithm>

namespace live::wire::rtp_payload {

void packetize_g711(Bytes samples, PayloadList& out) {
    while (!samples.empty()) {
        const Bytes packet = samples.first(std::min(kG711PacketBytes, samples.size()));
        out.append(packet);
        out.end_payload();
        samples = samples.subspan(packet.size());
    }
}

}  // namespace live::wire::rtp_payload
