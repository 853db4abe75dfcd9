#include "io/tls/client_hello.hpp"

#include "base/bytes/byte_reader.hpp"

namespace live::io {

namespace {

constexpr std::uint8_t kHandshakeRecord = 22;
constexpr std::uint8_t kClientHello = 1;
constexpr std::size_t kVersionBytes = 2;
constexpr std::size_t kRandomBytes = 32;
constexpr std::uint16_t kSessionTicket = 35;
constexpr std::uint16_t kPreSharedKey = 41;

// The extensions of the hello that `input` begins with.
Result<Bytes> extensions_of(Bytes input) {
    ByteReader record(input);
    if (TRY(record.u8()) != kHandshakeRecord)
        return Error(Errc::malformed, "not a handshake");
    TRY(record.skip(kVersionBytes));
    ByteReader handshake(TRY(record.take(TRY(record.u16be()))));
    if (TRY(handshake.u8()) != kClientHello)
        return Error(Errc::malformed, "not a ClientHello");
    ByteReader hello(TRY(handshake.take(TRY(handshake.u24be()))));
    TRY(hello.skip(kVersionBytes + kRandomBytes));
    TRY(hello.skip(TRY(hello.u8())));     // session id
    TRY(hello.skip(TRY(hello.u16be())));  // ciphers
    TRY(hello.skip(TRY(hello.u8())));     // compression
    return hello.take(TRY(hello.u16be()));
}

Result<bool> has_session(ByteReader extensions) {
    while (!extensions.at_end()) {
        const auto type = TRY(extensions.u16be());
        const Bytes data = TRY(extensions.take(TRY(extensions.u16be())));
        if (type == kPreSharedKey || (type == kSessionTicket && !data.empty()))
            return true;
    }
    return false;
}

}  // namespace

bool offers_session(Bytes input) {
    const auto extensions = extensions_of(input);
    if (!extensions.ok())
        return false;
    const auto found = has_session(ByteReader(*extensions));
    return found.ok() && *found;
}

}  // namespace live::io
