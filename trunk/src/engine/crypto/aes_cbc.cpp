#include "engine/crypto/aes_cbc.hpp"

#include <climits>
#include <memory>

#include <openssl/evp.h>

namespace live::engine::crypto {

namespace {

struct FreeContext {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

enum class Way : int { decrypt = 0, encrypt = 1 };

Result<std::vector<std::uint8_t>> run(Way way, const AesBlock& key, const AesBlock& iv, std::span<const Bytes> parts) {
    const Context context(EVP_CIPHER_CTX_new());
    if (!context ||
        EVP_CipherInit_ex(context.get(), EVP_aes_128_cbc(), nullptr, key.data(), iv.data(), static_cast<int>(way)) != 1)
        return Error(Errc::system, "the cryptographic library has no AES-128-CBC");
    std::size_t size = kAesBlockBytes;
    for (const Bytes part : parts)
        size += part.size();
    std::vector<std::uint8_t> output(size);
    std::size_t have = 0;
    for (const Bytes part : parts) {
        if (part.size() > INT_MAX)
            return Error(Errc::limit, "more bytes in one piece than the cryptographic library takes");
        int written = 0;
        if (EVP_CipherUpdate(context.get(), output.data() + have, &written, part.data(), static_cast<int>(part.size())) != 1)
            return Error(Errc::system, "AES-128-CBC failed");
        have += static_cast<std::size_t>(written);
    }
    int written = 0;
    if (EVP_CipherFinal_ex(context.get(), output.data() + have, &written) != 1)
        return Error(Errc::malformed, "the padding of AES-128-CBC is invalid");
    output.resize(have + static_cast<std::size_t>(written));
    return output;
}

}  // namespace

Result<std::vector<std::uint8_t>> encrypt_aes128_cbc(const AesBlock& key, const AesBlock& iv, std::span<const Bytes> parts) {
    return run(Way::encrypt, key, iv, parts);
}

Result<std::vector<std::uint8_t>> decrypt_aes128_cbc(const AesBlock& key, const AesBlock& iv, Bytes input) {
    return run(Way::decrypt, key, iv, std::span(&input, 1));
}

}  // namespace live::engine::crypto
