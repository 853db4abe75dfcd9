// The signatures of the "complex" RTMP handshake: HMAC-SHA256 with the two published keys, at an offset that the block itself
// encodes. RTMP 1.0 does not describe it; Adobe's RTMP clients and the encoders that imitate them use it. It proves nothing about
// the peer (the keys are public), but some players refuse to continue without it. The order of the handshake is in handshake.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::rtmp {

inline constexpr std::size_t kHandshakeBlockBytes = 1536;
inline constexpr std::size_t kDigestBytes = 32;

using Digest = std::array<std::uint8_t, kDigestBytes>;

// After 4 bytes of time and 4 of version, a block has two halves of 764 bytes, one with a key and one with the digest.
enum class Schema : std::uint8_t {
    key_first,     // schema 0
    digest_first,  // schema 1
};

enum class Signer : std::uint8_t { client, server };

// The offset of the digest in this block. `block` has kHandshakeBlockBytes.
std::size_t digest_offset(Bytes block, Schema schema);

// Signs the block in place: everything but the digest itself.
Result<void> embed_digest(MutBytes block, Schema schema, Signer signer);

struct FoundDigest {
    Schema schema{};
    Digest digest{};
};
// The digest of a C1 or S1; nothing if neither schema matches. Errc::system if the library fails.
Result<std::optional<FoundDigest>> find_digest(Bytes block, Signer signer);

// Signs a C2 or S2 in place: its last 32 bytes answer the peer's digest.
Result<void> embed_answer(MutBytes block, const Digest& peer_digest, Signer signer);
Result<bool> is_answer(Bytes block, const Digest& own_digest, Signer signer);

}  // namespace live::engine::rtmp
