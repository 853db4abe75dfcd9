#include "session/rtc/session_peer.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/pause.hpp"
#include "session/limits/handshake_room.hpp"

namespace live::session::rtc {

SessionPeer::SessionPeer(Context& context, ClientRequest request, RtcOptions options, std::string ufrag, std::string token)
    : Peer(std::move(ufrag)),
      context_(context),
      request_(std::move(request)),
      options_(std::move(options)),
      token_(std::move(token)),
      log_(context.log.with_id(request_.id)),
      entry_(context.clients, *this),
      begun_(io::now()),
      last_received_(begun_) {
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, redacted(request_.param));
}

SessionPeer::~SessionPeer() { CHECK(!stay_); }

void SessionPeer::take(ConnectionLimits::Place place) {
    place_.emplace(std::move(place));
    place_->set_bytes(sizeof(SessionPeer));
}

void SessionPeer::begin(std::unique_ptr<engine::webrtc::Session> session, const std::string& remote_ufrag, TimePoint now) {
    session_id_ = ufrag() + ":" + remote_ufrag;
    begun_ = last_received_ = now;
    session_ = std::move(session);
    stay_.emplace(entry_, plan_, begun_);
}

void SessionPeer::end(Error why) {
    if (end_)
        return;
    end_.emplace(std::move(why));
    over_since_ = io::now();
    context_.port.retire(*this);
}

void SessionPeer::finish() {
    if (session_ == nullptr)
        return;
    session_->close(io::now());
    if (!stay_)
        return;
    Error why = end_.value_or(Error(Errc::cancelled, "the server stops"));
    // A client that leaves before it has connected counts as failed, however cleanly it leaves.
    if (!is_established_ && why.code() == Errc::closed)
        why = Error(Errc::timed_out, "never connected: " + why.sentence());
    const auto figures = session_->figures();
    LOG_INFO(log_,
             "{} ends, url={}, received={} packets, sent={}, dropped={}, lost={}, requested again={}, received again={}. "
             "reason=\"{}\"",
             name_of(request_.kind), plan_.url, figures.packets_in, figures.packets_out, dropped_, figures.lost, figures.nacked,
             figures.repaired, why.sentence());
    stay_->end(why);
    stay_.reset();
}

void SessionPeer::take_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    if (end_ || session_ == nullptr)
        return;
    if (is_checked(from))
        last_received_ = now;
    const auto taken = session_->handle_datagram(now, datagram, from);
    if (!taken.ok()) {
        end(taken.error());
        return;
    }
    if (!has_come_ && is_checked(from)) {
        has_come_ = true;
        if (const auto arrived = place_ ? place_->arrive(now) : Result<void>(); !arrived.ok())
            return end(arrived.error());
    }
    drain(now);
    look_at_state(now);
}

void SessionPeer::start_step(TimePoint now) {
    if (end_ || session_ == nullptr)
        return;
    auto step = session_->take_step();
    if (step == nullptr)
        return;
    if (const auto room = check_handshake_room(context_.places, request_.ip, now); !room.ok())
        return end(room.error());
    auto run = HandshakeRun::start(
        std::move(step), [this] { context_.port.add_stepped(*this); }, handshake_party(context_.places, request_.ip));
    if (!run.ok())
        return end(run.error());
    run_ = *std::move(run);
}

void SessionPeer::finish_step(TimePoint now) {
    const auto step = run_->take();
    run_.reset();
    if (end_)
        return;
    const auto finished = session_->finish_step(now, *step);
    if (!finished.ok())
        return end(finished.error());
    drain(now);
    look_at_state(now);
}

void SessionPeer::on_due(TimePoint now) {
    if (end_ || session_ == nullptr)
        return;
    context_.port.touch(*this);
    const auto looked = session_->handle_timeout(now);
    if (!looked.ok()) {
        end(looked.error());
        return;
    }
    drain(now);
    look_at_state(now);
    if (end_)
        return;
    if (const auto over = limit(); !over || now < *over)
        return;
    if (is_established_)
        end(Error(Errc::timed_out, fmt::format("nothing was received from the client for {} s",
                                               std::chrono::duration_cast<std::chrono::seconds>(now - last_received_).count())));
    else
        end(Error(Errc::timed_out,
                  session_->selected() ? "the DTLS handshake took too long" : "no connectivity check came in time"));
}

std::optional<TimePoint> SessionPeer::limit() const {
    if (!is_established_)
        return io::silence_from(begun_) + kConnectLimit;
    if (const auto silence = silence_max())
        return io::silence_from(last_received_) + *silence;
    return std::nullopt;
}

void SessionPeer::look_at_state(TimePoint now) {
    using State = engine::webrtc::Session::State;
    if (end_)
        return;
    const State state = session_->state();
    if (state == State::closed) {
        end(Error(Errc::closed, std::string(session_->end_reason())));
        return;
    }
    if (state != State::established || std::exchange(is_established_, true))
        return;
    LOG_INFO(log_, "RTC: session established after {} ms, url={}, session={}",
             std::chrono::duration_cast<std::chrono::milliseconds>(now - begun_).count(), plan_.url, session_id_);
    on_established(now);
}

std::optional<TimePoint> SessionPeer::next_timeout() const {
    const auto over = limit();
    const auto due = session_ == nullptr ? std::nullopt : session_->next_timeout();
    return over && due ? std::min(*over, *due) : over ? over : due;
}

ClientFigures SessionPeer::figures() const {
    ClientFigures figures;
    if (session_ == nullptr)
        return figures;
    const auto used = session_->figures();
    figures.received_bytes = used.bytes_in;
    figures.sent_bytes = used.bytes_out;
    figures.delivered_packets = used.packets_out;
    figures.dropped_packets = dropped_;
    return figures;
}

}  // namespace live::session::rtc
