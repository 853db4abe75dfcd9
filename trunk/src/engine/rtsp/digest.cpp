#include "engine/rtsp/digest.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>

#include <openssl/evp.h>

namespace live::engine::rtsp {

namespace {

using DigestAlgorithm = wire::rtsp::Challenge::Algorithm;

Result<std::string> hex_digest_of(DigestAlgorithm algorithm, std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    // MD5 is not there in a FIPS mode.
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, uses_sha256(algorithm) ? EVP_sha256() : EVP_md5(), nullptr) !=
        1)
        return Error(Errc::unsupported, "Digest: OpenSSL has no such algorithm");
    std::string hex;
    for (unsigned i = 0; i < size; ++i)
        hex.append({kDigits[digest[i] >> 4], kDigits[digest[i] & 0xFU]});
    return hex;
}

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts)
        text.append(text.empty() ? "" : ":").append(part);
    return text;
}

}  // namespace

bool uses_sha256(DigestAlgorithm algorithm) {
    return algorithm == DigestAlgorithm::sha256 || algorithm == DigestAlgorithm::sha256_sess;
}

Result<std::string> digest_response(const DigestInput& input) {
    if (input.algorithm == DigestAlgorithm::unknown)
        return Error(Errc::unsupported, "Digest: an unknown algorithm");
    std::string secret(input.hashed);
    if (secret.empty())
        secret = TRY(hex_digest_of(input.algorithm, joined({input.user, input.realm, input.password})));
    if (input.algorithm == DigestAlgorithm::md5_sess || input.algorithm == DigestAlgorithm::sha256_sess)
        secret = TRY(hex_digest_of(input.algorithm, joined({secret, input.nonce, input.client_nonce})));
    const std::string request = TRY(hex_digest_of(input.algorithm, joined({input.method, input.uri})));
    return hex_digest_of(input.algorithm, input.count.empty()
                                              ? joined({secret, input.nonce, request})
                                              : joined({secret, input.nonce, input.count, input.client_nonce, "auth", request}));
}

}  // namespace live::engine::rtsp
