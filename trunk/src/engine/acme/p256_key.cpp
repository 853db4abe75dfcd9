#include "engine/acme/p256_key.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/bytes/base64.hpp"
#include "base/freed_by.hpp"
#include "engine/crypto/error_mark.hpp"
#include "engine/crypto/signing_key.hpp"

namespace live::engine::acme {

namespace {

using PairPtr = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using TextPtr = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using RequestPtr = std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>>;
using CertificatePtr = std::unique_ptr<X509, FreedBy<X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>>;
using ObjectPtr = std::unique_ptr<ASN1_OBJECT, FreedBy<ASN1_OBJECT_free>>;
using OctetsPtr = std::unique_ptr<ASN1_OCTET_STRING, FreedBy<ASN1_OCTET_STRING_free>>;

constexpr std::size_t kPointBytes = 65;  // uncompressed (SEC 1, 2.3.3)
constexpr std::size_t kNumberBytes = 32;
constexpr std::size_t kPemBytesMax = 256 * 1024;
constexpr std::size_t kNamesMax = 1'000;
constexpr long kHour = 3600;
constexpr long kAlpnSeconds = 7 * 24 * kHour;
// RFC 8737, 6.1.
constexpr const char* kAcmeIdentifier = "1.3.6.1.5.5.7.1.31";

int without_passphrase(char*, int, int, void*) { return -1; }

TextPtr pem_reader(std::string_view text) {
    return TextPtr(BIO_new_mem_buf(text.data(), static_cast<int>(std::min(text.size(), kPemBytesMax))));
}

std::string written(BIO* out) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(out, &text);
    return std::string(text, static_cast<std::size_t>(std::max(size, 0L)));
}

std::array<std::uint8_t, 32> sha256(Bytes input) {
    std::array<std::uint8_t, 32> digest{};
    unsigned size = 0;
    EVP_Digest(input.data(), input.size(), digest.data(), &size, EVP_sha256(), nullptr);
    return digest;
}

std::string names_of(const std::vector<std::string>& domains) {
    std::string names;
    for (const std::string& domain : domains)
        names.append(names.empty() ? "DNS:" : ",DNS:").append(domain);
    return names;
}

ExtensionPtr extension_of(int id, const std::string& value) {
    return ExtensionPtr(X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str()));
}

bool add_to(X509* certificate, const ExtensionPtr& extension) {
    return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Critical; its value is an octet string in DER.
ExtensionPtr acme_extension(std::string_view key_authorization) {
    const auto digest = sha256(as_bytes(key_authorization));
    std::array<std::uint8_t, 34> der{0x04, 0x20};
    copy_bytes(digest, MutBytes(der).subspan(2));
    const ObjectPtr id(OBJ_txt2obj(kAcmeIdentifier, 1));
    const OctetsPtr value(ASN1_OCTET_STRING_new());
    if (id == nullptr || value == nullptr || ASN1_OCTET_STRING_set(value.get(), der.data(), static_cast<int>(der.size())) != 1)
        return nullptr;
    return ExtensionPtr(X509_EXTENSION_create_by_OBJ(nullptr, id.get(), 1, value.get()));
}

bool set_serial(X509* certificate) {
    std::array<std::uint8_t, 8> random{};
    if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1)
        return false;
    std::uint64_t number = 0;
    for (const std::uint8_t byte : random)
        number = number << 8U | byte;
    return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1U) == 1;
}

std::chrono::sys_seconds time_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1)
        return {};
    const std::chrono::year_month_day day{std::chrono::year(parts.tm_year + 1900),
                                          std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                          std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
    return std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) +
           std::chrono::seconds(parts.tm_sec);
}

std::vector<std::string> domains_of(const X509* certificate) {
    std::vector<std::string> domains;
    auto* const names = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && domains.size() < kNamesMax; ++i) {
        int type = 0;
        const auto* const name = static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type));
        if (type == GEN_DNS)
            domains.emplace_back(as_text(Bytes(ASN1_STRING_get0_data(name), static_cast<std::size_t>(ASN1_STRING_length(name)))));
    }
    GENERAL_NAMES_free(names);
    std::ranges::sort(domains);
    return domains;
}

Error library_failure(const char* what) { return {Errc::system, std::string(what) + " failed"}; }

}  // namespace

struct P256Key::Pair {
    PairPtr key;
};

Result<P256Key> P256Key::of(std::shared_ptr<const Pair> pair) {
    std::array<std::uint8_t, kPointBytes> point{};
    std::size_t size = 0;
    if (EVP_PKEY_get_octet_string_param(pair->key.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size(), &size) != 1 ||
        size != kPointBytes || point[0] != 0x04)
        return library_failure("reading a public key");
    P256Key key(std::move(pair));
    const Bytes numbers = Bytes(point).subspan(1);
    key.jwk_ = "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"" + base64url(numbers.first(kNumberBytes)) + "\",\"y\":\"" +
               base64url(numbers.subspan(kNumberBytes)) + "\"}";
    key.thumbprint_ = sha256_text(key.jwk_);
    return key;
}

