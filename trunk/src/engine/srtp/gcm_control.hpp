// SRTCP with AEAD_AES_128_GCM (RFC 7714, 9), both directions of a session that receives no RTP. A session stores its keys only;
// one cipher of the process takes the key of each packet, because a session has few. The SRTP library keeps four ciphers a
// session, some 6 KB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/srtp/key_derivation.hpp"
#include "engine/srtp/replay_window.hpp"

namespace live::engine::srtp {

class GcmControl {
public:
    static constexpr std::size_t kTrailerBytes = GcmCipher::kTagBytes + 4;  // the tag, and the index with its flag
    static constexpr std::size_t kSentStreamsMax = 4;
    static constexpr std::size_t kReceivedStreamsMax = 32;

    // From the keys of DTLS, a key followed by its salt for each direction. Errc::malformed for another length, Errc::system.
    static Result<GcmControl> create(Bytes local, Bytes remote);
    // Uses the session keys directly.
    GcmControl(const GcmKeys& local, const GcmKeys& remote) : local_(local), remote_(remote) {}

    // In place: the packet is the first `bytes` of `storage`, which has kTrailerBytes more. Returns the length. Errc::malformed,
    // Errc::limit for more than kSentStreamsMax SSRCs or after 2^31 packets of one, Errc::system.
    Result<std::size_t> protect(MutBytes storage, std::size_t bytes);
    // In place; returns the length of the unprotected packet. Errc::denied if it is not authentic or not encrypted,
    // Errc::conflict for a replay or a packet older than the window, Errc::limit for more than kReceivedStreamsMax SSRCs
    // (unread), Errc::malformed, Errc::system.
    Result<std::size_t> unprotect(MutBytes packet);

private:
    struct Sent {
        std::uint32_t ssrc = 0;
        std::uint32_t next_index = 0;
    };
    struct Received {
        std::uint32_t ssrc = 0;
        ReplayWindow window;
    };

    Sent* sent_stream(std::uint32_t ssrc);

    GcmKeys local_;
    GcmKeys remote_;
    std::array<Sent, kSentStreamsMax> sent_{};
    std::size_t sent_count_ = 0;
    std::vector<Received> received_;
};

}  // namespace live::engine::srtp
