#include "engine/gb28181/media_receiver.hpp"

#include <utility>

namespace live::engine::gb28181 {

std::optional<std::uint32_t> ssrc_of(Bytes packet) {
    if (!wire::rtp::looks_like_rtp(packet) || wire::rtp::looks_like_rtcp(packet))
        return std::nullopt;
    const auto parsed = wire::rtp::parse_packet(packet, TcpFrames::kPacketBytesMax);
    return parsed.ok() ? std::optional(parsed->ssrc) : std::nullopt;
}

std::optional<wire::rtp::Packet> MediaReceiver::read_packet(Bytes bytes) {
    if (wire::rtp::looks_like_rtp(bytes) && wire::rtp::looks_like_rtcp(bytes))
        return std::nullopt;
    const auto packet = wire::rtp::parse_packet(bytes, TcpFrames::kPacketBytesMax);
    if (!packet.ok() || packet->ssrc != ssrc_) {
        ++counters_.foreign;
        return std::nullopt;
    }
    ++counters_.packets;
    counters_.bytes += bytes.size();
    return *packet;
}

void MediaReceiver::handle_datagram(TimePoint now, Bytes datagram) {
    const auto packet = read_packet(datagram);
    if (!packet)
        return;
    order_.push(now, packet->sequence, packet->marker, packet->payload);
    while (const auto payload = order_.next())
        feed(payload->bytes, payload->marker, payload->follows_gap);
}

void MediaReceiver::handle_tcp_packet(Bytes packet, bool follows_gap) {
    if (const auto read = read_packet(packet))
        feed(read->payload, read->marker, follows_gap);
}

void MediaReceiver::feed(Bytes payload, bool marker, bool follows_gap) {
    if (follows_gap)
        reader_.lose();
    reader_.feed(payload);
    if (marker)
        reader_.mark();
    collect();
}

void MediaReceiver::finish() {
    reader_.finish();
    collect();
}

// Configurations are always kept: players need them, and they are few.
void MediaReceiver::collect() {
    while (auto unit = reader_.next()) {
        const std::size_t bytes = unit->frame.data.size();
        if (waiting_bytes_ + bytes > kWaitingBytesMax && unit->frame.content == wire::codec::Content::frame) {
            ++counters_.left_out;
            continue;
        }
        waiting_bytes_ += bytes;
        waiting_.push_back(*std::move(unit));
    }
}

std::optional<wire::ps::PsReader::Unit> MediaReceiver::next() {
    if (waiting_.empty())
        return std::nullopt;
    auto unit = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= unit.frame.data.size();
    return unit;
}

}  // namespace live::engine::gb28181
