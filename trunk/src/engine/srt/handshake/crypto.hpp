// The cryptography of SRT (draft-sharabayko-srt-01, section 6), by OpenSSL: keys from a passphrase, wrapped keys, and AES in
// counter mode over payloads.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/srt/handshake/key_message.hpp"

struct evp_cipher_ctx_st;

namespace live::engine::srt {

inline constexpr std::size_t kPassphraseBytesMin = 10;
inline constexpr std::size_t kPassphraseBytesMax = 80;

// Wraps and unwraps the keys of streams.
struct KeyEncryptingKey {
    std::array<std::uint8_t, kKeyBytesMax> bytes{};
    std::size_t size = 0;  // 16, 24 or 32

    Bytes key() const { return Bytes(bytes).first(size); }
};

// PBKDF2 with 2,048 rounds of HMAC-SHA1: about a millisecond of CPU, so a caller should use a worker thread. It is safe there: it
// shares nothing. Errc::unsupported for another length than 16, 24 or 32 bytes.
Result<KeyEncryptingKey> derive_key(std::string_view passphrase, const Salt& salt, std::size_t key_bytes);

Salt random_salt();

// RFC 3394. `keys` is a multiple of 8 bytes; the result is 8 bytes longer.
Result<std::vector<std::uint8_t>> wrap_keys(const KeyEncryptingKey& kek, Bytes keys);
// Errc::denied if the integrity check fails: another passphrase.
Result<std::vector<std::uint8_t>> unwrap_keys(const KeyEncryptingKey& kek, Bytes wrapped);

// AES in counter mode with one stream key, for any number of payloads. The key schedule is computed once.
class PayloadCipher {
public:
    static Result<PayloadCipher> create(Bytes key, const Salt& salt);

    // Encrypts or decrypts `input` into `output`, which has at least the same size and may be the same memory.
    bool apply(std::uint32_t sequence, Bytes input, MutBytes output);

private:
    struct FreeContext {
        void operator()(evp_cipher_ctx_st* context) const;
    };
    PayloadCipher() = default;

    std::unique_ptr<evp_cipher_ctx_st, FreeContext> context_;
    Salt salt_{};
};

}  // namespace live::engine::srt
