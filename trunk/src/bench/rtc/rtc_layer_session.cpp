#include "bench/rtc/rtc_layer_session.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "bench/rtc/rtc_offer.hpp"
#include "engine/rtp/sender_clock.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtp/packet.hpp"

namespace live::bench {

namespace {

constexpr std::uint32_t kTicksPerFrame = 90 * RtcLayerSession::kFrameInterval.count();
constexpr std::uint8_t kKeySlice = 0x65;  // H.264, table 7-1, with nal_ref_idc
constexpr std::uint8_t kSlice = 0x41;
constexpr std::uint32_t kFirstSsrc = 0x1A'0000;
constexpr std::uint32_t kTimestampApart = 123'456'789;  // each layer's timestamps begin elsewhere

}  // namespace

Result<std::unique_ptr<RtcLayerSession>> RtcLayerSession::create(const engine::dtls::Context& context,
                                                                 const engine::webrtc::SessionOptions& options,
                                                                 engine::webrtc::DatagramBatch& output, TimePoint now,
                                                                 const std::vector<std::uint64_t>& rates) {
    using enum engine::webrtc::PeerTransport::AfterHandshake;
    auto link = TRY(engine::webrtc::PeerLink::create(context, options, {.after_handshake = keep_dtls}, output, now));
    return std::make_unique<RtcLayerSession>(Private{}, std::move(link), options, rates);
}

RtcLayerSession::RtcLayerSession(Private, engine::webrtc::PeerLink link, const engine::webrtc::SessionOptions& options,
                                 const std::vector<std::uint64_t>& rates)
    : link_(std::move(link)) {
    for (const wire::sdp::Accepted& section : options.agreement.sections)
        payload_type_ = section.codec.payload_type;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(i + 1);
        layers_.push_back({.name = name_of(i),
                           .frame_bytes = static_cast<std::size_t>(rates[i] / 8 * kFrameInterval.count() / 1'000),
                           .ssrc = kFirstSsrc + number,
                           .first_timestamp = kTimestampApart * number});
    }
}

Result<void> RtcLayerSession::handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    link_.advance(now);
    const auto incoming = TRY(link_.receive(datagram, from));
    if (incoming.kind == engine::webrtc::PeerTransport::Incoming::Kind::rtcp)
        link_.read_rtcp(incoming.packet, [&](const wire::rtcp::Packet& packet) { return take_rtcp(packet); });
    return {};
}

Result<void> RtcLayerSession::take_rtcp(const wire::rtcp::Packet& packet) {
    if (packet.type != wire::rtcp::Type::payload_feedback || packet.count != wire::rtcp::kPliFormat)
        return {};
    const auto pli = TRY(wire::rtcp::parse_pli(packet));
    for (Layer& layer : layers_)
        layer.has_key_due = layer.has_key_due || layer.ssrc == pli.media_ssrc;
    return {};
}

Result<void> RtcLayerSession::handle_timeout(TimePoint now) {
    now = link_.advance(now);
    TRY(link_.transport().handle_timeout(now));
    if (next_report_ && now >= *next_report_)
        report(now);
    return {};
}

void RtcLayerSession::send_due(TimePoint now) {
    now = link_.advance(now);
    if (!link_.is_established())
        return;
    if (frames_ == 0)
        begin_ = next_frame_ = now;
    for (; next_frame_ <= now; next_frame_ += kFrameInterval) {
        for (Layer& layer : layers_)
            send_frame(layer);
        if (frames_++ == 0)
            report(now);
    }
}

std::uint32_t RtcLayerSession::timestamp_of(const Layer& layer) const { return layer.first_timestamp + frames_ * kTicksPerFrame; }

void RtcLayerSession::send_frame(Layer& layer) {
    const bool is_key = std::exchange(layer.has_key_due, false);
    key_frames_ += is_key ? 1 : 0;
    std::size_t rest = std::max<std::size_t>(layer.frame_bytes, 20) * (is_key ? kKeyFactor : 1);
    std::vector<std::uint8_t> payload(kPayloadBytes, 0x9A);
    payload[0] = is_key ? kKeySlice : kSlice;
    while (rest > 0) {
        const std::size_t size = std::min(rest, kPayloadBytes);
        rest -= size;
        wire::rtp::Packet packet;
        packet.marker = rest == 0;
        packet.payload_type = payload_type_;
        packet.sequence = layer.sequence++;
        packet.timestamp = timestamp_of(layer);
        packet.ssrc = layer.ssrc;
        ByteWriter header;
        write_header(header, packet, {{kRidExtension, 0, as_bytes(layer.name)}});
        link_.send_rtp(header.written(), Bytes(payload).first(size));
        ++layer.packets;
        layer.payload_bytes += static_cast<std::uint32_t>(size);
    }
}

// All layers are on one clock.
void RtcLayerSession::report(TimePoint now) {
    next_report_ = now + kReportInterval;
    engine::rtp::RtcpOutput out;
    for (const Layer& layer : layers_) {
        const auto since = std::chrono::duration_cast<std::chrono::microseconds>(now - begin_);
        wire::rtcp::SenderReport sent;
        sent.ssrc = layer.ssrc;
        sent.ntp = engine::rtp::to_ntp(std::chrono::hours(1) + since);
        sent.rtp_time = layer.first_timestamp + static_cast<std::uint32_t>(since.count() * 9 / 100);
        sent.packets = layer.packets;
        sent.payload_bytes = layer.payload_bytes;
        write(out.next(), sent);
    }
    link_.send_rtcp(out);
}

engine::webrtc::SessionFigures RtcLayerSession::figures() const {
    engine::webrtc::SessionFigures figures;
    link_.fill(figures);
    return figures;
}

}  // namespace live::bench
