#include "engine/srt/connection_setup.hpp"

#include <algorithm>

namespace live::engine::srt {

Capabilities own_capabilities(const ConnectionOptions& options) {
    Capabilities ours;
    ours.flags = flag::kCrypt | flag::kPeriodicNak | flag::kRetransmitFlag;
    if (options.tsbpd)
        ours.flags |= flag::kTsbpdSend | flag::kTsbpdReceive;
    if (options.too_late_drop)
        ours.flags |= flag::kTooLateDrop;
    const auto delay = [](std::chrono::milliseconds value) {
        return static_cast<std::uint16_t>(std::clamp<std::int64_t>(value.count(), 0, 0xFFFF));
    };
    ours.receiver_delay_ms = delay(options.receive_latency);
    ours.sender_delay_ms = delay(options.peer_latency);
    return ours;
}

}  // namespace live::engine::srt
