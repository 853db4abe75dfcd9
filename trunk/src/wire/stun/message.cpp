#include "wire/stun/message.hpp"

#include <algorithm>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/stun/crc32.hpp"

namespace live::wire::stun {

namespace {

// RFC 8489, 18.3 and RFC 8445, 16.1.
enum Attribute : std::uint16_t {
    kUsername = 0x0006,
    kMessageIntegrity = 0x0008,
    kErrorCode = 0x0009,
    kUnknownAttributes = 0x000A,
    kXorMappedAddress = 0x0020,
    kPriority = 0x0024,
    kUseCandidate = 0x0025,
    kSoftware = 0x8022,
    kFingerprint = 0x8028,
    kIceControlled = 0x8029,
    kIceControlling = 0x802A,
};

constexpr std::size_t kAttributeHeadBytes = 4;
constexpr std::size_t kFingerprintBytes = kAttributeHeadBytes + 4;
constexpr std::size_t kIntegrityBytes = kAttributeHeadBytes + 20;
constexpr std::uint32_t kFingerprintMask = 0x5354554E;
constexpr std::size_t kSoftwareBytesMax = 763;
constexpr std::uint16_t kOptionalFrom = 0x8000;
constexpr std::uint8_t kFamilyIpv4 = 1;
constexpr std::uint8_t kFamilyIpv6 = 2;

// A type's 14 bits are the method's 12 with the two class bits interleaved (RFC 8489, 5).
std::uint16_t type_of(Kind kind, std::uint16_t method) {
    const unsigned bits = static_cast<unsigned>(kind);
    return static_cast<std::uint16_t>((method & 0xFU) | (method & 0x70U) << 1 | (method & 0xF80U) << 2 | (bits & 1U) << 4 |
                                      (bits & 2U) << 7);
}
Kind kind_of(std::uint16_t type) { return static_cast<Kind>((type >> 4 & 1U) | (type >> 7 & 2U)); }
std::uint16_t method_of(std::uint16_t type) {
    return static_cast<std::uint16_t>((type & 0xFU) | (type >> 1 & 0x70U) | (type >> 2 & 0xF80U));
}

Error bad(const char* what) { return {Errc::malformed, std::string("STUN: ") + what}; }

// RFC 8489, 14.2: the port is XORed with the cookie, the address with the cookie and the transaction ID.
std::array<std::uint8_t, 16> mask_of(const TransactionId& transaction) {
    std::array<std::uint8_t, 16> mask{0x21, 0x12, 0xA4, 0x42};
    copy_bytes(transaction, MutBytes(mask).subspan(4));
    return mask;
}

Result<TransportAddress> parse_address(Bytes value, const TransactionId& transaction) {
    ByteReader in(value);
    const unsigned head = TRY(in.u16be());
    const unsigned port = TRY(in.u16be());
    const Bytes ip = in.rest();
    const auto mask = mask_of(transaction);
    TransportAddress address;
    address.port = static_cast<std::uint16_t>(port ^ kMagicCookie >> 16);
    if ((head & 0xFFU) == kFamilyIpv4 && ip.size() == 4) {
        address.ip.bytes[10] = address.ip.bytes[11] = 0xFF;
        for (std::size_t i = 0; i < 4; ++i)
            address.ip.bytes[12 + i] = ip[i] ^ mask[i];
        return address;
    }
    if ((head & 0xFFU) != kFamilyIpv6 || ip.size() != 16)
        return bad("an address of neither family");
    for (std::size_t i = 0; i < 16; ++i)
        address.ip.bytes[i] = ip[i] ^ mask[i];
    return address;
}

Result<ErrorCode> parse_error(Bytes value) {
    ByteReader in(value);
    const unsigned head = TRY(in.u32be());
    const unsigned hundreds = head >> 8 & 7U;
    const unsigned rest = head & 0xFFU;
    if (hundreds < 3 || hundreds > 6 || rest > 99 || in.remaining() > kSoftwareBytesMax)
        return bad("an error code out of its range");
    return ErrorCode{static_cast<std::uint16_t>(hundreds * 100 + rest), as_text(in.rest())};
}

Result<std::vector<std::uint16_t>> parse_types(Bytes value) {
    if (value.size() % 2 != 0)
        return bad("UNKNOWN-ATTRIBUTES of an odd length");
    std::vector<std::uint16_t> types;
    ByteReader in(value);
    while (!in.at_end() && types.size() < kAttributesMax)
        types.push_back(TRY(in.u16be()));
    return types;
}

Result<std::uint64_t> number(Bytes value, std::size_t bytes) {
    if (value.size() != bytes)
        return bad("a number of another length");
    ByteReader in(value);
    if (bytes == 4)
        return std::uint64_t{TRY(in.u32be())};
    return in.u64be();
}

template <class T>
void keep_first(std::optional<T>& into, T value) {
    if (!into)
        into = std::move(value);
}

Result<void> read_attribute(Message& message, std::uint16_t type, Bytes value) {
    switch (type) {
        case kUsername:
            if (value.size() > kUsernameBytesMax)
                return bad("a user name that is too long");
            keep_first(message.username, as_text(value));
            return {};
        case kXorMappedAddress: keep_first(message.xor_mapped_address, TRY(parse_address(value, message.transaction))); return {};
        case kPriority: keep_first(message.priority, static_cast<std::uint32_t>(TRY(number(value, 4)))); return {};
        case kIceControlling: keep_first(message.ice_controlling, TRY(number(value, 8))); return {};
        case kIceControlled: keep_first(message.ice_controlled, TRY(number(value, 8))); return {};
        case kErrorCode: keep_first(message.error, TRY(parse_error(value))); return {};
        case kSoftware: keep_first(message.software, as_text(value)); return {};
        case kUseCandidate: message.use_candidate = true; return {};
        case kUnknownAttributes:
            if (message.unknown_attributes.empty())
                message.unknown_attributes = TRY(parse_types(value));
            return {};
        default:
            if (type < kOptionalFrom)
                message.not_understood.push_back(type);
            return {};
    }
}

// RFC 8489, 14.7: it covers everything before it, must be last, and is included in the header's length.
Result<void> check_fingerprint(Bytes datagram, std::size_t at, Bytes value) {
    if (value.size() != 4 || at + kFingerprintBytes != datagram.size())
        return bad("FINGERPRINT is not the last attribute");
    ByteReader in(value);
    if (TRY(in.u32be()) != (crc32(datagram.first(at)) ^ kFingerprintMask))
        return bad("wrong FINGERPRINT");
    return {};
}

Result<void> read_attributes(Message& message, Bytes datagram) {
    ByteReader in(datagram);
    TRY(in.skip(kHeaderBytes));
    for (std::size_t count = 0; !in.at_end(); ++count) {
        if (count == kAttributesMax)
            return Error(Errc::limit, "STUN: more than " + std::to_string(kAttributesMax) + " attributes");
        const std::size_t at = in.position();
        const auto type = TRY(in.u16be());
        const std::size_t size = TRY(in.u16be());
        const std::size_t padded = (size + 3) / 4 * 4;
        if (padded > in.remaining())
            return bad("an attribute longer than its message");
        const Bytes value = TRY(in.take(padded)).first(size);
        if (type == kFingerprint) {
            TRY(check_fingerprint(datagram, at, value));
            message.has_fingerprint = true;
        } else if (message.integrity_at != 0) {
            continue;
        } else if (type == kMessageIntegrity) {
            if (size != IntegrityTag().size())
                return bad("MESSAGE-INTEGRITY of another length");
            message.integrity_at = at;
        } else {
            TRY(read_attribute(message, type, value));
        }
    }
    return {};
}

// The HMAC covers the message up to the attribute, with a header length that ends after it (RFC 8489, 14.5).
Result<IntegrityTag> tag_of(Bytes message, std::size_t at, Bytes key, Hmac hmac) {
    CHECK(at >= kHeaderBytes && at <= message.size() && message.size() <= kMessageBytesMax);
    std::array<std::uint8_t, kMessageBytesMax> storage;
    copy_bytes(message.first(at), storage);
    const std::size_t length = at - kHeaderBytes + kIntegrityBytes;
    storage[2] = static_cast<std::uint8_t>(length >> 8);
    storage[3] = static_cast<std::uint8_t>(length);
    return hmac(key, Bytes(storage).first(at));
}

}  // namespace

bool looks_like_stun(Bytes datagram) {
    return datagram.size() >= kHeaderBytes && datagram[0] < 4 && datagram[4] == 0x21 && datagram[5] == 0x12 &&
           datagram[6] == 0xA4 && datagram[7] == 0x42;
}

Result<Message> parse_message(Bytes datagram) {
    if (datagram.size() > kMessageBytesMax)
        return Error(Errc::limit, "STUN: a message of " + std::to_string(datagram.size()) + " bytes");
    ByteReader in(datagram);
    const auto type = TRY(in.u16be());
    const std::size_t length = TRY(in.u16be());
    const auto cookie = TRY(in.u32be());
    Message message;
    copy_bytes(TRY(in.take(message.transaction.size())), message.transaction);
    if (type >= 0x4000 || cookie != kMagicCookie)
        return bad("no magic cookie");
    if (length % 4 != 0)
        return bad("a length that is no multiple of four");
    if (length > in.remaining())
        return Error(Errc::need_more, "STUN: the message ends early");
    if (length < in.remaining())
        return bad("bytes behind the message");
    message.kind = kind_of(type);
    message.method = method_of(type);
    TRY(read_attributes(message, datagram));
    return message;
}

Result<bool> has_integrity(Bytes datagram, const Message& message, Bytes key, Hmac hmac) {
    if (message.integrity_at == 0)
        return false;
    CHECK(message.integrity_at + kIntegrityBytes <= datagram.size());
    const IntegrityTag wanted = TRY(tag_of(datagram, message.integrity_at, key, hmac));
    const Bytes found = datagram.subspan(message.integrity_at + kAttributeHeadBytes, wanted.size());
    unsigned difference = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        difference |= static_cast<unsigned>(wanted[i] ^ found[i]);
    return difference == 0;
}

MessageWriter::MessageWriter(Kind kind, const TransactionId& transaction, std::uint16_t method)
    : transaction_(transaction), type_(type_of(kind, method)) {
    CHECK(method < 0x1000);
    out_.u16be(type_).u16be(0).u32be(kMagicCookie).bytes(transaction);
}

void MessageWriter::set_length(std::size_t more) {
    const std::size_t length = out_.size() - kHeaderBytes + more;
    out_.patch_u32be(0, static_cast<std::uint32_t>(std::uint32_t{type_} << 16 | length));
}

void MessageWriter::attribute(std::uint16_t type, Bytes value) {
    out_.u16be(type).u16be(static_cast<std::uint16_t>(value.size())).bytes(value).zeros((4 - value.size() % 4) % 4);
    CHECK(out_.size() <= kMessageBytesMax);
    set_length(0);
}

MessageWriter& MessageWriter::username(std::string_view name) {
    CHECK(name.size() <= kUsernameBytesMax);
    attribute(kUsername, as_bytes(name));
    return *this;
}

MessageWriter& MessageWriter::xor_mapped_address(const TransportAddress& address) {
    const auto mask = mask_of(transaction_);
    const std::size_t from = address.is_ipv4() ? 12 : 0;
    ByteWriter value;
    value.u8(0).u8(address.is_ipv4() ? kFamilyIpv4 : kFamilyIpv6);
    value.u16be(static_cast<std::uint16_t>(address.port ^ kMagicCookie >> 16));
    for (std::size_t i = from; i < address.ip.bytes.size(); ++i)
        value.u8(address.ip.bytes[i] ^ mask[i - from]);
    attribute(kXorMappedAddress, value.written());
    return *this;
}

MessageWriter& MessageWriter::priority(std::uint32_t value) {
    attribute(kPriority, ByteWriter().u32be(value).written());
    return *this;
}

MessageWriter& MessageWriter::use_candidate() {
    attribute(kUseCandidate, {});
    return *this;
}

MessageWriter& MessageWriter::ice_controlling(std::uint64_t tie_breaker) {
    attribute(kIceControlling, ByteWriter().u64be(tie_breaker).written());
    return *this;
}

MessageWriter& MessageWriter::ice_controlled(std::uint64_t tie_breaker) {
    attribute(kIceControlled, ByteWriter().u64be(tie_breaker).written());
    return *this;
}

MessageWriter& MessageWriter::error(const ErrorCode& error) {
    CHECK(error.code >= 300 && error.code <= 699);
    ByteWriter value;
    value.u16be(0).u8(static_cast<std::uint8_t>(error.code / 100)).u8(static_cast<std::uint8_t>(error.code % 100));
    attribute(kErrorCode, value.text(error.reason).written());
    return *this;
}

MessageWriter& MessageWriter::unknown_attributes(const std::vector<std::uint16_t>& types) {
    ByteWriter value;
    for (const std::uint16_t type : types)
        value.u16be(type);
    attribute(kUnknownAttributes, value.written());
    return *this;
}

MessageWriter& MessageWriter::software(std::string_view text) {
    CHECK(text.size() <= kSoftwareBytesMax);
    attribute(kSoftware, as_bytes(text));
    return *this;
}

Result<void> MessageWriter::sign(Bytes key, Hmac hmac) {
    const IntegrityTag tag = TRY(tag_of(out_.written(), out_.size(), key, hmac));
    attribute(kMessageIntegrity, tag);
    return {};
}

MessageWriter& MessageWriter::fingerprint() {
    set_length(kFingerprintBytes);
    const std::uint32_t value = crc32(out_.written()) ^ kFingerprintMask;
    attribute(kFingerprint, ByteWriter().u32be(value).written());
    return *this;
}

}  // namespace live::wire::stun
