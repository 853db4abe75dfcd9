// The keys of SRTP, whatever their origin: a DTLS handshake (RFC 5764) for WebRTC.
#pragma once

#include <cstdint>
#include <vector>

namespace live::engine::srtp {

// RFC 7714 and RFC 5764, in our order of preference; the values are those of RFC 5764, 4.1.2.
enum class Profile : std::uint16_t { aead_aes_128_gcm = 7, aes128_cm_sha1_80 = 1 };

// For each direction the key followed by the salt, as the SRTP library expects them.
struct Keys {
    Profile profile{};
    std::vector<std::uint8_t> local;
    std::vector<std::uint8_t> remote;
};

}  // namespace live::engine::srtp
