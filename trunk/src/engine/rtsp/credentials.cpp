#include "engine/rtsp/credentials.hpp"

#include "base/bytes/base64.hpp"
#include "engine/rtsp/digest.hpp"

namespace live::engine::rtsp {

using wire::rtsp::Challenge;
using Algorithm = Challenge::Algorithm;

namespace {

bool is_sha256(Algorithm algorithm) { return algorithm == Algorithm::sha256 || algorithm == Algorithm::sha256_sess; }
bool is_session(Algorithm algorithm) { return algorithm == Algorithm::md5_sess || algorithm == Algorithm::sha256_sess; }

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

std::optional<std::string> Credentials::digest(std::string_view method, std::string_view url, std::string_view client_nonce) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    ++count_;
    std::string count;
    for (int shift = 28; shift >= 0; shift -= 4)
        count += kDigits[count_ >> shift & 0xFU];
    const auto response = digest_response({.algorithm = challenge_->algorithm,
                                           .user = user_,
                                           .realm = challenge_->realm,
                                           .password = password_,
                                           .nonce = challenge_->nonce,
                                           .client_nonce = client_nonce,
                                           .count = challenge_->has_qop_auth ? std::string_view(count) : std::string_view(),
                                           .method = method,
                                           .uri = url});
    if (!response.ok())
        return std::nullopt;
    std::string text = "Digest username=" + in_quotes(user_) + ", realm=" + in_quotes(challenge_->realm) +
                       ", nonce=" + in_quotes(challenge_->nonce) + ", uri=" + in_quotes(url) + ", response=\"" + *response + "\"";
    if (!challenge_->algorithm_text.empty())
        text += ", algorithm=" + challenge_->algorithm_text;
    if (challenge_->has_qop_auth)
        text += ", qop=auth, nc=" + count;
    if (challenge_->has_qop_auth || is_session(challenge_->algorithm))
        text += ", cnonce=" + in_quotes(client_nonce);
    if (!challenge_->opaque.empty())
        text += ", opaque=" + in_quotes(challenge_->opaque);
    return text;
}

}  // namespace live::engine::rtsp
