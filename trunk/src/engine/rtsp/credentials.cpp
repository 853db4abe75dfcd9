#include "engine/rtsp/credentials.hpp"

#include <array>

#include <openssl/evp.h>

#include "base/bytes/base64.hpp"
#include "base/check.hpp"

namespace live::engine::rtsp {

using wire::rtsp::Challenge;
using Algorithm = Challenge::Algorithm;

namespace {

bool is_sha256(Algorithm algorithm) { return algorithm == Algorithm::sha256 || algorithm == Algorithm::sha256_sess; }
bool is_session(Algorithm algorithm) { return algorithm == Algorithm::md5_sess || algorithm == Algorithm::sha256_sess; }

std::string hash_of(Algorithm algorithm, std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, is_sha256(algorithm) ? EVP_sha256() : EVP_md5(), nullptr) ==
          1);
    std::string hex;
    for (unsigned i = 0; i < size; ++i)
        hex.append({kDigits[digest[i] >> 4], kDigits[digest[i] & 0xFU]});
    return hex;
}

// Larger is better; 0 cannot be answered.
int rank_of(const Challenge& challenge) {
    if (challenge.scheme == Challenge::Scheme::basic)
        return 1;
    if (challenge.algorithm == Algorithm::unknown || challenge.nonce.empty())
        return 0;
    return is_sha256(challenge.algorithm) ? 3 : 2;
}

// A quoted string may not end early.
std::string in_quotes(std::string_view text) {
    std::string made = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\')
            made += '\\';
        made += letter;
    }
    return made += '"';
}

}  // namespace

std::string_view path_of(std::string_view url) {
    const std::size_t host = url.find("://");
    const std::size_t path = host == std::string_view::npos ? host : url.find('/', host + 3);
    return path == std::string_view::npos ? std::string_view("/") : url.substr(path);
}

bool Credentials::accept(std::span<const Challenge> challenges) {
    int best = 0;
    for (const Challenge& challenge : challenges) {
        if (rank_of(challenge) <= best)
            continue;
        best = rank_of(challenge);
        challenge_ = challenge;
        count_ = 0;
    }
    return best > 0;
}

std::optional<std::string> Credentials::answer(std::string_view method, std::string_view url, std::string_view client_nonce) {
    if (!challenge_)
        return std::nullopt;
    if (challenge_->scheme == Challenge::Scheme::basic)
        return "Basic " + base64(as_bytes(user_ + ":" + password_));
    return digest(method, uses_path_ && url.find("://") != std::string_view::npos ? path_of(url) : url, client_nonce);
}

std::string Credentials::digest(std::string_view method, std::string_view url, std::string_view client_nonce) {
    const Algorithm algorithm = challenge_->algorithm;
    constexpr std::string_view kDigits = "0123456789abcdef";
    ++count_;
    std::string count;
    for (int shift = 28; shift >= 0; shift -= 4)
        count += kDigits[count_ >> shift & 0xFU];
    const std::string nonce = std::string(client_nonce);
    std::string secret = hash_of(algorithm, user_ + ":" + challenge_->realm + ":" + password_);
    if (is_session(algorithm))
        secret = hash_of(algorithm, secret + ":" + challenge_->nonce + ":" + nonce);
    const std::string request = hash_of(algorithm, std::string(method) + ":" + std::string(url));
    const std::string middle = challenge_->has_qop_auth ? ":" + count + ":" + nonce + ":auth:" : ":";
    std::string text = "Digest username=" + in_quotes(user_) + ", realm=" + in_quotes(challenge_->realm) +
                       ", nonce=" + in_quotes(challenge_->nonce) + ", uri=" + in_quotes(url) + ", response=\"" +
                       hash_of(algorithm, secret + ":" + challenge_->nonce + middle + request) + "\"";
    if (!challenge_->algorithm_text.empty())
        text += ", algorithm=" + challenge_->algorithm_text;
    if (challenge_->has_qop_auth)
        text += ", qop=auth, nc=" + count;
    if (challenge_->has_qop_auth || is_session(algorithm))
        text += ", cnonce=" + in_quotes(nonce);
    if (!challenge_->opaque.empty())
        text += ", opaque=" + in_quotes(challenge_->opaque);
    return text;
}

}  // namespace live::engine::rtsp
