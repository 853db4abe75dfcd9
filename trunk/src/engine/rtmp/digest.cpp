#include "engine/rtmp/digest.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace live::engine::rtmp {
namespace {

constexpr std::size_t kHalfBytes = 764;
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kOffsetBytes = 4;

// A name, and 32 bytes common to both keys. C1 and S1 are signed with the name alone, answers with the whole key.
constexpr std::size_t kClientNameBytes = 30;
constexpr std::size_t kServerNameBytes = 36;
constexpr std::string_view kClientKey(
    "Genuine Adobe Flash Player 001"
    "\xF0\xEE\xC2\x4A\x80\x68\xBE\xE8\x2E\x00\xD0\xD1\x02\x9E\x7E\x57"
    "\x6E\xEC\x5D\x2D\x29\x80\x6F\xAB\x93\xB8\xE6\x36\xCF\xEB\x31\xAE",
    kClientNameBytes + 32);
constexpr std::string_view kServerKey(
    "Genuine Adobe Flash Media Server 001"
    "\xF0\xEE\xC2\x4A\x80\x68\xBE\xE8\x2E\x00\xD0\xD1\x02\x9E\x7E\x57"
    "\x6E\xEC\x5D\x2D\x29\x80\x6F\xAB\x93\xB8\xE6\x36\xCF\xEB\x31\xAE",
    kServerNameBytes + 32);

Bytes long_key(Signer signer) { return as_bytes(signer == Signer::client ? kClientKey : kServerKey); }
Bytes short_key(Signer signer) { return long_key(signer).first(signer == Signer::client ? kClientNameBytes : kServerNameBytes); }

Result<Digest> hmac_sha256(Bytes key, Bytes data) {
    Digest digest;
    std::size_t size = 0;
    if (EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(), data.data(), data.size(), digest.data(),
                  digest.size(), &size) == nullptr ||
        size != digest.size())
        return Error(Errc::system, "HMAC-SHA256 is not available");
    return digest;
}

Result<Digest> block_digest(Bytes block, std::size_t offset, Signer signer) {
    std::array<std::uint8_t, kHandshakeBlockBytes - kDigestBytes> rest;
    const auto middle = std::copy_n(block.begin(), offset, rest.begin());
    const Bytes behind = block.subspan(offset + kDigestBytes);
    std::copy(behind.begin(), behind.end(), middle);
    return hmac_sha256(short_key(signer), rest);
}

Result<Digest> answer_digest(Bytes block, const Digest& peer_digest, Signer signer) {
    const Digest key = TRY(hmac_sha256(long_key(signer), peer_digest));
    return hmac_sha256(key, block.first(kHandshakeBlockBytes - kDigestBytes));
}

}  // namespace

std::size_t digest_offset(Bytes block, Schema schema) {
    CHECK(block.size() == kHandshakeBlockBytes);
    const std::size_t half = kHeadBytes + (schema == Schema::key_first ? kHalfBytes : 0);
    std::size_t sum = 0;
    for (const std::uint8_t byte : block.subspan(half, kOffsetBytes))
        sum += byte;
    return half + kOffsetBytes + sum % (kHalfBytes - kOffsetBytes - kDigestBytes);
}

Result<void> embed_digest(MutBytes block, Schema schema, Signer signer) {
    const std::size_t offset = digest_offset(block, schema);
    const Digest digest = TRY(block_digest(block, offset, signer));
    std::copy(digest.begin(), digest.end(), block.subspan(offset).begin());
    return {};
}

Result<std::optional<FoundDigest>> find_digest(Bytes block, Signer signer) {
    for (const Schema schema : {Schema::key_first, Schema::digest_first}) {
        const std::size_t offset = digest_offset(block, schema);
        const Digest digest = TRY(block_digest(block, offset, signer));
        if (std::equal(digest.begin(), digest.end(), block.subspan(offset).begin()))
            return std::optional(FoundDigest{schema, digest});
    }
    return std::optional<FoundDigest>();
}

Result<void> embed_answer(MutBytes block, const Digest& peer_digest, Signer signer) {
    CHECK(block.size() == kHandshakeBlockBytes);
    const Digest digest = TRY(answer_digest(block, peer_digest, signer));
    std::copy(digest.begin(), digest.end(), block.last(kDigestBytes).begin());
    return {};
}

Result<bool> is_answer(Bytes block, const Digest& own_digest, Signer signer) {
    CHECK(block.size() == kHandshakeBlockBytes);
    const Digest digest = TRY(answer_digest(block, own_digest, signer));
    return std::equal(digest.begin(), digest.end(), block.last(kDigestBytes).begin());
}

}  // namespace live::engine::rtmp
