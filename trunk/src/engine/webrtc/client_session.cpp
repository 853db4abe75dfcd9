#include "engine/webrtc/client_session.hpp"

#include <algorithm>
#include <utility>

#include "engine/webrtc/datagram_kind.hpp"

namespace live::engine::webrtc {

ClientSession::ClientSession(const dtls::Context& context, Options options, DatagramBatch& output, TimePoint now)
    : context_(context),
      options_(std::move(options.session)),
      make_(std::move(options.make)),
      output_(output),
      ice_(std::move(options.ice), now) {}

Result<void> ClientSession::handle_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) {
    if (kind_of(datagram) == DatagramKind::stun)
        return handle_stun(now, datagram, from);
    if (session_ == nullptr)
        return {};
    return session_->handle_datagram(now, datagram, from);
}

Result<void> ClientSession::handle_stun(TimePoint now, Bytes datagram, const TransportAddress& from) {
    const auto message = wire::stun::parse_message(datagram);
    if (message.ok())
        if (const auto answer = TRY(ice_.answer(datagram, *message, from)); !answer.empty())
            output_.append(from, answer);
    if (!message.ok() || !TRY(ice_.handle_stun(now, datagram, *message, from)) || session_ != nullptr)
        return {};
    options_.peer = ice_.remote();
    options_.keeps_dtls = true;
    session_ = TRY(make_(context_, std::exchange(options_, {}), output_, now));
    return {};
}

Result<void> ClientSession::handle_timeout(TimePoint now) {
    if (ice_.is_expired(now))
        return Error(Errc::timed_out, "ICE: the server does not answer");
    if (const auto check = TRY(ice_.poll(now)))
        output_.append(ice_.remote(), *check);
    if (session_ == nullptr)
        return {};
    return session_->handle_timeout(now);
}

std::optional<TimePoint> ClientSession::next_timeout() const {
    const auto session = session_ != nullptr ? session_->next_timeout() : std::nullopt;
    return session ? std::min(*session, ice_.next_timeout()) : ice_.next_timeout();
}

void ClientSession::close(TimePoint now) {
    if (session_ != nullptr)
        session_->close(now);
}

}  // namespace live::engine::webrtc
