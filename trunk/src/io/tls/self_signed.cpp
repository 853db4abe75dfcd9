#include "io/tls/self_signed.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string_view>

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "base/freed_by.hpp"
#include "io/tls/tls_error.hpp"

namespace live::io {

namespace {

using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;

constexpr long kSecondsValid = 3650L * 24 * 3600;
constexpr mode_t kOwnerOnly = 0600;
constexpr mode_t kEverybodyReads = 0644;

std::string machine_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

bool add_extension(X509* certificate, int id, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str());
    const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

bool add_name(X509_NAME* subject, const std::string& name) {
    // The field holds 64 characters; the full name is in the extension.
    constexpr std::size_t kCommonNameMax = 64;
    const std::string cut = name.substr(0, kCommonNameMax);
    return X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                      static_cast<const unsigned char*>(static_cast<const void*>(cut.data())),
                                      static_cast<int>(cut.size()), -1, 0) == 1;
}

Result<Certificate> sign(EVP_PKEY* key) {
    Certificate certificate(X509_new());
    if (!certificate)
        return tls_error(Errc::system, "making a certificate");
    std::uint64_t serial = 0;
    std::array<unsigned char, 7> random{};
    if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1)
        return tls_error(Errc::system, "making a certificate's number");
    for (const unsigned char byte : random)
        serial = serial << 8U | byte;
    const std::string name = machine_name();
    const std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1,DNS:" + name;
    constexpr long kVersion3 = 2;
    constexpr long kClockSkew = -3600;
    const bool done = X509_set_version(certificate.get(), kVersion3) == 1 &&
                      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial) == 1 &&
                      X509_gmtime_adj(X509_getm_notBefore(certificate.get()), kClockSkew) != nullptr &&
                      X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kSecondsValid) != nullptr &&
                      X509_set_pubkey(certificate.get(), key) == 1 && add_name(X509_get_subject_name(certificate.get()), name) &&
                      X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1 &&
                      add_extension(certificate.get(), NID_subject_alt_name, names) &&
                      add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE") &&
                      X509_sign(certificate.get(), key, EVP_sha256()) > 0;
    if (!done)
        return tls_error(Errc::system, "making a certificate");
    return certificate;
}

// Writes a new file that has the given mode from the start.
template <class Write>
Result<void> write_file(const std::string& path, mode_t rights, Write&& write) {
    ::unlink(path.c_str());
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights);
    if (fd < 0)
        return system_error("writing " + path, errno);
    std::FILE* file = ::fdopen(fd, "w");
    if (file == nullptr) {
        ::close(fd);
        return system_error("writing " + path, errno);
    }
    const bool written = write(file) == 1;
    if (std::fclose(file) != 0 || !written)
        return tls_error(Errc::system, "writing " + path);
    return {};
}

Result<Certificate> read_first(const std::string& path) {
    const Bio file(BIO_new_file(path.c_str(), "r"));
    if (!file)
        return Error(Errc::not_found, "the file " + path + " cannot be read");
    Certificate certificate(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
    if (!certificate)
        return tls_error(Errc::malformed, "reading the certificate " + path);
    return certificate;
}

}  // namespace

Result<void> make_self_signed(const std::string& certificate_path, const std::string& key_path) {
    const Key key(EVP_EC_gen("P-256"));
    if (!key)
        return tls_error(Errc::system, "making a key");
    const Certificate certificate = TRY(sign(key.get()));
    TRY(write_file(key_path, kOwnerOnly, [&key](std::FILE* file) {
        return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    }));
    return write_file(certificate_path, kEverybodyReads,
                      [&certificate](std::FILE* file) { return PEM_write_X509(file, certificate.get()); });
}

Result<std::string> certificate_fingerprint(const std::string& certificate_path) {
    const Certificate certificate = TRY(read_first(certificate_path));
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (X509_digest(certificate.get(), EVP_sha256(), digest.data(), &size) != 1)
        return tls_error(Errc::malformed, "reading the certificate " + certificate_path);
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
        if (i > 0)
            text += ':';
        text += {kDigits[digest[i] >> 4U], kDigits[digest[i] & 15U]};
    }
    return text;
}

Result<std::chrono::sys_seconds> certificate_expiry(const std::string& certificate_path) {
    const Certificate certificate = TRY(read_first(certificate_path));
    std::tm end{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &end) != 1)
        return tls_error(Errc::malformed, "reading the expiry of the certificate " + certificate_path);
    return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&end)));
}

}  // namespace live::io
