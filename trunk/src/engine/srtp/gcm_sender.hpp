// The sending half of SRTP with AEAD_AES_128_GCM (RFC 7714), for RTP alone: one cipher a session, for which a packet is
// nothing but a new nonce, and a payload that is encrypted from where all players' copies of it stand to where this
// player's leaves. Everything else, the other profile, RTCP and what arrives, is the SRTP library's (Session).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.hpp"
#include "base/hot_lines.hpp"
#include "base/result.hpp"
#include "engine/srtp/gcm_cipher.hpp"

namespace live::engine::srtp {

class GcmSender {
public:
    static constexpr std::size_t kKeyBytes = GcmCipher::kKeyBytes;
    static constexpr std::size_t kSaltBytes = GcmCipher::kNonceBytes;
    static constexpr std::size_t kTagBytes = GcmCipher::kTagBytes;
    // SSRCs of one session: audio and video, and what is sent again of each.
    static constexpr std::size_t kStreamsMax = 4;

    using Key = GcmCipher::Key;
    using Salt = GcmCipher::Nonce;
    using Library = GcmCipher::Library;

    // Key and salt of DTLS, one behind the other: those of the session are derived from them (RFC 3711, 4.3). Errc::malformed for
    // another length, Errc::system.
    static Result<GcmSender> create(Bytes master, Library library = Library::fastest);
    // The session's own.
    static Result<GcmSender> create(const Key& key, const Salt& salt, Library library = Library::fastest);

    // The packet is `head`, which has all of RTP's header and may have some of the payload, with `payload` behind it. Into `out`,
    // which has room for both and kTagBytes; `head` may stand at its front already. How long it is then. A packet that is sealed
    // again under the same number must have the same content: another one breaks the key (RFC 7714, 8.4). Errc::malformed for
    // what is no RTP, Errc::limit for one SSRC more than kStreamsMax, or after 2^48 packets; Errc::system.
    Result<std::size_t> seal(MutBytes out, Bytes head, Bytes payload);
    // What seal() touches.
    void add_hot_lines(HotLines& lines) const {
        lines.add(this, sizeof *this);
        cipher_->add_hot_lines(lines);
    }

private:
    GcmSender(std::unique_ptr<GcmCipher> cipher, const Salt& salt) : cipher_(std::move(cipher)), salt_(salt) {}

    // The roll-over counter and the number of the newest packet, of one SSRC.
    struct Stream {
        std::uint32_t ssrc = 0;
        std::uint64_t newest = 0;
    };
    Result<std::uint64_t> index_of(std::uint32_t ssrc, std::uint16_t sequence);

    std::unique_ptr<GcmCipher> cipher_;
    Salt salt_;
    std::array<Stream, kStreamsMax> streams_{};
    std::size_t stream_count_ = 0;
};

}  // namespace live::engine::srtp
