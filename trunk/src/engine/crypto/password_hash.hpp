// PasswordHash: the password of a user as a conf file has it: Argon2id (RFC 9106), SHA-256, the hashes that Digest needs (RFC
// 7616), or plain text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::engine::crypto {

class PasswordHash {
public:
    // Limits of an Argon2id hash: it may not take the memory or the CPU of the server.
    static constexpr std::uint32_t kMemoryKibMax = 256 * 1024;
    static constexpr std::uint32_t kPassesMax = 32;
    static constexpr std::uint32_t kLanesMax = 16;
    static constexpr std::size_t kTextBytesMax = 512;
    // A longer password is wrong.
    static constexpr std::size_t kPasswordBytesMax = 1024;

    enum class Scheme : std::uint8_t { argon2id, sha256, ha1, plain };
    // The realm of the hashes for Digest, H(user:realm:password), which are of use in no other one.
    static constexpr std::string_view kRealm = "streams";
    static constexpr std::size_t kMd5Digits = 32;
    static constexpr std::size_t kSha256Digits = 64;

    // "argon2id:$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH", "sha256:BASE64", "ha1:MD5:SHA256" in hexadecimal, or "plain:TEXT";
    // "argon2:" is another name of the first. Errc::malformed with a sentence for the operator, which does not contain the text.
    static Result<PasswordHash> parse(std::string_view text);
    // Makes the text for the password of a user: Argon2id with a new salt, 19 MiB and 2 passes, SHA-256, or both hashes for
    // Digest, the only ones that depend on the user's name. Errc::limit for a long password, Errc::unsupported if OpenSSL has no
    // MD5.
    static Result<std::string> make(std::string_view user, std::string_view password, Scheme scheme);

    // Argon2id takes tens of milliseconds: call it off the loop. The time depends on neither the password nor the place of a
    // difference.
    bool verify(std::string_view user, std::string_view password) const;
    Scheme scheme() const { return scheme_; }
    // The password itself; empty unless the scheme is plain.
    std::string_view plain() const { return scheme_ == Scheme::plain ? std::string_view(value_) : std::string_view(); }
    // The hashes for Digest, in hexadecimal; empty for another scheme.
    std::string_view ha1_md5() const { return ha1().substr(0, kMd5Digits); }
    std::string_view ha1_sha256() const { return ha1().empty() ? ha1() : ha1().substr(kMd5Digits); }

    bool operator==(const PasswordHash&) const = default;

private:
    PasswordHash(Scheme scheme, std::string value) : scheme_(scheme), value_(std::move(value)) {}
    std::string_view ha1() const { return scheme_ == Scheme::ha1 ? std::string_view(value_) : std::string_view(); }

    Scheme scheme_;
    std::string value_;  // the encoded hash, the 32 bytes of SHA-256, the digits for Digest, or the password
};

}  // namespace live::engine::crypto
