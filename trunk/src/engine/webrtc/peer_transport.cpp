#include "engine/webrtc/peer_transport.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/dtls/records.hpp"
#include "engine/webrtc/datagram_kind.hpp"

namespace live::engine::webrtc {

namespace {}  // namespace

Result<std::unique_ptr<PeerTransport>> PeerTransport::create(const dtls::Context& context, Options options, DatagramBatch& output,
                                                             TimePoint now) {
    CHECK(options.ice.has_value() != options.peer.has_value());
    auto transport = std::make_unique<PeerTransport>(Private{}, context, std::move(options), output, now);
    if (transport->options_.peer)
        TRY(transport->begin(now));
    return transport;
}

PeerTransport::PeerTransport(Private, const dtls::Context& context, Options options, DatagramBatch& output, TimePoint now)
    : to_(options.peer), output_(output), context_(context), options_(std::move(options)) {
    if (options_.ice)
        ice_.emplace(*std::exchange(options_.ice, std::nullopt), now);
}

bool PeerTransport::is_checked(const TransportAddress& address) const {
    return ice_ ? ice_->is_checked(address) : options_.peer == address;
}

Result<PeerTransport::Incoming> PeerTransport::handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    if (state_ == State::closed)
        return Incoming{};
    const DatagramKind kind = kind_of(datagram);
    if (kind == DatagramKind::stun) {
        TRY(handle_stun(now, datagram, from));
        return Incoming{};
    }
    if (!is_checked(from)) {
        ++counters_.unknown_address;
        return Incoming{};
    }
    switch (kind) {
        case DatagramKind::dtls: TRY(handle_dtls(now, datagram)); break;
        case DatagramKind::rtp: return handle_media(now, datagram, Incoming::Kind::rtp);
        case DatagramKind::rtcp: return handle_media(now, datagram, Incoming::Kind::rtcp);
        case DatagramKind::stun:
        case DatagramKind::other: break;
    }
    return Incoming{};
}

Result<void> PeerTransport::handle_stun(TimePoint now, Bytes datagram, const TransportAddress& from) {
    const auto message = wire::stun::parse_message(datagram);
    if (!ice_ || !message.ok())
        return {};
    const auto reply = TRY(ice_->handle_stun(now, datagram, *message, from));
    if (!reply.bytes.empty())
        output_.append(from, reply.bytes);
    if (reply.outcome == ice::Agent::Outcome::ignored || reply.outcome == ice::Agent::Outcome::refused)
        return {};
    goodbye_.on_authentic(now);
    to_ = ice_->selected();
    TRY(begin(now));
    return look_at_ice(now);
}

Result<void> PeerTransport::look_at_ice(TimePoint now) {
    if (!ice_ || state_ == State::closed)
        return {};
    if (has_keys_ && !ice_->is_proved())
        ice_->require_proof(now);
    if (const auto check = TRY(ice_->poll(now)))
        output_.append(check->to, check->bytes);
    to_ = ice_->selected();
    if (has_keys_ && ice_->is_proved())
        state_ = State::established;
    return {};
}

// A session that no client connects to must not hold the memory of a handshake.
Result<void> PeerTransport::begin(TimePoint now) {
    if (std::exchange(has_begun_, true))
        return {};
    if (!options_.dtls_on) {
        has_keys_ = true;
        if (!ice_)
            state_ = State::established;
        return {};
    }
    dtls_ = TRY(dtls::Transport::create(context_, options_.dtls, now));
    return after_dtls(now, dtls_->start(now));
}

bool PeerTransport::lends_handshake() const {
    return options_.lends_handshake && options_.dtls.role == dtls::Role::server && holds_dtls() && !has_keys_;
}

Result<void> PeerTransport::handle_dtls(TimePoint now, Bytes datagram) {
    if (lends_handshake()) {
        keep_for_step(now, datagram);
        return {};
    }
    if (dtls_ == nullptr) {
        if (dtls::has_protected_record(datagram, dtls::RecordType::alert))
            goodbye_.on_alert(now);
        else if (last_flight_ && last_flight_->is_wanted(now, datagram))
            for (const auto& repeated : last_flight_->datagrams())
                send(repeated);
        return {};
    }
    Result<void> outcome = dtls_->handle_datagram(now, datagram);
    measure_round_trip(now, dtls_->state());
    return after_dtls(now, std::move(outcome));
}