Result<P256Key> P256Key::make() {
    const crypto::ErrorMark quiet;
    auto pair = std::make_shared<Pair>();  // owners: all copies of the key
    pair->key.reset(EVP_EC_gen("P-256"));
    if (pair->key == nullptr)
        return library_failure("making a key");
    // As after a round through a file, which names the form of the point.
    EVP_PKEY_set_utf8_string_param(pair->key.get(), OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed");
    return of(std::move(pair));
}

Result<P256Key> P256Key::parse(std::string_view pem) {
    const crypto::ErrorMark quiet;
    auto pair = std::make_shared<Pair>();
    pair->key.reset(PEM_read_bio_PrivateKey(pem_reader(pem).get(), nullptr, without_passphrase, nullptr));
    std::array<char, 32> group{};
    if (pair->key == nullptr || EVP_PKEY_is_a(pair->key.get(), "EC") != 1 ||
        EVP_PKEY_get_group_name(pair->key.get(), group.data(), group.size(), nullptr) != 1 ||
        std::string_view(group.data()) != "prime256v1")
        return Error(Errc::malformed, "expected a P-256 key in PEM, without a passphrase");
    return of(std::move(pair));
}

Result<std::string> P256Key::pem() const {
    const crypto::ErrorMark quiet;
    const TextPtr out(BIO_new(BIO_s_mem()));
    if (out == nullptr || PEM_write_bio_PKCS8PrivateKey(out.get(), pair_->key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
        return library_failure("writing a key");
    return written(out.get());
}

Result<std::vector<std::uint8_t>> P256Key::sign(Bytes input) const {
    const auto key = TRY(crypto::SigningKey::parse(TRY(pem())));
    return key.sign(input);
}

Result<std::vector<std::uint8_t>> P256Key::request_for(const std::vector<std::string>& domains) const {
    const crypto::ErrorMark quiet;
    const RequestPtr request(X509_REQ_new());
    const ExtensionPtr names = extension_of(NID_subject_alt_name, names_of(domains));
    STACK_OF(X509_EXTENSION)* const extensions = sk_X509_EXTENSION_new_null();
    const bool is_made = request != nullptr && names != nullptr && extensions != nullptr &&
                         sk_X509_EXTENSION_push(extensions, names.get()) > 0 && X509_REQ_set_version(request.get(), 0) == 1 &&
                         X509_REQ_add_extensions(request.get(), extensions) == 1 &&
                         X509_REQ_set_pubkey(request.get(), pair_->key.get()) == 1 &&
                         X509_REQ_sign(request.get(), pair_->key.get(), EVP_sha256()) > 0;
    sk_X509_EXTENSION_free(extensions);
    const int size = is_made ? i2d_X509_REQ(request.get(), nullptr) : 0;
    if (size <= 0)
        return library_failure("making a certificate request");
    std::vector<std::uint8_t> der(static_cast<std::size_t>(size));
    std::uint8_t* out = der.data();
    i2d_X509_REQ(request.get(), &out);
    return der;
}

Result<std::string> P256Key::alpn_certificate(const std::string& domain, std::string_view key_authorization) const {
    const crypto::ErrorMark quiet;
    const CertificatePtr made(X509_new());
    const TextPtr out(BIO_new(BIO_s_mem()));
    constexpr long kVersion3 = 2;
    const bool is_made = made != nullptr && out != nullptr && X509_set_version(made.get(), kVersion3) == 1 &&
                         set_serial(made.get()) && X509_gmtime_adj(X509_getm_notBefore(made.get()), -kHour) != nullptr &&
                         X509_gmtime_adj(X509_getm_notAfter(made.get()), kAlpnSeconds) != nullptr &&
                         X509_set_pubkey(made.get(), pair_->key.get()) == 1 &&
                         add_to(made.get(), extension_of(NID_subject_alt_name, names_of({domain}))) &&
                         add_to(made.get(), acme_extension(key_authorization)) &&
                         X509_sign(made.get(), pair_->key.get(), EVP_sha256()) > 0 &&
                         PEM_write_bio_X509(out.get(), made.get()) == 1;
    if (!is_made)
        return library_failure("making the certificate of a challenge");
    return written(out.get());
}

Result<CertificateFacts> facts_of_certificate(std::string_view pem) {
    const crypto::ErrorMark quiet;
    const CertificatePtr read(PEM_read_bio_X509(pem_reader(pem).get(), nullptr, without_passphrase, nullptr));
    if (read == nullptr)
        return Error(Errc::malformed, "the text has no certificate");
    return CertificateFacts{time_of(X509_get0_notBefore(read.get())), time_of(X509_get0_notAfter(read.get())),
                            domains_of(read.get()), X509_self_signed(read.get(), 0) == 1};
}

bool belongs_to(std::string_view certificate_pem, std::string_view key_pem) {
    const crypto::ErrorMark quiet;
    const CertificatePtr certificate(PEM_read_bio_X509(pem_reader(certificate_pem).get(), nullptr, without_passphrase, nullptr));
    const PairPtr key(PEM_read_bio_PrivateKey(pem_reader(key_pem).get(), nullptr, without_passphrase, nullptr));
    return certificate != nullptr && key != nullptr && X509_check_private_key(certificate.get(), key.get()) == 1;
}

std::string sha256_text(std::string_view text) { return base64url(sha256(as_bytes(text))); }

}  // namespace live::engine::acme
