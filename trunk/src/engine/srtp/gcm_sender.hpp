// The sending half of SRTP with AEAD_AES_128_GCM (RFC 7714), for RTP only: one cipher per session, for which a packet is just a
// new nonce, and a payload encrypted directly from the copy all players share into the packet sent to this player. RTCP is
// GcmControl's; everything else (the other profile, sessions that receive RTP) is done by the SRTP library (Session).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes/bytes.hpp"
#include "base/bytes/hot_lines.hpp"
#include "base/result.hpp"
#include "engine/srtp/gcm_cipher.hpp"

namespace live::engine::srtp {

class GcmSender {
public:
    static constexpr std::size_t kKeyBytes = GcmCipher::kKeyBytes;
    static constexpr std::size_t kSaltBytes = GcmCipher::kNonceBytes;
    static constexpr std::size_t kTagBytes = GcmCipher::kTagBytes;
    // SSRCs of one session: audio and video, each with RTX.
    static constexpr std::size_t kStreamsMax = 4;

    using Key = GcmCipher::Key;
    using Salt = GcmCipher::Nonce;
    using Library = GcmCipher::Library;

    // As derive_keys(), Errc::system.
    static Result<GcmSender> create(Bytes master, Library library = Library::fastest);
    // Uses the session key and salt directly.
    static Result<GcmSender> create(const Key& key, const Salt& salt, Library library = Library::fastest);

    // The packet is `head`, which has the whole RTP header and possibly part of the payload, followed by `payload`. Writes into
    // `out`, which must have room for both and kTagBytes; `head` may already be at its front. Returns the length. A packet sealed
    // again under the same sequence number must have the same content: other content breaks the key (RFC 7714, 8.4).
    // Errc::malformed if it is not RTP, Errc::limit for more than kStreamsMax SSRCs or after 2^48 packets; Errc::system.
    Result<std::size_t> seal(MutBytes out, Bytes head, Bytes payload);
    // The memory seal() uses.
    void add_hot_lines(HotLines& lines) const {
        lines.add(this, sizeof *this);
        cipher_->add_hot_lines(lines);
    }

private:
    GcmSender(std::unique_ptr<GcmCipher> cipher, const Salt& salt) : cipher_(std::move(cipher)), salt_(salt) {}

    // The roll-over counter and sequence number of the newest packet of one SSRC.
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
