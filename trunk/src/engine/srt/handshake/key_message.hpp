// Keying Material messages (draft-sharabayko-srt-01, 3.2.2), in a handshake's extension or in a user packet.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/srt/packet.hpp"

namespace live::engine::srt {

inline constexpr std::size_t kSaltBytes = 16;
inline constexpr std::size_t kKeyBytesMax = 32;
// Size of a message with two keys of 32 bytes.
inline constexpr std::size_t kKeyMessageBytesMax = 16 + kSaltBytes + 8 + 2 * kKeyBytesMax;
using Salt = std::array<std::uint8_t, kSaltBytes>;

constexpr bool is_key_length(std::size_t bytes) { return bytes == 16 || bytes == 24 || bytes == 32; }

struct KeyMessage {
    KeyFlag keys = KeyFlag::even;  // not none
    std::size_t key_bytes = 16;    // 16, 24 or 32
    Salt salt{};
    std::vector<std::uint8_t> wrapped;  // 8 bytes more than the keys

    std::size_t key_count() const { return keys == KeyFlag::both ? 2 : 1; }
    bool operator==(const KeyMessage&) const = default;
};
// Errc::unsupported for another cipher than AES-CTR, such as AES-GCM.
Result<KeyMessage> parse_key_message(Bytes contents);
std::vector<std::uint8_t> write_key_message(const KeyMessage& message);

// A response of four bytes instead of the message is one of these states.
enum class KeyState : std::uint32_t { unsecured = 0, securing = 1, secured = 2, no_secret = 3, bad_secret = 4, bad_mode = 5 };
std::optional<KeyState> parse_key_state(Bytes contents);

}  // namespace live::engine::srt
