#include "engine/srt/handshake/key_message.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"

namespace live::engine::srt {

namespace {

constexpr std::uint8_t kVersionAndType = 0x12;  // version 1, type 2: keying material
constexpr std::uint16_t kSign = 0x2029;
constexpr std::uint8_t kCipherAesCtr = 2;
constexpr std::uint8_t kEncapsulationSrt = 2;

}  // namespace

Result<KeyMessage> parse_key_message(Bytes contents) {
    ByteReader in(contents);
    if (TRY(in.u8()) != kVersionAndType || TRY(in.u16be()) != kSign)
        return Error(Errc::malformed, "not a keying material message");
    KeyMessage message;
    message.keys = KeyFlag{static_cast<std::uint8_t>(TRY(in.u8()) & 3)};
    if (message.keys == KeyFlag::none)
        return Error(Errc::malformed, "a keying material message without a key");
    if (TRY(in.u32be()) != 0)
        return Error(Errc::unsupported, "a key encrypting key with an index");
    const std::uint8_t cipher = TRY(in.u8());
    const std::uint8_t authentication = TRY(in.u8());
    if (cipher != kCipherAesCtr || authentication != 0)
        return Error(Errc::unsupported, "a cipher other than AES-CTR");
    TRY(in.skip(4));  // encapsulation and reserved bytes
    const std::size_t salt_bytes = std::size_t{TRY(in.u8())} * 4;
    message.key_bytes = std::size_t{TRY(in.u8())} * 4;
    if (salt_bytes != kSaltBytes || !is_key_length(message.key_bytes))
        return Error(Errc::malformed, "a salt or a key of an invalid length");
    const Bytes salt = TRY(in.take(kSaltBytes));
    std::copy(salt.begin(), salt.end(), message.salt.begin());
    const Bytes wrapped = TRY(in.take(8 + message.key_count() * message.key_bytes));
    if (!in.at_end())
        return Error(Errc::malformed, "a keying material message with more bytes than keys");
    message.wrapped.assign(wrapped.begin(), wrapped.end());
    return message;
}

std::vector<std::uint8_t> write_key_message(const KeyMessage& message) {
    ByteWriter out;
    out.u8(kVersionAndType).u16be(kSign).u8(static_cast<std::uint8_t>(message.keys)).u32be(0);
    out.u8(kCipherAesCtr).u8(0).u8(kEncapsulationSrt).u8(0);
    out.u16be(0).u8(kSaltBytes / 4).u8(static_cast<std::uint8_t>(message.key_bytes / 4));
    return out.bytes(message.salt).bytes(message.wrapped).release();
}

std::optional<KeyState> parse_key_state(Bytes contents) {
    if (contents.size() != 4)
        return std::nullopt;
    // Some peers write this word in their own order; the values are small, so that the order shows.
    const auto value = static_cast<std::uint32_t>(contents[0] | contents[3]);
    if (contents[1] != 0 || contents[2] != 0 || value > static_cast<std::uint32_t>(KeyState::bad_mode))
        return std::nullopt;
    return KeyState{value};
}

}  // namespace live::engine::srt
