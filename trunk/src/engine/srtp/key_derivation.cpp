#include "engine/srtp/key_derivation.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include <openssl/evp.h>

#include "base/check.hpp"

namespace live::engine::srtp {

namespace {

struct FreeContext {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// RFC 3711, 4.3.3: the first bytes of the AES counter-mode key stream that starts at the block given by label and salt.
Result<void> derive(Bytes master, KeyLabel label, MutBytes into) {
    constexpr std::size_t kBlockBytes = 16;
    constexpr std::size_t kLabelAt = 7;
    std::array<std::uint8_t, kBlockBytes> block{};
    copy_bytes(master.subspan(GcmCipher::kKeyBytes), block);
    block[kLabelAt] ^= static_cast<std::uint8_t>(label);
    const std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context(EVP_CIPHER_CTX_new());
    const std::array<std::uint8_t, kBlockBytes> zeros{};
    int written = 0;
    CHECK(into.size() <= zeros.size());
    if (!context || EVP_EncryptInit_ex(context.get(), EVP_aes_128_ctr(), nullptr, master.data(), block.data()) != 1 ||
        EVP_EncryptUpdate(context.get(), into.data(), &written, zeros.data(), static_cast<int>(into.size())) != 1)
        return Error(Errc::system, "the cryptographic library has no AES-128");
    return {};
}

}  // namespace

Result<GcmKeys> derive_keys(Bytes master, KeyLabel key, KeyLabel salt) {
    if (master.size() != GcmCipher::kKeyBytes + GcmCipher::kNonceBytes)
        return Error(Errc::malformed, "SRTP keys of " + std::to_string(master.size()) + " bytes");
    GcmKeys keys;
    TRY(derive(master, key, keys.key));
    TRY(derive(master, salt, keys.salt));
    return keys;
}

}  // namespace live::engine::srtp
