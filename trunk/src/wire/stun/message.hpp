// STUN messages (RFC 8489) with the attributes of ICE (RFC 8445, 7.1), both directions. The HMAC of MESSAGE-INTEGRITY is passed
// in as a function: only the engine room may call the crypto library. Messages are handled in engine/ice/agent.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"

namespace live::wire::stun {

inline constexpr std::uint32_t kMagicCookie = 0x2112A442;
inline constexpr std::size_t kHeaderBytes = 20;
inline constexpr std::size_t kMessageBytesMax = 1'500;  // one datagram; ICE messages are never longer
inline constexpr std::size_t kAttributesMax = 32;
inline constexpr std::size_t kUsernameBytesMax = 513;  // RFC 8489, 14.3
inline constexpr std::uint16_t kBinding = 1;

using TransactionId = std::array<std::uint8_t, 12>;
using IntegrityTag = std::array<std::uint8_t, 20>;
// HMAC-SHA1.
using Hmac = Result<IntegrityTag> (*)(Bytes key, Bytes data);

enum class Kind : std::uint8_t { request, indication, success, error };

struct ErrorCode {
    std::uint16_t code = 0;  // 300 to 699
    std::string_view reason;

    bool operator==(const ErrorCode&) const = default;
};

// Borrows from the datagram. The first of duplicate attributes counts (RFC 8489, 14); after MESSAGE-INTEGRITY only FINGERPRINT is
// read (14.5).
struct Message {
    Kind kind{};
    std::uint16_t method = kBinding;
    TransactionId transaction{};
    std::optional<std::string_view> username;
    std::optional<TransportAddress> xor_mapped_address;
    std::optional<std::uint32_t> priority;
    std::optional<std::uint64_t> ice_controlling;  // the tie breaker
    std::optional<std::uint64_t> ice_controlled;
    std::optional<ErrorCode> error;
    std::optional<std::string_view> software;
    std::vector<std::uint16_t> unknown_attributes;  // from UNKNOWN-ATTRIBUTES: attributes the peer does not support
    std::vector<std::uint16_t> not_understood;      // unsupported types below 0x8000: RFC 8489, 6.3.1 requires a 420
    bool use_candidate = false;
    bool has_fingerprint = false;  // present and valid
    std::size_t integrity_at = 0;  // offset of MESSAGE-INTEGRITY in the datagram; 0: absent
};

// True when the first bytes can only be STUN (RFC 7983); call parse_message only then.
bool looks_like_stun(Bytes datagram);

// Parses one message that fills the datagram. Errc::need_more when truncated, Errc::malformed (also for a wrong FINGERPRINT),
// Errc::limit for more than kMessageBytesMax or kAttributesMax.
Result<Message> parse_message(Bytes datagram);

// Whether MESSAGE-INTEGRITY is present and valid under this key. The comparison takes constant time. Errc::system from `hmac`.
Result<bool> has_integrity(Bytes datagram, const Message& message, Bytes key, Hmac hmac);

// Writes one message. Attributes are written in call order; sign() and fingerprint() must be last, in this order.
class MessageWriter {
public:
    MessageWriter(Kind kind, const TransactionId& transaction, std::uint16_t method = kBinding);

    // At most kUsernameBytesMax bytes.
    MessageWriter& username(std::string_view name);
    MessageWriter& xor_mapped_address(const TransportAddress& address);
    MessageWriter& priority(std::uint32_t value);
    MessageWriter& use_candidate();
    MessageWriter& ice_controlling(std::uint64_t tie_breaker);
    MessageWriter& ice_controlled(std::uint64_t tie_breaker);
    MessageWriter& error(const ErrorCode& error);
    MessageWriter& unknown_attributes(const std::vector<std::uint16_t>& types);
    MessageWriter& software(std::string_view text);
    // MESSAGE-INTEGRITY. Errc::system from `hmac`.
    Result<void> sign(Bytes key, Hmac hmac);
    MessageWriter& fingerprint();

    std::vector<std::uint8_t> release() { return out_.release(); }

private:
    void attribute(std::uint16_t type, Bytes value);
    // Sets the header's length to its value once `more` bytes are added.
    void set_length(std::size_t more);

    ByteWriter out_;
    TransactionId transaction_;
    std::uint16_t type_;
};

}  // namespace live::wire::stun
