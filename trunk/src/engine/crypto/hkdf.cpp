#include "engine/crypto/hkdf.hpp"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <array>
#include <memory>

namespace live::engine::crypto {

namespace {

struct FreeKdf {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
};
struct FreeKdfContext {
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

// The library only reads it, but takes a pointer to writable memory.
OSSL_PARAM octets(const char* name, std::vector<std::uint8_t>& bytes) {
    return OSSL_PARAM_construct_octet_string(name, bytes.data(), bytes.size());
}

}  // namespace

Result<std::vector<std::uint8_t>> hkdf_sha256(Bytes secret, Bytes salt, Bytes info, std::size_t bytes) {
    const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
    const std::unique_ptr<EVP_KDF_CTX, FreeKdfContext> context(kdf ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
    std::array<char, 7> digest{"SHA256"};
    std::vector<std::uint8_t> key(secret.begin(), secret.end());
    std::vector<std::uint8_t> salted(salt.begin(), salt.end());
    std::vector<std::uint8_t> about(info.begin(), info.end());
    std::vector<OSSL_PARAM> parameters{OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
                                       octets(OSSL_KDF_PARAM_KEY, key)};
    if (!salted.empty())
        parameters.push_back(octets(OSSL_KDF_PARAM_SALT, salted));
    if (!about.empty())
        parameters.push_back(octets(OSSL_KDF_PARAM_INFO, about));
    parameters.push_back(OSSL_PARAM_construct_end());
    std::vector<std::uint8_t> derived(bytes);
    if (!context || EVP_KDF_derive(context.get(), derived.data(), derived.size(), parameters.data()) != 1)
        return Error(Errc::system, "HKDF with SHA-256 is not available");
    return derived;
}

}  // namespace live::engine::crypto
