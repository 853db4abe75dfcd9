#include "bench/rtc/rtc_watch_session.hpp"

#include <algorithm>

#include "engine/webrtc/datagram_kind.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtcp/transport_feedback.hpp"

namespace live::bench {

using engine::rtp::ReceiveStream;
using engine::webrtc::PeerLink;

namespace {

constexpr std::uint32_t kOurSsrc = 1;

}  // namespace

Result<std::unique_ptr<RtcWatchSession>> RtcWatchSession::create(const engine::dtls::Context& context,
                                                                 const engine::webrtc::SessionOptions& options,
                                                                 engine::webrtc::DatagramBatch& output, TimePoint now) {
    using enum engine::webrtc::PeerTransport::AfterHandshake;
    auto link = TRY(PeerLink::create(context, options, {.after_handshake = free_dtls}, output, now));
    return std::make_unique<RtcWatchSession>(Private{}, std::move(link), options);
}

RtcWatchSession::RtcWatchSession(Private, PeerLink link, const engine::webrtc::SessionOptions& options) : link_(std::move(link)) {
    for (const wire::sdp::Accepted& section : options.agreement.sections) {
        tracks_.push_back({section.codec.payload_type, {section.codec.clock_rate, false}});
        if (options.twcc && transport_wide_id_ == 0)
            transport_wide_id_ = section.transport_wide_id;
    }
}

// RTP stays as received; everything else goes to the transport.
Result<void> RtcWatchSession::handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    now = link_.advance(now);
    if (engine::webrtc::kind_of(datagram) == engine::webrtc::DatagramKind::rtp) {
        if (link_.is_established() && is_checked(from))
            take_rtp(now, datagram);
        return {};
    }
    const auto incoming = TRY(link_.receive(datagram, from));
    if (incoming.kind == engine::webrtc::PeerTransport::Incoming::Kind::rtcp)
        link_.read_rtcp(incoming.packet, [&](const wire::rtcp::Packet& packet) { return take_rtcp(now, packet); });
    return {};
}

void RtcWatchSession::take_rtp(TimePoint now, Bytes datagram) {
    const auto packet = wire::rtp::parse_packet(datagram);
    if (!packet.ok())
        return link_.count_not_understood();
    if (transport_wide_id_ != 0)
        if (const auto number = wire::rtp::find_extension(*packet, transport_wide_id_); number && number->value.size() == 2)
            arrivals_.received(now, static_cast<std::uint16_t>(number->value[0] << 8 | number->value[1]));
    Stream* const stream = stream_of(now, *packet);
    if (stream == nullptr)
        return link_.count_not_understood();
    ++packets_;
    bytes_ += datagram.size();
    if (!next_report_)
        next_report_ = now + kReportInterval;
    media_ssrc_ = packet->ssrc;
    if (!stream->receive(now, *packet, ReceiveStream::Origin::stream, ReceiveStream::Use::watch, datagram.size()))
        link_.count_not_understood();
}

RtcWatchSession::Stream* RtcWatchSession::find(std::uint32_t ssrc) const {
    for (const Track& track : tracks_)
        if (Stream* const stream = track.streams.find(ssrc); stream != nullptr)
            return stream;
    return nullptr;
}

RtcWatchSession::Stream* RtcWatchSession::stream_of(TimePoint now, const wire::rtp::Packet& packet) {
    if (Stream* const known = find(packet.ssrc); known != nullptr)
        return known;
    const auto track = std::ranges::find(tracks_, packet.payload_type, &Track::payload_type);
    if (track == tracks_.end())
        return nullptr;
    if (const Stream* const surplus = track->streams.surplus(nullptr); surplus != nullptr)
        track->streams.remove(*surplus);
    return &track->streams.add(now, packet.ssrc, {}, std::chrono::microseconds(0));
}

Result<void> RtcWatchSession::take_rtcp(TimePoint now, const wire::rtcp::Packet& packet) {
    if (packet.type != wire::rtcp::Type::sender_report)
        return {};
    const auto report = TRY(wire::rtcp::parse_sender_report(packet));
    if (Stream* const stream = find(report.ssrc); stream != nullptr)
        stream->clock.reported(now, report);
    return {};
}

Result<void> RtcWatchSession::handle_timeout(TimePoint now) {
    now = link_.advance(now);
    TRY(link_.transport().handle_timeout(now));
    if (!link_.is_established())
        return {};
    engine::rtp::RtcpOutput out;
    if (next_report_ && now >= *next_report_) {
        next_report_ = now + kReportInterval;
        wire::rtcp::ReceiverReport report{kOurSsrc, {}};
        for (const Track& track : tracks_)
            track.streams.for_each([&](Stream& stream) { report.blocks.push_back(stream.report(now)); });
        write(out.next(), report);
    }
    while (const auto feedback = arrivals_.poll(now, kOurSsrc, media_ssrc_))
        write(out.next(), *feedback);
    link_.send_rtcp(out);
    return {};
}

std::optional<TimePoint> RtcWatchSession::next_timeout() const {
    const auto arrivals = arrivals_.next_timeout();
    return link_.next_timeout(next_report_ && arrivals ? std::min(*next_report_, *arrivals)
                                                       : (next_report_ ? next_report_ : arrivals));
}

engine::webrtc::SessionFigures RtcWatchSession::figures() const {
    engine::webrtc::SessionFigures figures;
    link_.fill(figures);
    figures.packets_in = packets_;
    figures.bytes_in = bytes_;
    std::int64_t lost = 0;
    for (const Track& track : tracks_)
        lost += track.streams.lost();
    figures.lost = static_cast<std::uint64_t>(std::max<std::int64_t>(0, lost));
    return figures;
}

}  // namespace live::bench
