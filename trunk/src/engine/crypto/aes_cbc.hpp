// AES-128 in CBC mode with PKCS #7 padding (RFC 5652, 6.3) over one buffer: how HLS encrypts its segments (RFC 8216, 4.3.2.4).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::crypto {

inline constexpr std::size_t kAesBlockBytes = 16;
using AesBlock = std::array<std::uint8_t, kAesBlockBytes>;

// Encrypts the concatenated parts; the result is 1 to 16 bytes longer. Errc::system if the library lacks the cipher.
Result<std::vector<std::uint8_t>> encrypt_aes128_cbc(const AesBlock& key, const AesBlock& iv, std::span<const Bytes> parts);
// Errc::malformed for bad padding: a different key, or incomplete input.
Result<std::vector<std::uint8_t>> decrypt_aes128_cbc(const AesBlock& key, const AesBlock& iv, Bytes input);

}  // namespace live::engine::crypto
