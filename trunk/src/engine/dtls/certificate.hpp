// The server's DTLS certificate: created at startup, self-signed, authenticated to the peer only by the fingerprint in the answer
// (RFC 8827, 6.5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

struct evp_pkey_st;
struct x509_st;

namespace live::engine::dtls {

class Certificate {
    struct Private {};

public:
    enum class Key : std::uint8_t { ecdsa_p256, rsa_2048 };
    // Creates a certificate with a new key, valid for ten years from now. Errc::system.
    static Result<std::unique_ptr<Certificate>> make(Key kind = Key::ecdsa_p256);

    Certificate(Private, evp_pkey_st* key, x509_st* certificate) : key_(key), certificate_(certificate) {}
    ~Certificate();
    Certificate(const Certificate&) = delete;
    Certificate& operator=(const Certificate&) = delete;

    // SHA-256, "AB:CD:...".
    Result<std::string> fingerprint() const;
    evp_pkey_st* key() const { return key_; }
    x509_st* native_handle() const { return certificate_; }

private:
    evp_pkey_st* key_;
    x509_st* certificate_;
};

// Returns the fingerprint of any certificate; `algorithm` is "sha-256", "sha-384" or "sha-512". Errc::unsupported for another
// hash, Errc::system.
Result<std::string> fingerprint_of(const x509_st* certificate, const std::string& algorithm);

}  // namespace live::engine::dtls
