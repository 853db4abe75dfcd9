// SigningKey: a key for JSON Web Signatures (RFC 7515, 7518, 8037) and its algorithm. The algorithm belongs to the key: a token
// cannot choose another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::crypto {

class SigningKey {
public:
    static constexpr std::size_t kSecretBytesMin = 32;  // RFC 7518, 3.2
    static constexpr int kRsaBitsMin = 2048;            // 3.3
    static constexpr std::size_t kFileBytesMax = 64 * 1024;

    enum class Algorithm : std::uint8_t { hs256, rs256, es256, eddsa };

    // Reads the content of a key file: a public or private key in PEM (RSA: RS256, P-256: ES256, Ed25519: EdDSA), or a secret
    // for HS256, whose final line end does not count. Errc::malformed with a sentence for the operator.
    static Result<SigningKey> parse(std::string_view content);

    Algorithm algorithm() const { return algorithm_; }
    // As in the header of a token: "HS256".
    std::string_view name() const;
    // The ID of the key in its set; empty for a key of a file.
    const std::string& id() const { return id_; }
    void set_id(std::string id) { id_ = std::move(id); }
    // False for a public key.
    bool can_sign() const { return can_sign_; }

    // The secret of HS256; empty for a key pair.
    Bytes secret() const { return secret_; }

    // Reports whether `signature` is that of `input`, in constant time for a secret.
    bool verify(Bytes input, Bytes signature) const;
    // Errc::unsupported for a public key, Errc::system if the library fails.
    Result<std::vector<std::uint8_t>> sign(Bytes input) const;

private:
    struct Pair;

    SigningKey(Algorithm algorithm, bool can_sign) : algorithm_(algorithm), can_sign_(can_sign) {}

    Algorithm algorithm_;
    bool can_sign_;
    std::string id_;
    std::vector<std::uint8_t> secret_;
    std::shared_ptr<const Pair> pair_;  // owners: all copies of this key
};

}  // namespace live::engine::crypto
