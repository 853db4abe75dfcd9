#include "engine/crypto/signing_key.hpp"

#include <algorithm>
#include <array>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/freed_by.hpp"
#include "engine/crypto/error_mark.hpp"
#include "engine/crypto/hmac_sha256.hpp"

namespace live::engine::crypto {

namespace {

using Bio = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using Context = std::unique_ptr<EVP_MD_CTX, FreedBy<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, FreedBy<ECDSA_SIG_free>>;

constexpr std::string_view kPem = "-----BEGIN ";
constexpr int kP256Bytes = 32;  // of each of the two numbers in a signature

// No passphrase: the library would ask at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Bio reader_of(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

Result<SigningKey::Algorithm> algorithm_of(const EVP_PKEY& key) {
    if (EVP_PKEY_is_a(&key, "RSA") == 1) {
        if (EVP_PKEY_get_bits(&key) < SigningKey::kRsaBitsMin)
            return Error(Errc::malformed, "an RSA key needs 2048 bits or more");
        return SigningKey::Algorithm::rs256;
    }
    std::array<char, 32> group{};
    if (EVP_PKEY_is_a(&key, "EC") == 1 && EVP_PKEY_get_group_name(&key, group.data(), group.size(), nullptr) == 1 &&
        std::string_view(group.data()) == "prime256v1")
        return SigningKey::Algorithm::es256;
    if (EVP_PKEY_is_a(&key, "ED25519") == 1)
        return SigningKey::Algorithm::eddsa;
    return Error(Errc::malformed, "the key is not supported: expected RSA, P-256 or Ed25519");
}

// RFC 7518, 3.4: the two numbers, each of 32 bytes. The library has them in DER.
Result<std::vector<std::uint8_t>> der_of(Bytes signature) {
    if (signature.size() != 2 * kP256Bytes)
        return Error(Errc::malformed, "the signature has another length");
    const Signature numbers(ECDSA_SIG_new());
    BIGNUM* const r = BN_bin2bn(signature.data(), kP256Bytes, nullptr);
    BIGNUM* const s = BN_bin2bn(signature.data() + kP256Bytes, kP256Bytes, nullptr);
    if (numbers == nullptr || ECDSA_SIG_set0(numbers.get(), r, s) != 1) {
        BN_free(r);
        BN_free(s);
        return Error(Errc::system, "no memory for a signature");
    }
    std::vector<std::uint8_t> der(static_cast<std::size_t>(std::max(i2d_ECDSA_SIG(numbers.get(), nullptr), 0)));
    std::uint8_t* out = der.data();
    i2d_ECDSA_SIG(numbers.get(), &out);
    return der;
}

Result<std::vector<std::uint8_t>> numbers_of(Bytes der) {
    const std::uint8_t* in = der.data();
    const Signature numbers(d2i_ECDSA_SIG(nullptr, &in, static_cast<long>(der.size())));
    std::vector<std::uint8_t> out(2 * kP256Bytes);
    if (numbers == nullptr || BN_bn2binpad(ECDSA_SIG_get0_r(numbers.get()), out.data(), kP256Bytes) != kP256Bytes ||
        BN_bn2binpad(ECDSA_SIG_get0_s(numbers.get()), out.data() + kP256Bytes, kP256Bytes) != kP256Bytes)
        return Error(Errc::system, "the library's signature is not readable");
    return out;
}

}  // namespace

struct SigningKey::Pair {
    std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>> key;

    // Ed25519 has its own hash.
    const EVP_MD* hash() const { return EVP_PKEY_is_a(key.get(), "ED25519") == 1 ? nullptr : EVP_sha256(); }
};

std::string_view SigningKey::name() const {
    switch (algorithm_) {
        case Algorithm::hs256: return "HS256";
        case Algorithm::rs256: return "RS256";
        case Algorithm::es256: return "ES256";
        case Algorithm::eddsa: return "EdDSA";
    }
    return "";
}

Result<SigningKey> SigningKey::parse(std::string_view content) {
    if (content.size() > kFileBytesMax)
        return Error(Errc::malformed, "a key has at most 64 KiB");
    if (content.find(kPem) == std::string_view::npos) {
        while (content.ends_with('\n') || content.ends_with('\r'))
            content.remove_suffix(1);
        if (content.size() < kSecretBytesMin)
            return Error(Errc::malformed, "a secret has at least 32 bytes");
        SigningKey key(Algorithm::hs256, true);
        key.secret_.assign(content.begin(), content.end());
        return key;
    }
    const ErrorMark quiet;
    auto pair = std::make_shared<Pair>();
    pair->key.reset(PEM_read_bio_PrivateKey(reader_of(content).get(), nullptr, no_passphrase, nullptr));
    const bool can_sign = pair->key != nullptr;
    if (!can_sign)
        pair->key.reset(PEM_read_bio_PUBKEY(reader_of(content).get(), nullptr, no_passphrase, nullptr));
    if (pair->key == nullptr)
        return Error(Errc::malformed, "the file has no readable key; one with a passphrase is not supported");
    SigningKey key(TRY(algorithm_of(*pair->key)), can_sign);
    key.pair_ = std::move(pair);
    return key;
}

bool SigningKey::verify(Bytes input, Bytes signature) const {
    if (algorithm_ == Algorithm::hs256) {
        const auto tag = hmac_sha256(secret_, input);
        return tag.ok() && signature.size() == tag->size() && CRYPTO_memcmp(signature.data(), tag->data(), tag->size()) == 0;
    }
    const ErrorMark quiet;
    std::vector<std::uint8_t> der;
    if (algorithm_ == Algorithm::es256) {
        auto converted = der_of(signature);
        if (!converted.ok())
            return false;
        der = *std::move(converted);
        signature = der;
    }
    const Context context(EVP_MD_CTX_new());
    return context != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, pair_->hash(), nullptr, pair_->key.get()) == 1 &&
           EVP_DigestVerify(context.get(), signature.data(), signature.size(), input.data(), input.size()) == 1;
}

Result<std::vector<std::uint8_t>> SigningKey::sign(Bytes input) const {
    if (!can_sign_)
        return Error(Errc::unsupported, "a public key cannot sign");
    if (algorithm_ == Algorithm::hs256) {
        const auto tag = TRY(hmac_sha256(secret_, input));
        return std::vector<std::uint8_t>(tag.begin(), tag.end());
    }
    const ErrorMark quiet;
    const Context context(EVP_MD_CTX_new());
    std::size_t size = 0;
    if (context == nullptr || EVP_DigestSignInit(context.get(), nullptr, pair_->hash(), nullptr, pair_->key.get()) != 1 ||
        EVP_DigestSign(context.get(), nullptr, &size, input.data(), input.size()) != 1)
        return Error(Errc::system, "the signature cannot be made");
    std::vector<std::uint8_t> signature(size);
    if (EVP_DigestSign(context.get(), signature.data(), &size, input.data(), input.size()) != 1)
        return Error(Errc::system, "the signature cannot be made");
    signature.resize(size);
    return algorithm_ == Algorithm::es256 ? numbers_of(signature) : Result<std::vector<std::uint8_t>>(std::move(signature));
}

}  // namespace live::engine::crypto
