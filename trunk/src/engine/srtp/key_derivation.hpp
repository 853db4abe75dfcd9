// Session keys from the keys of a DTLS handshake (RFC 3711, 4.3, with the salt of RFC 7714, 11), for AES-128-GCM.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/srtp/gcm_cipher.hpp"

namespace live::engine::srtp {

// RFC 3711, 4.3.1 and 4.3.2.
enum class KeyLabel : std::uint8_t { rtp_key = 0, rtp_salt = 2, rtcp_key = 3, rtcp_salt = 5 };

struct GcmKeys {
    GcmCipher::Key key{};
    GcmCipher::Nonce salt{};
};

// `master`: the key followed by the salt. Errc::malformed for another length, Errc::system.
Result<GcmKeys> derive_keys(Bytes master, KeyLabel key, KeyLabel salt);

}  // namespace live::engine::srtp
