#include "engine/crypto/jwk.hpp"

#include <array>
#include <memory>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include "base/freed_by.hpp"
#include "engine/crypto/error_mark.hpp"

namespace live::engine::crypto {

namespace {

constexpr std::size_t kRsaBytesMax = 1024;
constexpr std::size_t kCoordinateBytes = 32;

using KeyPtr = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using KeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, FreedBy<EVP_PKEY_CTX_free>>;
using BuilderPtr = std::unique_ptr<OSSL_PARAM_BLD, FreedBy<OSSL_PARAM_BLD_free>>;
using ParamsPtr = std::unique_ptr<OSSL_PARAM, FreedBy<OSSL_PARAM_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using OutputPtr = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;

KeyPtr key_from(const char* type, OSSL_PARAM_BLD* builder) {
    const ParamsPtr params(OSSL_PARAM_BLD_to_param(builder));
    const KeyContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (params == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
        return nullptr;
    return KeyPtr(key);
}

KeyPtr rsa_key(const Jwk& jwk) {
    const NumberPtr n(BN_bin2bn(jwk.n.data(), static_cast<int>(jwk.n.size()), nullptr));
    const NumberPtr e(BN_bin2bn(jwk.e.data(), static_cast<int>(jwk.e.size()), nullptr));
    const BuilderPtr builder(OSSL_PARAM_BLD_new());
    // An even modulus or exponent, or an exponent of 1, is no key that anybody has made.
    if (n == nullptr || e == nullptr || builder == nullptr || BN_is_odd(n.get()) != 1 || BN_is_odd(e.get()) != 1 ||
        BN_is_one(e.get()) == 1 || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
        return nullptr;
    return key_from("RSA", builder.get());
}

KeyPtr p256_key(const Jwk& jwk) {
    std::array<std::uint8_t, 1 + 2 * kCoordinateBytes> point{0x04};  // uncompressed (SEC 1, 2.3.3)
    std::copy(jwk.x.begin(), jwk.x.end(), point.begin() + 1);
    std::copy(jwk.y.begin(), jwk.y.end(), point.begin() + 1 + kCoordinateBytes);
    const BuilderPtr builder(OSSL_PARAM_BLD_new());
    if (builder == nullptr || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1)
        return nullptr;
    return key_from("EC", builder.get());
}

Result<KeyPtr> key_of(const Jwk& jwk) {
    if (jwk.type == "RSA") {
        if (jwk.n.empty() || jwk.e.empty() || jwk.n.size() > kRsaBytesMax || jwk.e.size() > 8)
            return Error(Errc::malformed, "the numbers of an RSA key are missing or too large");
        return rsa_key(jwk);
    }
    if (jwk.type == "EC" && jwk.curve == "P-256") {
        if (jwk.x.size() != kCoordinateBytes || jwk.y.size() != kCoordinateBytes)
            return Error(Errc::malformed, "a coordinate of a P-256 key has 32 bytes");
        return p256_key(jwk);
    }
    if (jwk.type == "OKP" && jwk.curve == "Ed25519") {
        if (jwk.x.size() != kCoordinateBytes)
            return Error(Errc::malformed, "an Ed25519 key has 32 bytes");
        return KeyPtr(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, jwk.x.data(), jwk.x.size()));
    }
    return Error(Errc::unsupported, "the key is not supported: expected RSA, P-256 or Ed25519");
}

}  // namespace

Result<std::string> pem_of(const Jwk& jwk) {
    const ErrorMark mark;
    const KeyPtr key = TRY(key_of(jwk));
    const OutputPtr output(BIO_new(BIO_s_mem()));
    if (key == nullptr || output == nullptr || PEM_write_bio_PUBKEY(output.get(), key.get()) != 1)
        return Error(Errc::malformed, "the numbers are no key");
    char* text = nullptr;
    const long size = BIO_get_mem_data(output.get(), &text);
    return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace live::engine::crypto
