#include "engine/webrtc/play_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace live::engine::webrtc {

namespace {

using HeadStorage = std::array<std::uint8_t, PeerLink::kHeaderBytesMax>;
static_assert(PeerLink::kHeaderBytesMax >= rtp::OutgoingTrack::kHeaderBytesMax);

bool has_rtx(const wire::sdp::Agreement& agreement) {
    return std::ranges::all_of(agreement.sections, [](const auto& section) { return section.rtx_payload_type.has_value(); });
}

MediaSender::Options sender_options(const SessionOptions& options) {
    return {.audio = {options.audio_ssrc, options.audio_rtx_ssrc},
            .video = {options.video_ssrc, options.video_rtx_ssrc},
            .cname = options.cname,
            .nack = options.nack,
            .twcc = options.twcc,
            .bandwidth = options.bandwidth};
}

}  // namespace

Result<std::unique_ptr<PlaySession>> PlaySession::create(const dtls::Context& context, const SessionOptions& options,
                                                         DatagramBatch& output, TimePoint now) {
    using enum PeerTransport::AfterHandshake;
    const PeerLink::Wants wants{.takes_rtp = false,
                                .after_handshake = options.keeps_dtls ? keep_dtls : free_dtls,
                                .replays_widely = !has_rtx(options.agreement)};
    auto link = TRY(PeerLink::create(context, options, wants, output, now));
    return std::make_unique<PlaySession>(Private{}, std::move(link), options);
}

PlaySession::PlaySession(Private, PeerLink link, const SessionOptions& options)
    : link_(std::move(link)), sender_(sender_options(options), options.agreement, link_.now()) {}

Result<void> PlaySession::handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    now = link_.advance(now);
    const auto incoming = TRY(link_.receive(datagram, from));
    if (incoming.kind == PeerTransport::Incoming::Kind::rtcp)
        link_.read_rtcp(incoming.packet, [&](const wire::rtcp::Packet& packet) { return sender_.handle_rtcp(now, packet); });
    return {};
}

Result<void> PlaySession::handle_timeout(TimePoint now) {
    now = link_.advance(now);
    TRY(link_.transport().handle_timeout(now));
    if (!link_.is_established())
        return {};
    rtp::RtcpOutput out;
    sender_.handle_timeout(now, out);
    link_.send_rtcp(out);
    return {};
}

void PlaySession::close(TimePoint now) {
    now = link_.advance(now);
    rtp::RtcpOutput out;
    sender_.write_goodbye(out);
    link_.send_rtcp(out);
    link_.transport().close(now);
}

void PlaySession::send(TimePoint now, MediaKind kind, const rtp::RtpLogHeader& header, Bytes payload) {
    if (!link_.is_established() || payload.size() > kPayloadBytesMax)
        return;
    HeadStorage storage;
    if (const auto head = sender_.write_first(storage, now, kind, header, payload.size()))
        link_.send_rtp(Bytes(storage).first(*head), payload);
}

void PlaySession::resend(TimePoint now, MediaKind kind, const rtp::RtpLogHeader& header, Bytes payload) {
    if (!link_.is_established() || payload.size() > kPayloadBytesMax)
        return;
    HeadStorage storage;
    if (const auto head = sender_.write_again(storage, now, kind, header, payload.size())) {
        if (link_.shared() != nullptr)
            ++link_.shared()->resent;
        link_.send_rtp(Bytes(storage).first(*head), payload);
    }
}

bool PlaySession::pad(TimePoint now, const rtp::RtpLogHeader& header, Bytes payload) {
    HeadStorage storage;
    const auto head =
        payload.size() > kPayloadBytesMax ? std::nullopt : sender_.write_padding(storage, now, header, payload.size());
    if (!head)
        return false;
    if (link_.shared() != nullptr)
        link_.shared()->padded_bytes += *head + payload.size();
    link_.send_rtp(Bytes(storage).first(*head), payload);
    return true;
}

SessionFigures PlaySession::figures() const {
    SessionFigures figures;
    sender_.fill(figures);
    link_.fill(figures);
    return figures;
}

void PlaySession::add_hot_lines(HotLines& lines) const {
    lines.add(&link_, sizeof link_);
    link_.add_hot_lines(lines);
    sender_.add_hot_lines(lines);
}

}  // namespace live::engine::webrtc