void PeerTransport::keep_for_step(TimePoint now, Bytes datagram) {
    if (waiting_.size() >= kWaitingMax || waiting_bytes_ + datagram.size() > kWaitingBytesMax)
        return;
    waiting_.emplace_back(datagram.begin(), datagram.end());
    waiting_bytes_ += datagram.size();
    waiting_since_ = now;
}

std::unique_ptr<dtls::HandshakeStep> PeerTransport::take_step() {
    if (waiting_.empty() || dtls_ == nullptr || !lends_handshake())
        return nullptr;
    is_lent_ = true;
    waiting_bytes_ = 0;
    return std::make_unique<dtls::HandshakeStep>(
        std::move(dtls_), std::exchange(waiting_, {}), waiting_since_,
        dtls::HandshakeStep::Options{.exports_keys = options_.encrypt,
                                     .frees_transport = options_.after_handshake == AfterHandshake::free_dtls});
}

Result<void> PeerTransport::finish_step(TimePoint now, dtls::HandshakeStep& step) {
    is_lent_ = false;
    if (state_ == State::closed)
        return {};
    dtls_ = step.take_transport();
    if (dtls_ != nullptr)
        dtls_->set_time(now);
    auto progress = step.take_progress();
    measure_round_trip(step.arrived(), progress.state);
    TRY(after_progress(now, std::move(progress)));
    if (lends_handshake())
        return {};
    waiting_bytes_ = 0;
    for (const auto& datagram : std::exchange(waiting_, {}))
        if (state_ != State::closed)
            TRY(handle_dtls(now, datagram));
    return {};
}

// A client receives only answers. A server may receive the client's first flight again if the client's timer is shorter than the
// round trip; the answer to the server's own flight ends the handshake.
void PeerTransport::measure_round_trip(TimePoint arrived, dtls::Transport::State state) {
    const bool is_answer = options_.dtls.role == dtls::Role::client || state == dtls::Transport::State::established;
    if (is_answer && !has_keys_)
        flights_.note_answer(arrived);
}

Result<void> PeerTransport::after_dtls(TimePoint now, Result<void> outcome) {
    return after_progress(now, dtls_->take_progress(std::move(outcome), options_.encrypt && !has_keys_));
}

Result<void> PeerTransport::after_progress(TimePoint now, dtls::Transport::Progress progress) {
    using Dtls = dtls::Transport::State;
    send_flight(now, progress.flight);
    const bool is_through = progress.outcome.ok() && progress.state == Dtls::established && !has_keys_;
    if (is_through)
        progress.outcome = take_keys(now, progress.keys);
    if (!progress.outcome.ok()) {
        end(progress.outcome.error().sentence());
        return std::move(progress.outcome);
    }
    if (progress.state == Dtls::closed)
        end("close_notify");
    else if (is_through && options_.after_handshake == AfterHandshake::free_dtls)
        release_dtls(now, std::move(progress));
    return {};
}

Result<void> PeerTransport::take_keys(TimePoint now, const std::optional<Result<srtp::Keys>>& keys) {
    if (keys)
        srtp_ = TRY(
            srtp::Session::create(TRY(*keys), options_.replay_window,
                                  options_.takes_rtp ? srtp::Session::Receives::rtp_and_rtcp : srtp::Session::Receives::rtcp));
    has_keys_ = true;
    if (!ice_) {
        state_ = State::established;
        return {};
    }
    if (const auto to = flights_.only_destination())
        ice_->confirm(now, *to);
    return look_at_ice(now);
}

// On a client, the server's last flight has arrived, so nothing has to be repeated. A server's last flight is its Finished.
void PeerTransport::release_dtls(TimePoint now, dtls::Transport::Progress progress) {
    if (options_.dtls.role == dtls::Role::server && !dtls::LastFlight::may_keep(progress.flight.size()))
        return;
    goodbye_datagram_ = dtls_ != nullptr ? dtls_->write_goodbye() : std::move(progress.goodbye);
    if (options_.dtls.role == dtls::Role::server)
        last_flight_.emplace(std::move(progress.flight), now);
    dtls_.reset();
}

