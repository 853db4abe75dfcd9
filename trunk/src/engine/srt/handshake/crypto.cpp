#include "engine/srt/handshake/crypto.hpp"

#include <algorithm>

#include <openssl/evp.h>

#include "base/bytes/random.hpp"

namespace live::engine::srt {

namespace {

constexpr int kRounds = 2'048;
// PBKDF2 takes the last 64 bits of the salt.
constexpr std::size_t kDerivationSaltBytes = 8;
// The counter block: 14 bytes of salt, of which the last four are mixed with the sequence number, and a counter of blocks.
constexpr std::size_t kSequenceAt = 10;
constexpr std::size_t kBlockCounterAt = 14;

struct FreeCipherContext {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipherContext>;

const EVP_CIPHER* wrap_cipher(std::size_t key_bytes) {
    switch (key_bytes) {
        case 16: return EVP_aes_128_wrap();
        case 24: return EVP_aes_192_wrap();
        case 32: return EVP_aes_256_wrap();
        default: return nullptr;
    }
}

const EVP_CIPHER* counter_cipher(std::size_t key_bytes) {
    switch (key_bytes) {
        case 16: return EVP_aes_128_ctr();
        case 24: return EVP_aes_192_ctr();
        case 32: return EVP_aes_256_ctr();
        default: return nullptr;
    }
}

enum class WrapWay : int { unwrap = 0, wrap = 1 };

Result<std::vector<std::uint8_t>> run_wrap(WrapWay way, const KeyEncryptingKey& kek, Bytes input, std::size_t output_bytes) {
    const CipherContext context(EVP_CIPHER_CTX_new());
    const EVP_CIPHER* const cipher = wrap_cipher(kek.size);
    if (context == nullptr || cipher == nullptr)
        return Error(Errc::system, "AES key wrap is not available");
    EVP_CIPHER_CTX_set_flags(context.get(), EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    if (EVP_CipherInit_ex(context.get(), cipher, nullptr, kek.bytes.data(), nullptr, static_cast<int>(way)) != 1)
        return Error(Errc::system, "AES key wrap is not available");
    // The library may write a block more than the result while it works.
    std::vector<std::uint8_t> output(std::max(input.size(), output_bytes) + 16);
    int written = 0;
    if (EVP_CipherUpdate(context.get(), output.data(), &written, input.data(), static_cast<int>(input.size())) != 1 ||
        written < 0 || static_cast<std::size_t>(written) != output_bytes)
        return Error(Errc::denied, "the passphrase is another one");
    output.resize(output_bytes);
    return output;
}

}  // namespace

Result<KeyEncryptingKey> derive_key(std::string_view passphrase, const Salt& salt, std::size_t key_bytes) {
    if (!is_key_length(key_bytes) || passphrase.size() > kPassphraseBytesMax)
        return Error(Errc::unsupported, "a key or a passphrase of an invalid length");
    KeyEncryptingKey kek;
    kek.size = key_bytes;
    if (PKCS5_PBKDF2_HMAC(passphrase.data(), static_cast<int>(passphrase.size()),
                          salt.data() + (kSaltBytes - kDerivationSaltBytes), kDerivationSaltBytes, kRounds, EVP_sha1(),
                          static_cast<int>(key_bytes), kek.bytes.data()) != 1)
        return Error(Errc::system, "PBKDF2 with HMAC-SHA1 is not available");
    return kek;
}

Salt random_salt() {
    Salt salt;
    fill_random(salt);
    return salt;
}

Result<std::vector<std::uint8_t>> wrap_keys(const KeyEncryptingKey& kek, Bytes keys) {
    if (keys.size() < 16 || keys.size() % 8 != 0 || keys.size() > 2 * kKeyBytesMax)
        return Error(Errc::unsupported, "keys of an invalid length");
    return run_wrap(WrapWay::wrap, kek, keys, keys.size() + 8);
}

Result<std::vector<std::uint8_t>> unwrap_keys(const KeyEncryptingKey& kek, Bytes wrapped) {
    if (wrapped.size() < 24 || wrapped.size() % 8 != 0 || wrapped.size() > 2 * kKeyBytesMax + 8)
        return Error(Errc::malformed, "wrapped keys of an invalid length");
    return run_wrap(WrapWay::unwrap, kek, wrapped, wrapped.size() - 8);
}

void PayloadCipher::FreeContext::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

Result<PayloadCipher> PayloadCipher::create(Bytes key, const Salt& salt) {
    PayloadCipher made;
    made.salt_ = salt;
    made.context_.reset(EVP_CIPHER_CTX_new());
    const EVP_CIPHER* const cipher = counter_cipher(key.size());
    if (made.context_ == nullptr || cipher == nullptr ||
        EVP_EncryptInit_ex(made.context_.get(), cipher, nullptr, key.data(), nullptr) != 1)
        return Error(Errc::system, "AES in counter mode is not available");
    return made;
}

bool PayloadCipher::apply(std::uint32_t sequence, Bytes input, MutBytes output) {
    if (output.size() < input.size() || input.size() > 0xFFFF)
        return false;
    std::array<std::uint8_t, 16> counter{};
    std::copy_n(salt_.begin(), kBlockCounterAt, counter.begin());
    for (std::size_t i = 0; i < 4; ++i)
        counter[kSequenceAt + i] = static_cast<std::uint8_t>(counter[kSequenceAt + i] ^ (sequence >> (24 - 8 * i)));
    int written = 0;
    return EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, counter.data()) == 1 &&
           EVP_EncryptUpdate(context_.get(), output.data(), &written, input.data(), static_cast<int>(input.size())) == 1 &&
           written == static_cast<int>(input.size());
}

}  // namespace live::engine::srt
