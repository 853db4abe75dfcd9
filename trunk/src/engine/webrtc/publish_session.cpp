#include "engine/webrtc/publish_session.hpp"

#include <utility>

namespace live::engine::webrtc {

namespace {

std::uint32_t first_of(const SessionOptions& options) {
    for (const std::uint32_t ssrc : {options.audio_ssrc, options.video_ssrc})
        if (ssrc != 0)
            return ssrc;
    return 1;
}

MediaReceiver::Options receiver_options(const SessionOptions& options) {
    return {
        .ssrc = first_of(options), .nack = options.nack, .twcc = options.twcc, .drop_payload_type = options.drop_payload_type};
}

}  // namespace

// Publishers are few, and a disconnect should be detected at once, so the DTLS object is kept.
Result<std::unique_ptr<PublishSession>> PublishSession::create(const dtls::Context& context, const SessionOptions& options,
                                                               DatagramBatch& output, TimePoint now) {
    auto link = TRY(PeerLink::create(context, options, {.replays_widely = true}, output, now));
    return std::make_unique<PublishSession>(Private{}, std::move(link), options);
}

PublishSession::PublishSession(Private, PeerLink link, const SessionOptions& options)
    : link_(std::move(link)), receiver_(receiver_options(options), options.agreement, options.offer) {}

Result<void> PublishSession::handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    using Incoming = PeerTransport::Incoming::Kind;
    now = link_.advance(now);
    const auto incoming = TRY(link_.receive(datagram, from));
    look_at_state();
    if (incoming.kind == Incoming::rtcp)
        link_.read_rtcp(incoming.packet, [&](const wire::rtcp::Packet& packet) { return receiver_.handle_rtcp(now, packet); });
    else if (incoming.kind == Incoming::rtp && !receiver_.handle_rtp(now, incoming.packet, datagram.size()))
        link_.count_not_understood();
    return {};
}

Result<void> PublishSession::finish_step(TimePoint now, dtls::HandshakeStep& step) {
    TRY(link_.transport().finish_step(link_.advance(now), step));
    look_at_state();
    return {};
}

void PublishSession::look_at_state() {
    if (is_established_ || !link_.is_established())
        return;
    is_established_ = true;
    if (const auto round_trip = link_.transport().round_trip())
        receiver_.set_round_trip(*round_trip);
}

Result<void> PublishSession::handle_timeout(TimePoint now) {
    now = link_.advance(now);
    TRY(link_.transport().handle_timeout(now));
    if (!link_.is_established())
        return {};
    rtp::RtcpOutput out;
    const SharedState* const shared = link_.shared();
    receiver_.handle_timeout(
        now, out, shared == nullptr ? MediaReceiver::Skip{} : MediaReceiver::Skip{shared->skips_nack, shared->skips_arrivals});
    link_.send_rtcp(out);
    return {};
}

std::vector<rtp::LayerState> PublishSession::layer_states(TimePoint now) const {
    const rtp::IncomingTrack* const video = receiver_.layered();
    return video == nullptr ? std::vector<rtp::LayerState>() : video->layer_states(now);
}

void PublishSession::want_layer(std::size_t layer, bool is_wanted) {
    if (rtp::IncomingTrack* const video = receiver_.layered(); video != nullptr)
        video->want_layer(layer, is_wanted);
}

void PublishSession::request_layer_key_frame(TimePoint now, std::size_t layer) {
    link_.advance(now);
    if (rtp::IncomingTrack* const video = receiver_.layered(); video != nullptr)
        video->want_layer_key(layer);
}

std::optional<rtp::LayerPacket> PublishSession::poll_layer() {
    rtp::IncomingTrack* const video = receiver_.layered();
    return video == nullptr ? std::nullopt : video->poll_layer(link_.now());
}

SessionFigures PublishSession::figures() const {
    SessionFigures figures;
    receiver_.fill(figures);
    link_.fill(figures);
    return figures;
}

}  // namespace live::engine::webrtc