void PeerTransport::send_flight(TimePoint now, const Flight& datagrams) {
    if (!datagrams.empty())
        flights_.note_sent(now, has_keys_ ? std::nullopt : to_);
    for (const auto& datagram : datagrams)
        send(datagram);
}

PeerTransport::Incoming PeerTransport::handle_media(TimePoint now, MutBytes datagram, Incoming::Kind kind) {
    if (state_ != State::established)
        return {};
    if (kind == Incoming::Kind::rtp && !options_.takes_rtp) {
        ++counters_.unwanted;
        return {};
    }
    std::size_t bytes = datagram.size();
    if (srtp_ != nullptr) {
        const auto plain = kind == Incoming::Kind::rtp ? srtp_->unprotect_rtp(datagram) : srtp_->unprotect_rtcp(datagram);
        if (!plain.ok()) {
            ++(plain.code() == Errc::limit ? counters_.unwanted : counters_.not_authentic);
            return {};
        }
        bytes = *plain;
    }
    // A peer that sends authentic packets has the keys, and therefore our last flight.
    last_flight_.reset();
    goodbye_.on_authentic(now);
    return {kind, datagram.first(bytes)};
}

Result<void> PeerTransport::handle_timeout(TimePoint now) {
    if (state_ == State::closed)
        return {};
    if (ice_ && ice_->is_expired(now)) {
        end(has_keys_ && !ice_->is_proved() ? "the address did not answer our check" : "no check for too long");
        return {};
    }
    if (goodbye_.has_left(now)) {
        end("close_notify, and silence after it");
        return {};
    }
    TRY(look_at_ice(now));
    if (dtls_ != nullptr)
        return after_dtls(now, dtls_->handle_timeout(now));
    return {};
}

std::optional<TimePoint> PeerTransport::next_timeout() const {
    if (state_ == State::closed)
        return std::nullopt;
    std::optional<TimePoint> next = dtls_ != nullptr ? dtls_->next_timeout() : goodbye_.next_timeout();
    if (ice_)
        next = next ? std::min(*next, ice_->next_timeout()) : ice_->next_timeout();
    return next;
}

void PeerTransport::close(TimePoint now) {
    if (state_ == State::closed)
        return;
    if (dtls_ != nullptr) {
        dtls_->close();
        send_flight(now, dtls_->take_output());
    } else if (!goodbye_datagram_.empty()) {
        send(goodbye_datagram_);
    }
    end("closed by us");
}

void PeerTransport::send_rtp(Bytes head, Bytes payload) {
    if (state_ != State::established || !to_)
        return;
    std::size_t bytes = head.size() + payload.size();
    const MutBytes place = output_.place_for(bytes + srtp::Session::kTrailerBytesMax);
    if (place.empty())
        return;
    if (srtp_ != nullptr) {
        const auto sealed = srtp_->protect_rtp(place, head, payload);
        if (!sealed.ok())
            return;
        bytes = *sealed;
    } else {
        copy_bytes(payload, copy_bytes(head, place));
    }
    ++counters_.packets_out;
    counters_.bytes_out += bytes;
    output_.take_placed(*to_, bytes);
}

void PeerTransport::add_hot_lines(HotLines& lines) const {
    lines.add_range(srtp_, counters_);
    if (srtp_ != nullptr)
        srtp_->add_hot_lines(lines);
}

void PeerTransport::send_rtcp(MutBytes storage, std::size_t bytes) {
    if (state_ != State::established)
        return;
    if (srtp_ != nullptr) {
        const auto sealed = srtp_->protect_rtcp(storage, bytes);
        if (!sealed.ok())
            return;
        bytes = *sealed;
    }
    send(storage.first(bytes));
}

void PeerTransport::send(Bytes datagram) {
    if (to_)
        output_.append(*to_, datagram);
}

void PeerTransport::end(std::string reason) {
    state_ = State::closed;
    end_reason_ = std::move(reason);
    dtls_.reset();
    waiting_.clear();
}

}  // namespace live::engine::webrtc
