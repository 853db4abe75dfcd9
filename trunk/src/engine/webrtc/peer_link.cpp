#include "engine/webrtc/peer_link.hpp"

#include <array>
#include <vector>

#include "base/text/ascii.hpp"

namespace live::engine::webrtc {

namespace {

// A publisher's packets may be retransmitted long after their turn, under their own number if there is no RTX; so may ours.
constexpr unsigned long kWideReplayWindow = 1'024;

static_assert(PeerLink::kHeaderBytesMax + PeerLink::kPayloadBytesMax <= srtp::Session::kRtpBytesMax);

PeerTransport::Options transport_options(const SessionOptions& options, const PeerLink::Wants& wants) {
    const wire::sdp::Agreement& agreement = options.agreement;
    PeerTransport::Options made;
    made.peer = options.peer;
    if (!made.peer) {
        made.ice = options.ice;
        made.ice->remote_ufrag = agreement.remote_ufrag;
        made.ice->remote_pwd = agreement.remote_pwd;
    }
    made.dtls = options.dtls;
    made.dtls.role = agreement.setup == wire::sdp::SetupRole::active ? dtls::Role::client : dtls::Role::server;
    made.dtls.remote_algorithm = ascii::lowered(agreement.remote_fingerprint.algorithm);
    made.dtls.remote_fingerprint = agreement.remote_fingerprint.value;
    made.dtls_on = options.dtls_on;
    made.encrypt = options.encrypt;
    made.lends_handshake = options.lends_handshake;
    made.takes_rtp = wants.takes_rtp;
    made.after_handshake = wants.after_handshake;
    if (wants.replays_widely)
        made.replay_window = kWideReplayWindow;
    return made;
}

}  // namespace

Result<PeerLink> PeerLink::create(const dtls::Context& context, const SessionOptions& options, const Wants& wants,
                                  DatagramBatch& output, TimePoint now) {
    return PeerLink(TRY(PeerTransport::create(context, transport_options(options, wants), output, now)), options.shared, now);
}

Result<PeerTransport::Incoming> PeerLink::receive(MutBytes datagram, const TransportAddress& from) {
    const auto incoming = TRY(transport_->handle_datagram(now_, datagram, from));
    if (incoming.kind != PeerTransport::Incoming::Kind::nothing && shared_ != nullptr && shared_->tap != nullptr)
        shared_->tap(incoming.packet);
    return incoming;
}

bool PeerLink::count_and_admit(const wire::rtcp::Packet& packet) {
    using wire::rtcp::Type;
    if (shared_ == nullptr)
        return true;
    count_rtcp(shared_->in, packet);
    return !(shared_->skips_nack && packet.is(Type::transport_feedback, wire::rtcp::kNackFormat)) &&
           !(shared_->skips_arrivals && packet.is(Type::transport_feedback, wire::rtcp::kTransportWideFormat));
}

void PeerLink::show(Bytes head, Bytes payload) const {
    std::array<std::uint8_t, kHeaderBytesMax + kPayloadBytesMax> packet;
    copy_bytes(payload, copy_bytes(head, packet));
    shared_->tap(Bytes(packet).first(head.size() + payload.size()));
}

void PeerLink::send_rtcp(const rtp::RtcpOutput& out) {
    for (const ByteWriter& datagram : out.datagrams()) {
        std::vector<std::uint8_t> storage(datagram.size() + srtp::Session::kTrailerBytesMax);
        copy_bytes(datagram.written(), storage);
        if (shared_ != nullptr) {
            ++shared_->rtcp_out;
            if (shared_->tap != nullptr)
                shared_->tap(datagram.written());
            count_rtcp(shared_->out, datagram.written());
        }
        transport_->send_rtcp(storage, datagram.size());
    }
}

std::optional<TimePoint> PeerLink::next_timeout(std::optional<TimePoint> media) const {
    const auto next = transport_->next_timeout();
    if (!is_established() || !media)
        return next;
    return next ? std::min(*next, *media) : media;
}

void PeerLink::fill(SessionFigures& figures) const {
    const PeerTransport::Counters& counters = transport_->counters();
    figures.packets_out = counters.packets_out;
    figures.bytes_out = counters.bytes_out;
    figures.unknown_address = counters.unknown_address;
    figures.not_authentic = counters.not_authentic;
    figures.unwanted = counters.unwanted;
    figures.not_understood = not_understood_;
}

}  // namespace live::engine::webrtc
