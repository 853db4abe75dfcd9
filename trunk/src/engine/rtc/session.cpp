#include "engine/rtc/session.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "engine/rtc/media_receiver.hpp"
#include "engine/rtc/media_sender.hpp"
#include "engine/rtc/peer_transport.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::engine::rtc {

using wire::sdp::Purpose;

namespace {

// A publisher's packets may come again long after their turn, under their own number where there is no RTX; so may those of ours.
constexpr unsigned long kWideReplayWindow = 1'024;

using HeadStorage = std::array<std::uint8_t, OutgoingTrack::kHeaderBytesMax>;
static_assert(OutgoingTrack::kHeaderBytesMax + Session::kPayloadBytesMax <= SrtpSession::kRtpBytesMax);

void show(PlainTap& tap, Bytes head, Bytes payload) {
    std::array<std::uint8_t, OutgoingTrack::kHeaderBytesMax + Session::kPayloadBytesMax> packet;
    std::ranges::copy(payload, std::ranges::copy(head, packet.begin()).out);
    tap.on_plain(Bytes(packet).first(head.size() + payload.size()));
}

bool has_rtx(const wire::sdp::Agreement& agreement) {
    return std::ranges::all_of(agreement.sections, [](const auto& section) { return section.rtx_payload_type.has_value(); });
}

PeerTransport::Options transport_options(const SessionOptions& options) {
    const wire::sdp::Agreement& agreement = options.agreement;
    PeerTransport::Options made;
    made.peer = options.peer;
    if (!made.peer) {
        made.ice = options.ice;
        made.ice->remote_ufrag = agreement.remote_ufrag;
        made.ice->remote_pwd = agreement.remote_pwd;
    }
    made.dtls = options.dtls;
    made.dtls.role = agreement.setup == wire::sdp::SetupRole::active ? DtlsRole::client : DtlsRole::server;
    made.dtls.remote_algorithm = ascii::lowered(agreement.remote_fingerprint.algorithm);
    made.dtls.remote_fingerprint = agreement.remote_fingerprint.value;
    made.dtls_on = options.dtls_on;
    made.encrypt = options.encrypt;
    made.decrypts_media = !options.headers_only;
    made.takes_rtp = options.purpose == Purpose::publish;
    // Publishers are few, and that one has gone should be noticed at once.
    if ((options.purpose == Purpose::play || options.headers_only) && !options.keeps_dtls)
        made.after_handshake = PeerTransport::AfterHandshake::free_dtls;
    if (options.purpose == Purpose::publish || !has_rtx(agreement))
        made.replay_window = kWideReplayWindow;
    return made;
}

std::uint32_t first_of(const SessionOptions& options) {
    for (const std::uint32_t ssrc : {options.audio_ssrc, options.video_ssrc})
        if (ssrc != 0)
            return ssrc;
    return 1;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(const DtlsContext& context, SessionOptions options, DatagramBatch& output,
                                                 TimePoint now) {
    auto transport = TRY(PeerTransport::create(context, transport_options(options), output, now));
    return std::make_unique<Session>(Private{}, std::move(transport), options, now);
}

Session::Session(Private, std::unique_ptr<PeerTransport> transport, const SessionOptions& options, TimePoint now)
    : transport_(std::move(transport)), shared_(options.shared), now_(now) {
    if (options.purpose == Purpose::publish) {
        const MediaReceiver::Options receiver{.ssrc = first_of(options),
                                              .nack = options.nack,
                                              .twcc = options.twcc,
                                              .drop_payload_type = options.drop_payload_type,
                                              .headers_only = options.headers_only};
        receiver_ = std::make_unique<MediaReceiver>(receiver, options.agreement, options.offer);
    } else {
        const MediaSender::Options sender{.audio = {options.audio_ssrc, options.audio_rtx_ssrc},
                                          .video = {options.video_ssrc, options.video_rtx_ssrc},
                                          .cname = options.cname,
                                          .nack = options.nack,
                                          .twcc = options.twcc,
                                          .bandwidth = options.bandwidth};
        sender_ = std::make_unique<MediaSender>(sender, options.agreement, now);
    }
}

Session::~Session() = default;

Result<void> Session::handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    now_ = std::max(now_, now);
    const auto incoming = TRY(transport_->handle_datagram(now_, datagram, from));
    if (receiver_ != nullptr && !is_established_ && state() == State::established) {
        is_established_ = true;
        if (const auto round_trip = transport_->round_trip())
            receiver_->set_round_trip(*round_trip);
    }
    if (incoming.kind != PeerTransport::Incoming::Kind::nothing && shared_ != nullptr && shared_->tap != nullptr)
        shared_->tap->on_plain(incoming.packet);
    if (incoming.kind == PeerTransport::Incoming::Kind::rtcp)
        handle_rtcp(now_, incoming.packet);
    else if (incoming.kind == PeerTransport::Incoming::Kind::rtp && receiver_ != nullptr)
        not_understood_ += receiver_->handle_rtp(now_, incoming.packet, datagram.size()) ? 0 : 1;
    return {};
}

void Session::handle_rtcp(TimePoint now, Bytes datagram) {
    wire::rtcp::PacketReader reader(datagram);
    for (;;) {
        const auto packet = reader.next();
        if (packet.ok() && !*packet)
            return;
        const auto taken = packet.ok() ? take_rtcp(now, **packet) : Result<void>(Error(packet.error()));
        // What follows a broken packet begins nobody knows where.
        if (!taken.ok()) {
            ++not_understood_;
            return;
        }
    }
}

Result<void> Session::take_rtcp(TimePoint now, const wire::rtcp::Packet& packet) {
    using wire::rtcp::Type;
    if (shared_ != nullptr) {
        count_rtcp(shared_->in, packet);
        if ((shared_->skips_nack && packet.is(Type::transport_feedback, wire::rtcp::kNackFormat)) ||
            (shared_->skips_arrivals && packet.is(Type::transport_feedback, wire::rtcp::kTransportWideFormat)))
            return {};
    }
    return receiver_ != nullptr ? receiver_->handle_rtcp(now, packet) : sender_->handle_rtcp(now, packet);
}

Result<void> Session::handle_timeout(TimePoint now) {
    now_ = std::max(now_, now);
    TRY(transport_->handle_timeout(now_));
    if (state() != State::established)
        return {};
    RtcpOutput out;
    if (receiver_ != nullptr)
        receiver_->handle_timeout(
            now_, out,
            shared_ == nullptr ? MediaReceiver::Skip{} : MediaReceiver::Skip{shared_->skips_nack, shared_->skips_arrivals});
    else
        sender_->handle_timeout(now_, out);
    send_rtcp(out);
    return {};
}

void Session::send_rtcp(const RtcpOutput& out) {
    for (const ByteWriter& datagram : out.datagrams()) {
        std::vector<std::uint8_t> storage(datagram.size() + SrtpSession::kTrailerBytesMax);
        std::ranges::copy(datagram.written(), storage.begin());
        if (shared_ != nullptr) {
            ++shared_->rtcp_out;
            if (shared_->tap != nullptr)
                shared_->tap->on_plain(datagram.written());
            count_rtcp(shared_->out, datagram.written());
        }
        transport_->send_rtcp(storage, datagram.size());
    }
}

std::optional<TimePoint> Session::next_timeout() const {
    auto next = transport_->next_timeout();
    if (state() != State::established)
        return next;
    const auto media = receiver_ != nullptr ? receiver_->next_timeout() : sender_->next_timeout();
    if (next && media)
        return std::min(*next, *media);
    return next ? next : media;
}

void Session::close(TimePoint now) {
    now_ = std::max(now_, now);
    if (sender_ != nullptr) {
        RtcpOutput out;
        sender_->write_goodbye(out);
        send_rtcp(out);
    }
    transport_->close(now_);
}

Session::State Session::state() const {
    switch (transport_->state()) {
        case PeerTransport::State::connecting: return State::connecting;
        case PeerTransport::State::established: return State::established;
        case PeerTransport::State::closed: break;
    }
    return State::closed;
}

std::string_view Session::end_reason() const { return transport_->end_reason(); }
std::optional<TransportAddress> Session::selected() const { return transport_->selected(); }
bool Session::is_checked(const TransportAddress& address) const { return transport_->is_checked(address); }
bool Session::holds_dtls() const { return transport_->holds_dtls(); }

std::optional<MediaPacket> Session::poll_media() {
    if (receiver_ == nullptr)
        return std::nullopt;
    return receiver_->poll(now_);
}

std::optional<std::chrono::microseconds> Session::ntp_of(Kind kind, std::uint32_t timestamp) const {
    if (receiver_ == nullptr)
        return std::nullopt;
    return receiver_->time_of(kind, timestamp);
}

void Session::request_key_frame(TimePoint now) {
    now_ = std::max(now_, now);
    if (receiver_ != nullptr)
        receiver_->request_key_frame();
}

void Session::limit_layers(std::optional<std::uint64_t> bits_per_second) {
    if (receiver_ != nullptr)
        receiver_->limit_layers(bits_per_second);
}

bool Session::has_ended(Kind kind) const { return receiver_ != nullptr && receiver_->has_ended(kind); }

bool Session::may_send(TimePoint now, Kind kind) {
    return sender_ != nullptr && state() == State::established && sender_->may_send(now, kind);
}

std::optional<TimePoint> Session::next_send(TimePoint now) {
    if (sender_ == nullptr || state() != State::established)
        return std::nullopt;
    return sender_->next_send(now);
}

void Session::send(TimePoint now, Kind kind, const LaneHeader& header, Bytes payload) {
    if (sender_ == nullptr || state() != State::established || payload.size() > kPayloadBytesMax)
        return;
    HeadStorage storage;
    if (const auto head = sender_->write_first(storage, now, kind, header, payload.size()))
        send_packet(Bytes(storage).first(*head), payload);
}

void Session::resend(TimePoint now, Kind kind, const LaneHeader& header, Bytes payload) {
    if (sender_ == nullptr || state() != State::established || payload.size() > kPayloadBytesMax)
        return;
    HeadStorage storage;
    if (const auto head = sender_->write_again(storage, now, kind, header, payload.size())) {
        if (shared_ != nullptr)
            ++shared_->resent;
        send_packet(Bytes(storage).first(*head), payload);
    }
}

void Session::send_packet(Bytes head, Bytes payload) {
    if (shared_ != nullptr) {
        ++shared_->rtp_out;
        if (shared_->tap != nullptr)
            show(*shared_->tap, head, payload);
    }
    transport_->send_rtp(head, payload);
}

bool Session::take_key_frame_request() { return sender_ != nullptr && sender_->take_key_request(); }

std::vector<std::pair<Kind, std::uint16_t>> Session::take_nacks() {
    if (sender_ == nullptr)
        return {};
    return sender_->take_nacks();
}

std::uint64_t Session::estimated_rate() const { return sender_ != nullptr ? sender_->estimated_rate() : 0; }

std::optional<std::uint64_t> Session::link_limit(TimePoint now) const {
    return sender_ != nullptr ? sender_->link_limit(now) : std::nullopt;
}

std::size_t Session::bytes() const {
    return sizeof *this + sizeof *transport_ + (receiver_ != nullptr ? receiver_->bytes() : 0) +
           (sender_ != nullptr ? sender_->bytes() : 0);
}

void Session::add_hot_lines(HotLines& lines) const {
    lines.add(this, sizeof *this);
    transport_->add_hot_lines(lines);
    if (sender_ != nullptr)
        sender_->add_hot_lines(lines);
}

SessionFigures Session::figures() const {
    SessionFigures figures;
    if (receiver_ != nullptr)
        receiver_->fill(figures);
    else
        sender_->fill(figures);
    const PeerTransport::Counters& counters = transport_->counters();
    figures.packets_out = counters.packets_out;
    figures.bytes_out = counters.bytes_out;
    figures.unknown_address = counters.unknown_address;
    figures.not_authentic = counters.not_authentic;
    figures.unwanted = counters.unwanted;
    figures.not_understood = not_understood_;
    return figures;
}

}  // namespace live::engine::rtc
