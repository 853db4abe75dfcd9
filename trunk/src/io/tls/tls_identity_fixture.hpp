// A certificate for tests.
#pragma once

#include <cstdio>
#include <string>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace live::io {

// A key and a certificate signed with it, as two PEM files.
struct TlsIdentity {
    explicit TlsIdentity(const std::string& name)
        : certificate_path("/tmp/live_tls_test." + std::to_string(::getpid()) + "." + name + ".pem"),
          key_path(certificate_path + ".key") {
        EVP_PKEY* key = EVP_EC_gen("P-256");
        X509* certificate = X509_new();
        X509_set_version(certificate, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
        X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
        X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
        X509_set_pubkey(certificate, key);
        X509_NAME* subject = X509_get_subject_name(certificate);
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("live.test"), -1, -1, 0);
        X509_set_issuer_name(certificate, subject);
        X509_sign(certificate, key, EVP_sha256());
        FILE* file = std::fopen(certificate_path.c_str(), "w");
        PEM_write_X509(file, certificate);
        std::fclose(file);
        file = std::fopen(key_path.c_str(), "w");
        PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
        std::fclose(file);
        X509_free(certificate);
        EVP_PKEY_free(key);
    }
    ~TlsIdentity() {
        ::unlink(certificate_path.c_str());
        ::unlink(key_path.c_str());
    }
    TlsIdentity(const TlsIdentity&) = delete;
    TlsIdentity& operator=(const TlsIdentity&) = delete;

    std::string certificate_path;
    std::string key_path;
};

}  // namespace live::io
