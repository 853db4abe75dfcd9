#include "engine/ice/agent.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "engine/crypto/hmac_sha1.hpp"

namespace live::engine::ice {

using StunKind = wire::stun::Kind;
using wire::stun::Message;
using wire::stun::MessageWriter;

std::optional<std::string_view> local_ufrag_of(const Message& message) {
    if (message.kind != StunKind::request || message.method != wire::stun::kBinding || !message.username)
        return std::nullopt;
    const std::size_t colon = message.username->find(':');
    if (colon == std::string_view::npos || colon == 0)
        return std::nullopt;
    return message.username->substr(0, colon);
}

Result<bool> Agent::knows_password(Bytes datagram, const Message& message) const {
    // RFC 8445, 7.1.2 requires a fingerprint in every check; it distinguishes checks from other protocols on the same port.
    if (!message.has_fingerprint || !message.username)
        return false;
    if (*message.username != options_.local_ufrag + ":" + options_.remote_ufrag)
        return false;
    return wire::stun::has_integrity(datagram, message, as_bytes(options_.local_pwd), crypto::hmac_sha1);
}

Result<Agent::Reply> Agent::handle_stun(TimePoint now, Bytes datagram, const Message& message, const TransportAddress& from) {
    if (message.method != wire::stun::kBinding)
        return Reply{};
    if (message.kind == StunKind::success)
        return take_answer(now, datagram, message, from);
    if (message.kind != StunKind::request)
        return Reply{};
    // A check without the password gets no answer at all: even an error would reveal that the session exists.
    if (!TRY(knows_password(datagram, message)))
        return Reply{};
    if (!message.not_understood.empty())
        return refuse(message, 420, "Unknown Attribute");
    if (options_.is_strict && (message.ice_controlled || !message.ice_controlling))
        return refuse(message, 487, "Role Conflict");
    if (!proved_ || proved_ == from)
        received_at_ = now;
    Outcome outcome = remember(now, from);
    if (message.use_candidate) {
        if (std::exchange(nominated_, from) != from)
            outcome = Outcome::nominated;
        if (proved_ == from)
            asked_.reset();
        else if (proved_)
            ask(now, from);
    }
    if (proof_until_ && selected() == from)
        ask(now, from);
    return answer(message, from, outcome);
}

Result<Agent::Reply> Agent::take_answer(TimePoint now, Bytes datagram, const Message& message, const TransportAddress& from) {
    if (!asked_ || asked_->to != from || asked_->transaction != message.transaction ||
        !TRY(wire::stun::has_integrity(datagram, message, as_bytes(options_.remote_pwd), crypto::hmac_sha1)))
        return Reply{};
    confirm(now, from);
    return Reply{Outcome::proved, {}};
}

void Agent::confirm(TimePoint now, const TransportAddress& address) {
    proved_ = address;
    proof_until_.reset();
    asked_.reset();
    received_at_ = now;
    if (nominated_ && nominated_ != proved_)
        ask(now, *nominated_);
}

void Agent::require_proof(TimePoint now) {
    if (proved_ || proof_until_)
        return;
    proof_until_ = now + kProofTime;
    if (const auto to = selected())
        ask(now, *to);
}

void Agent::ask(TimePoint now, const TransportAddress& to) {
    if (!is_asking() || asked_->to != to)
        asked_ = Asked{.to = to, .next = now};
}

Result<std::optional<Agent::OwnCheck>> Agent::poll(TimePoint now) {
    // RFC 8445, 5.1.2.1, for a host candidate of component 1.
    constexpr std::uint32_t kHostPriority = (126U << 24) | (65'535U << 8) | 255U;
    if (!is_asking() || now < asked_->next)
        return std::optional<OwnCheck>{};
    if (asked_->sent == 0 && RAND_bytes(asked_->transaction.data(), static_cast<int>(asked_->transaction.size())) != 1)
        return Error(Errc::system, "ICE: no random numbers");
    asked_->next = now + kOwnCheckRetry * (1U << asked_->sent);
    ++asked_->sent;
    MessageWriter out(StunKind::request, asked_->transaction);
    out.username(options_.remote_ufrag + ":" + options_.local_ufrag);
    out.ice_controlled(0).priority(kHostPriority);
    TRY(out.sign(as_bytes(options_.remote_pwd), crypto::hmac_sha1));
    out.fingerprint();
    return std::optional(OwnCheck{asked_->to, out.release()});
}

TimePoint Agent::expiry() const {
    const TimePoint silent = received_at_ + options_.timeout;
    return proof_until_ ? std::min(silent, *proof_until_) : silent;
}

TimePoint Agent::next_timeout() const { return is_asking() ? std::min(asked_->next, expiry()) : expiry(); }

Agent::Outcome Agent::remember(TimePoint now, const TransportAddress& from) {
    const auto known = std::ranges::find(checked_, from, &Checked::address);
    if (known != checked_.end()) {
        known->received_at = now;
        return Outcome::answered;
    }
    if (checked_.size() == kAddressesMax) {
        auto oldest = checked_.end();
        for (auto it = checked_.begin(); it != checked_.end(); ++it)
            if (nominated_ != it->address && proved_ != it->address &&
                (oldest == checked_.end() || it->received_at < oldest->received_at))
                oldest = it;
        checked_.erase(oldest);
    }
    checked_.push_back({from, now});
    return Outcome::newly_checked;
}

Result<Agent::Reply> Agent::answer(const Message& message, const TransportAddress& from, Outcome outcome) const {
    MessageWriter out(StunKind::success, message.transaction);
    out.xor_mapped_address(from);
    TRY(out.sign(as_bytes(options_.local_pwd), crypto::hmac_sha1));
    out.fingerprint();
    return Reply{outcome, out.release()};
}

Result<Agent::Reply> Agent::refuse(const Message& message, std::uint16_t code, std::string_view reason) const {
    MessageWriter out(StunKind::error, message.transaction);
    out.error({code, reason});
    if (!message.not_understood.empty())
        out.unknown_attributes(message.not_understood);
    TRY(out.sign(as_bytes(options_.local_pwd), crypto::hmac_sha1));
    out.fingerprint();
    return Reply{Outcome::refused, out.release()};
}

bool Agent::is_checked(const TransportAddress& address) const {
    return std::ranges::find(checked_, address, &Checked::address) != checked_.end();
}

std::optional<TransportAddress> Agent::selected() const {
    if (proved_)
        return proved_;
    if (nominated_)
        return nominated_;
    if (checked_.empty())
        return std::nullopt;
    return checked_.front().address;
}

}  // namespace live::engine::ice
