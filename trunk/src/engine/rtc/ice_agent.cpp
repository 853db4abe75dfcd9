#include "engine/rtc/ice_agent.hpp"

#include <algorithm>

#include "engine/rtc/hmac_sha1.hpp"

namespace live::engine::rtc {

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

Result<bool> IceAgent::is_proved(Bytes datagram, const Message& message) const {
    // RFC 8445, 7.1.2 wants a fingerprint in every check; beside other protocols on one port it is what tells them apart.
    if (!message.has_fingerprint || !message.username)
        return false;
    if (*message.username != options_.local_ufrag + ":" + options_.remote_ufrag)
        return false;
    return wire::stun::has_integrity(datagram, message, as_bytes(options_.local_pwd), hmac_sha1);
}

Result<IceAgent::Reply> IceAgent::handle_stun(TimePoint now, Bytes datagram, const Message& message,
                                              const TransportAddress& from) {
    if (message.kind == StunKind::indication || message.kind != StunKind::request || message.method != wire::stun::kBinding)
        return Reply{};
    // A stranger gets no answer at all: even an error would tell it that the session exists.
    if (!TRY(is_proved(datagram, message)))
        return Reply{};
    if (!message.not_understood.empty())
        return refuse(message, 420, "Unknown Attribute");
    if (options_.is_strict && (message.ice_controlled || !message.ice_controlling))
        return refuse(message, 487, "Role Conflict");
    heard_ = now;
    Outcome outcome = remember(now, from);
    if (message.use_candidate && nominated_ != from) {
        nominated_ = from;
        outcome = Outcome::nominated;
    }
    return answer(message, from, outcome);
}

IceAgent::Outcome IceAgent::remember(TimePoint now, const TransportAddress& from) {
    const auto known = std::ranges::find(checked_, from, &Checked::address);
    if (known != checked_.end()) {
        known->heard = now;
        return Outcome::answered;
    }
    if (checked_.size() == kAddressesMax) {
        auto oldest = checked_.end();
        for (auto it = checked_.begin(); it != checked_.end(); ++it)
            if (nominated_ != it->address && (oldest == checked_.end() || it->heard < oldest->heard))
                oldest = it;
        checked_.erase(oldest);
    }
    checked_.push_back({from, now});
    return Outcome::newly_checked;
}

Result<IceAgent::Reply> IceAgent::answer(const Message& message, const TransportAddress& from, Outcome outcome) const {
    MessageWriter out(StunKind::success, message.transaction);
    out.xor_mapped_address(from);
    TRY(out.sign(as_bytes(options_.local_pwd), hmac_sha1));
    out.fingerprint();
    return Reply{outcome, out.release()};
}

Result<IceAgent::Reply> IceAgent::refuse(const Message& message, std::uint16_t code, std::string_view reason) const {
    MessageWriter out(StunKind::error, message.transaction);
    out.error({code, reason});
    if (!message.not_understood.empty())
        out.unknown_attributes(message.not_understood);
    TRY(out.sign(as_bytes(options_.local_pwd), hmac_sha1));
    out.fingerprint();
    return Reply{Outcome::refused, out.release()};
}

bool IceAgent::is_checked(const TransportAddress& address) const {
    return std::ranges::find(checked_, address, &Checked::address) != checked_.end();
}

std::optional<TransportAddress> IceAgent::selected() const {
    if (nominated_)
        return nominated_;
    if (checked_.empty())
        return std::nullopt;
    return checked_.front().address;
}

}  // namespace live::engine::rtc
