#include "engine/srt/handshake/connection_setup.hpp"

#include <algorithm>

namespace live::engine::srt {

namespace {

constexpr std::uint32_t kLastVersion4 = 0x01'02'00;

std::uint16_t delay_of(std::chrono::milliseconds value) {
    return static_cast<std::uint16_t>(std::clamp<std::int64_t>(value.count(), 0, 0xFFFF));
}

}  // namespace

Capabilities own_capabilities(const ConnectionOptions& options) {
    Capabilities ours;
    ours.flags = flag::kCrypt | flag::kPeriodicNak | flag::kRetransmitFlag;
    if (options.tsbpd)
        ours.flags |= flag::kTsbpdSend | flag::kTsbpdReceive;
    if (options.too_late_drop)
        ours.flags |= flag::kTooLateDrop;
    ours.receiver_delay_ms = delay_of(options.receive_latency);
    ours.sender_delay_ms = delay_of(options.peer_latency);
    return ours;
}

Capabilities own_capabilities_4(const ConnectionOptions& options, std::chrono::milliseconds latency) {
    Capabilities ours = own_capabilities(options);
    ours.version = kLastVersion4;
    ours.flags &= ~flag::kPeriodicNak;
    ours.receiver_delay_ms = 0;
    ours.sender_delay_ms = delay_of(latency);
    return ours;
}

}  // namespace live::engine::srt
