// P256Key: a P-256 key pair of an ACME client: the key of its account, or of a certificate. It makes signatures by
// ES256, the thumbprint, a request for a certificate, and the self-signed certificate of TLS-ALPN-01. CertificateFacts: what a
// renewal needs of a certificate.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::acme {

class P256Key {
public:
    // Errc::system if the library fails.
    static Result<P256Key> make();
    // PEM without a passphrase. Errc::malformed for another kind of key.
    static Result<P256Key> parse(std::string_view pem);

    // PKCS #8. Errc::system.
    Result<std::string> pem() const;
    // {"crv":"P-256","kty":"EC","x":...,"y":...}: the order of RFC 7638.
    const std::string& jwk() const { return jwk_; }
    // The SHA-256 of that, in base64url.
    const std::string& thumbprint() const { return thumbprint_; }
    // ES256 (RFC 7518, 3.4). Errc::system.
    Result<std::vector<std::uint8_t>> sign(Bytes input) const;
    // PKCS #10 in DER, with the names of `domains` as alternative names. Errc::system.
    Result<std::vector<std::uint8_t>> request_for(const std::vector<std::string>& domains) const;
    // RFC 8737, section 3: a certificate for `domain` with the SHA-256 of `key_authorization`, in PEM. Errc::system.
    Result<std::string> alpn_certificate(const std::string& domain, std::string_view key_authorization) const;

private:
    struct Pair;

    explicit P256Key(std::shared_ptr<const Pair> pair) : pair_(std::move(pair)) {}
    static Result<P256Key> of(std::shared_ptr<const Pair> pair);

    std::shared_ptr<const Pair> pair_;  // owners: all copies of this key
    std::string jwk_;
    std::string thumbprint_;
};

struct CertificateFacts {
    std::chrono::sys_seconds begins;
    std::chrono::sys_seconds ends;
    std::vector<std::string> domains;  // sorted
    bool is_self_signed = false;
};

// Reads the first certificate in a PEM text. Errc::malformed.
Result<CertificateFacts> facts_of_certificate(std::string_view pem);
// Reports whether the first certificate in a PEM text is that of the key.
bool belongs_to(std::string_view certificate_pem, std::string_view key_pem);
// The SHA-256 of a text, in base64url.
std::string sha256_text(std::string_view text);

}  // namespace live::engine::acme
