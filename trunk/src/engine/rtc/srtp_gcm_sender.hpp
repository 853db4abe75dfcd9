// The sending half of SRTP with AEAD_AES_128_GCM (RFC 7714), for RTP alone: one cipher context a session, of which a packet
// changes nothing but the nonce, and a payload that is encrypted from where all players' copies of it stand to where this
// player's leaves. Everything else, the other profile, RTCP and what arrives, is the SRTP library's (SrtpSession).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

struct evp_cipher_ctx_st;

namespace live::engine::rtc {

class SrtpGcmSender {
    struct Private {};

public:
    static constexpr std::size_t kKeyBytes = 16;
    static constexpr std::size_t kSaltBytes = 12;
    static constexpr std::size_t kTagBytes = 16;
    // SSRCs of one session: sound and picture, and what is sent again of each, are four.
    static constexpr std::size_t kStreamsMax = 16;

    using Key = std::array<std::uint8_t, kKeyBytes>;
    using Salt = std::array<std::uint8_t, kSaltBytes>;

    // Key and salt of DTLS, one behind the other: those of the session are derived from them (RFC 3711, 4.3). Errc::malformed for
    // another length, Errc::system.
    static Result<std::unique_ptr<SrtpGcmSender>> create(Bytes master);
    // The session's own.
    static Result<std::unique_ptr<SrtpGcmSender>> create(const Key& key, const Salt& salt);
    SrtpGcmSender(Private, evp_cipher_ctx_st* cipher, const Salt& salt) : cipher_(cipher), salt_(salt) {}
    ~SrtpGcmSender();
    SrtpGcmSender(const SrtpGcmSender&) = delete;
    SrtpGcmSender& operator=(const SrtpGcmSender&) = delete;

    // The packet is `head`, which has all of RTP's header and may have some of the payload, with `payload` behind it. Into `out`,
    // which has room for both and kTagBytes; `head` may stand at its front already. How long it is then. A packet that is sealed
    // again under the same number must have the same content: another one breaks the key (RFC 7714, 8.4). Errc::malformed for
    // what is no RTP, Errc::limit for one SSRC more than kStreamsMax, or after 2^48 packets; Errc::system.
    Result<std::size_t> seal(MutBytes out, Bytes head, Bytes payload);

private:
    // The roll-over counter and the number of the newest packet, of one SSRC.
    struct Stream {
        std::uint32_t ssrc = 0;
        std::uint64_t newest = 0;
    };
    Result<std::uint64_t> index_of(std::uint32_t ssrc, std::uint16_t sequence);

    evp_cipher_ctx_st* cipher_;
    Salt salt_;
    std::vector<Stream> streams_;
};

}  // namespace live::engine::rtc
