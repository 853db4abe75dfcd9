#include "engine/rtsp/track_receiver.hpp"

#include "wire/rtcp/report.hpp"
#include "wire/rtp/packet.hpp"

namespace live::engine::rtsp {

namespace rtcp = wire::rtcp;

bool TrackReceiver::admit(TimePoint now, std::uint32_t ssrc) {
    if (stream_ && stream_->ssrc() == ssrc) {
        strangers_ = 0;
        return true;
    }
    if (stream_ && ++strangers_ < kStrangersMax)
        return false;
    if (stream_)
        lost_before_ += stream_->given_up();
    // The numbers leave a gap, so that a frame of the previous stream ends.
    base_ = newest_ + 2;
    strangers_ = 0;
    stream_.emplace(rtp::ReceiveStream::Options{.ssrc = ssrc, .clock_rate = clock_rate_, .rid = {}}, now);
    return true;
}

std::optional<TrackReceiver::Packet> TrackReceiver::handle_rtp(TimePoint now, Bytes datagram) {
    const auto packet = wire::rtp::parse_packet(datagram, kPacketBytesMax);
    rtp::ReceiveStream::Received received;
    if (packet.ok() && packet->payload_type == payload_type_ && admit(now, packet->ssrc))
        received = stream_->receive_in_order(now, *packet, datagram.size());
    if (!received.is_accepted) {
        ++counters_.ignored;
        return std::nullopt;
    }
    ++counters_.packets;
    if (!received.popped)
        return std::nullopt;
    Packet next = number(*received.popped, packet->timestamp, packet->marker, now);
    next.payload = packet->payload;
    return next;
}

// Cameras send reports with odd lengths and other SSRCs: never a reason to end.
void TrackReceiver::handle_rtcp(TimePoint now, Bytes datagram) {
    rtcp::PacketReader reader(datagram);
    for (auto packet = reader.next(); packet.ok() && *packet; packet = reader.next()) {
        if ((*packet)->type != rtcp::Type::sender_report)
            continue;
        const auto report = rtcp::parse_sender_report(**packet);
        if (!report.ok())
            return;
        if (!stream_)
            admit(now, report->ssrc);
        if (report->ssrc == stream_->ssrc())
            stream_->clock.reported(now, *report);
    }
}

std::optional<TrackReceiver::Packet> TrackReceiver::pop(TimePoint now) {
    if (!stream_)
        return std::nullopt;
    auto ordered = stream_->pop(now);
    if (!ordered)
        return std::nullopt;
    Packet packet = number(ordered->sequence, ordered->timestamp, ordered->marker, ordered->arrived);
    packet.memory = std::move(ordered->payload);
    packet.payload = packet.memory.bytes();
    return packet;
}

TrackReceiver::Packet TrackReceiver::number(std::uint64_t sequence, std::uint32_t timestamp, bool marker, TimePoint arrived) {
    static_cast<void>(stream_->gap_before(sequence));
    if (stream_->take_restart())
        base_ = newest_ + 2;
    newest_ = std::max(newest_, base_ + sequence);
    return {.sequence = base_ + sequence,
            .timestamp = timestamp,
            .marker = marker,
            .payload = {},
            .memory = {},
            .arrived = arrived,
            .reported = stream_->clock.time_of(timestamp)};
}

std::optional<TimePoint> TrackReceiver::next_timeout() const { return stream_ ? stream_->next_pop() : std::nullopt; }

void TrackReceiver::write_report(TimePoint now, std::uint32_t own_ssrc, std::string_view cname, ByteWriter& out) {
    if (!stream_)
        return;
    rtcp::write(out, rtcp::ReceiverReport{own_ssrc, {stream_->report(now)}});
    rtcp::write(out, rtcp::SourceName{own_ssrc, cname});
}

TrackReceiver::Counters TrackReceiver::counters() const {
    Counters counters = counters_;
    counters.lost = lost_before_ + (stream_ ? stream_->given_up() : 0);
    return counters;
}

}  // namespace live::engine::rtsp
