#include "engine/webrtc/peer_transport.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/dtls/records.hpp"
#include "engine/webrtc/datagram_kind.hpp"

namespace live::engine::webrtc {

namespace {

constexpr std::chrono::microseconds kRoundTripMax = 1s;

}  // namespace

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

Result<void> PeerTransport::handle_dtls(TimePoint now, Bytes datagram) {
    if (dtls_ == nullptr) {
        if (dtls::has_protected_record(datagram, dtls::RecordType::alert))
            goodbye_.on_alert(now);
        else if (last_flight_ && last_flight_->is_wanted(now, datagram))
            send(last_flight_->datagram());
        return {};
    }
    Result<void> outcome = dtls_->handle_datagram(now, datagram);
    // A client receives only answers. A server may receive the client's first flight again if the client's timer is shorter than
    // the round trip; the answer to the server's own flight ends the handshake.
    const bool is_answer = options_.dtls.role == dtls::Role::client || dtls_->state() == dtls::Transport::State::established;
    if (is_answer && flight_sent_ && !has_keys_) {
        const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now - *flight_sent_);
        round_trip_ = std::min(passed, kRoundTripMax);
        flight_sent_.reset();
    }
    return after_dtls(now, std::move(outcome));
}

Result<void> PeerTransport::after_dtls(TimePoint now, Result<void> outcome) {
    Flight flight = flush_dtls(now);
    const dtls::Transport::State dtls = dtls_->state();
    const bool is_through = outcome.ok() && dtls == dtls::Transport::State::established && !has_keys_;
    if (is_through)
        outcome = take_keys(now);
    if (!outcome.ok()) {
        end(outcome.error().sentence());
        return outcome;
    }
    if (dtls == dtls::Transport::State::closed)
        end("close_notify");
    else if (is_through && options_.after_handshake == AfterHandshake::free_dtls)
        let_dtls_go(now, std::move(flight));
    return {};
}

Result<void> PeerTransport::take_keys(TimePoint now) {
    if (options_.encrypt)
        srtp_ = TRY(srtp::Session::create(TRY(dtls_->export_keys()), options_.replay_window));
    has_keys_ = true;
    if (!ice_) {
        state_ = State::established;
        return {};
    }
    if (handshake_to_ && !handshake_moved_)
        ice_->confirm(now, *handshake_to_);
    return look_at_ice(now);
}

// On a client, the server's last flight has arrived, so nothing has to be repeated. A server's last flight is its Finished, alone
// in a datagram.
void PeerTransport::let_dtls_go(TimePoint now, Flight flight) {
    if (options_.dtls.role == dtls::Role::server && flight.size() != 1)
        return;
    if (options_.dtls.role == dtls::Role::server)
        last_flight_.emplace(std::move(flight.front()), now);
    dtls_.reset();
}

PeerTransport::Flight PeerTransport::flush_dtls(TimePoint now) {
    Flight datagrams = dtls_->take_output();
    // Measured for the first flight only: for later ones it is unknown which flight was answered.
    if (!datagrams.empty() && !flight_sent_ && !round_trip_)
        flight_sent_ = now;
    if (!datagrams.empty() && to_ && !has_keys_)
        handshake_moved_ |= std::exchange(handshake_to_, to_).value_or(*to_) != *to_;
    for (const auto& datagram : datagrams)
        send(datagram);
    return datagrams;
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
        flush_dtls(now);
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
        std::ranges::copy(payload, std::ranges::copy(head, place.begin()).out);
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
}

}  // namespace live::engine::webrtc
