#include "engine/dtls/certificate.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <array>

#include "base/bytes/bytes.hpp"

namespace live::engine::dtls {

namespace {

constexpr long kValidSeconds = 10L * 365 * 24 * 3'600;
constexpr long kVersion3 = 2;
constexpr unsigned kRsaBits = 2'048;

struct FreeKey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeX509 {
    void operator()(X509* certificate) const { X509_free(certificate); }
};

Error refused(const char* what) { return {Errc::system, std::string("certificate for DTLS: ") + what}; }

bool fill(X509* certificate, EVP_PKEY* key) {
    std::uint64_t serial = 0;
    std::array<std::uint8_t, 8> random{};
    if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1)
        return false;
    for (const std::uint8_t byte : random)
        serial = serial << 8 | byte;
    X509_NAME* const name = X509_get_subject_name(certificate);
    const std::string_view text = "live";
    std::array<unsigned char, 4> common_name{};
    std::copy(text.begin(), text.end(), common_name.begin());
    return X509_set_version(certificate, kVersion3) == 1 &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
           // One day of tolerance for peers whose clock is slow.
           X509_gmtime_adj(X509_getm_notBefore(certificate), -24L * 3'600) != nullptr &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), kValidSeconds) != nullptr &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name.data(), static_cast<int>(common_name.size()), -1,
                                      0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
           X509_sign(certificate, key, EVP_sha256()) != 0;
}

}  // namespace

Result<std::unique_ptr<Certificate>> Certificate::make(Key kind) {
    std::unique_ptr<EVP_PKEY, FreeKey> key(kind == Key::rsa_2048 ? EVP_RSA_gen(kRsaBits) : EVP_EC_gen("P-256"));
    if (key == nullptr)
        return refused("no key");
    std::unique_ptr<X509, FreeX509> certificate(X509_new());
    if (certificate == nullptr || !fill(certificate.get(), key.get()))
        return refused("not signed");
    return std::make_unique<Certificate>(Private{}, key.release(), certificate.release());
}

Certificate::~Certificate() {
    EVP_PKEY_free(key_);
    X509_free(certificate_);
}

Result<std::string> Certificate::fingerprint() const { return fingerprint_of(certificate_, "sha-256"); }

Result<std::string> fingerprint_of(const x509_st* certificate, const std::string& algorithm) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const EVP_MD* const hash = algorithm == "sha-256"   ? EVP_sha256()
                               : algorithm == "sha-384" ? EVP_sha384()
                               : algorithm == "sha-512" ? EVP_sha512()
                                                        : nullptr;
    if (hash == nullptr)
        return Error(Errc::unsupported, "fingerprint by " + algorithm);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (X509_digest(certificate, hash, digest.data(), &size) != 1)
        return refused("no digest");
    std::string text;
    for (const std::uint8_t byte : Bytes(digest).first(size)) {
        if (!text.empty())
            text += ':';
        text += kDigits[byte >> 4];
        text += kDigits[byte & 0xFU];
    }
    return text;
}

}  // namespace live::engine::dtls
