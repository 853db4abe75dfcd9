#include "engine/ice/client.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "engine/crypto/hmac_sha1.hpp"

namespace live::engine::ice {

namespace {

// RFC 8445, 5.1.2.1, for a peer reflexive candidate of component 1.
constexpr std::uint32_t kPriority = (110U << 24) | (65'535U << 8) | 255U;
constexpr std::uint64_t kTieBreaker = 1;

}  // namespace

Client::Client(Options options, TimePoint now)
    : options_(std::move(options)), next_check_(now), received_at_(now), retry_(options_.first_retry) {}

Result<std::optional<std::vector<std::uint8_t>>> Client::poll(TimePoint now) {
    if (now < next_check_)
        return std::optional<std::vector<std::uint8_t>>{};
    if (RAND_bytes(transaction_.data(), static_cast<int>(transaction_.size())) != 1)
        return Error(Errc::system, "ICE: no random numbers");
    is_waiting_ = true;
    next_check_ = now + retry_;
    retry_ = std::min(retry_ * 2, options_.retry_max);
    wire::stun::MessageWriter out(wire::stun::Kind::request, transaction_);
    out.username(options_.remote_ufrag + ":" + options_.local_ufrag);
    out.ice_controlling(kTieBreaker).use_candidate().priority(kPriority);
    TRY(out.sign(as_bytes(options_.remote_pwd), crypto::hmac_sha1));
    out.fingerprint();
    return std::optional(out.release());
}

Result<std::vector<std::uint8_t>> Client::answer(Bytes datagram, const wire::stun::Message& message,
                                                 const TransportAddress& from) const {
    const Bytes key = as_bytes(options_.local_pwd);
    if (key.empty() || message.kind != wire::stun::Kind::request || from != options_.remote ||
        !TRY(wire::stun::has_integrity(datagram, message, key, crypto::hmac_sha1)))
        return std::vector<std::uint8_t>{};
    wire::stun::MessageWriter out(wire::stun::Kind::success, message.transaction);
    out.xor_mapped_address(from);
    TRY(out.sign(key, crypto::hmac_sha1));
    out.fingerprint();
    return out.release();
}

Result<bool> Client::handle_stun(TimePoint now, Bytes datagram, const wire::stun::Message& message,
                                 const TransportAddress& from) {
    if (!is_waiting_ || message.kind != wire::stun::Kind::success || message.transaction != transaction_ ||
        from != options_.remote)
        return false;
    if (!TRY(wire::stun::has_integrity(datagram, message, as_bytes(options_.remote_pwd), crypto::hmac_sha1)))
        return false;
    is_waiting_ = false;
    is_connected_ = true;
    received_at_ = now;
    mapped_ = message.xor_mapped_address;
    retry_ = options_.first_retry;
    next_check_ = now + options_.keep_alive;
    return true;
}

}  // namespace live::engine::ice
