#include "session/mpegts/rtp_order.hpp"

#include "wire/rtp/packet.hpp"

namespace live::session::mpegts {

namespace {

// If several consecutive packets have numbers this far away, the sender has restarted its numbering.
constexpr unsigned kStraysMax = 3;
constexpr std::int32_t kFar = 1'000;

}  // namespace

std::optional<Bytes> RtpOrder::payload_of(Bytes datagram) {
    // The version of RTP. A transport packet begins with another one, and the parser's error for each datagram costs time.
    if (datagram.empty() || datagram[0] >> 6 != 2)
        return std::nullopt;
    const auto packet = wire::rtp::parse_packet(datagram);
    return packet.ok() && packet->payload_type == kPayloadType ? std::optional(packet->payload) : std::nullopt;
}

void RtpOrder::reset(std::uint16_t sequence, std::uint32_t ssrc) {
    for (Slot& one : slots_)
        one = {};
    if (ssrc_)
        ++counters_.resets;
    ssrc_ = ssrc;
    next_ = sequence;
    held_ = 0;
    strays_ = 0;
}

void RtpOrder::release(std::vector<std::uint8_t>& out) {
    while (held_ > 0 && slot(next_).full) {
        Slot& first = slot(next_);
        out.insert(out.end(), first.payload.begin(), first.payload.end());
        first = {};
        --held_;
        ++next_;
    }
}

void RtpOrder::push(Bytes datagram, std::vector<std::uint8_t>& out) {
    const auto packet = wire::rtp::parse_packet(datagram);
    if (!packet.ok() || packet->payload_type != kPayloadType)
        return;
    if (ssrc_ != packet->ssrc)
        reset(packet->sequence, packet->ssrc);
    const auto ahead = static_cast<std::int16_t>(static_cast<std::uint16_t>(packet->sequence - next_));
    if ((ahead > kFar || ahead < -kFar) && ++strays_ >= kStraysMax)
        return reset(packet->sequence, packet->ssrc), push(datagram, out);
    if (ahead > kFar)
        return;
    if (ahead < 0) {
        ++counters_.late;
        return;
    }
    strays_ = 0;
    // Packets before the window count as lost.
    for (auto left = static_cast<std::size_t>(ahead); left >= kWindow; --left) {
        Slot& first = slot(next_);
        if (first.full) {
            out.insert(out.end(), first.payload.begin(), first.payload.end());
            --held_;
        } else {
            ++counters_.lost;
        }
        first = {};
        ++next_;
    }
    Slot& place = slot(packet->sequence);
    if (place.full) {
        ++counters_.late;
        return;
    }
    place.full = true;
    place.payload.assign(packet->payload.begin(), packet->payload.end());
    ++held_;
    release(out);
}

}  // namespace live::session::mpegts
