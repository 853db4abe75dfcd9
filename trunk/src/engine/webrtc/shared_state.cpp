#include "engine/webrtc/shared_state.hpp"

#include "wire/rtcp/report.hpp"

namespace live::engine::webrtc {

using wire::rtcp::Type;

void count_rtcp(RtcpCounts& counts, const wire::rtcp::Packet& packet) {
    if (packet.type == Type::receiver_report) {
        ++counts.receiver_reports;
    } else if (packet.type == Type::payload_feedback) {
        if (packet.count == wire::rtcp::kPliFormat || packet.count == wire::rtcp::kFirFormat)
            ++counts.key_requests;
    } else if (packet.is(Type::transport_feedback, wire::rtcp::kTransportWideFormat)) {
        ++counts.arrival_reports;
    } else if (packet.is(Type::transport_feedback, wire::rtcp::kNackFormat)) {
        if (const auto nack = wire::rtcp::parse_nack(packet); nack.ok())
            counts.nacked += nack->sequences.size();
    }
}

void count_rtcp(RtcpCounts& counts, Bytes datagram) {
    wire::rtcp::PacketReader reader(datagram);
    for (auto packet = reader.next(); packet.ok() && *packet; packet = reader.next())
        count_rtcp(counts, **packet);
}

}  // namespace live::engine::webrtc
