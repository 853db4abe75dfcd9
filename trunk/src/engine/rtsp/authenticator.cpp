#include "engine/rtsp/authenticator.hpp"

#include <charconv>
#include <utility>

#include <openssl/crypto.h>

namespace live::engine::rtsp {

using wire::rtsp::Challenge;
using wire::rtsp::DigestResponse;

namespace {

// The path and the query, without a slash at the end; clients sign the URL whole or without scheme and host.
std::string_view signed_path(std::string_view url) {
    if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
        const std::size_t slash = url.find('/', scheme + 3);
        url = slash == std::string_view::npos ? std::string_view() : url.substr(slash);
    }
    while (url.ends_with('/'))
        url.remove_suffix(1);
    return url;
}

// nc, eight hexadecimal digits; 0 for anything else.
std::uint32_t count_of(std::string_view text) {
    constexpr std::size_t kDigits = 8;
    std::uint32_t count = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count, 16);
    return text.size() == kDigits && failure == std::errc() && end == text.data() + text.size() ? count : 0;
}

}  // namespace

std::vector<std::string> Authenticator::challenges(Offer offer, std::string nonce, TimePoint now) {
    nonce_ = std::move(nonce);
    challenged_at_ = now;
    responses_ = 0;
    count_ = 0;
    is_spent_ = false;
    const std::string_view stale = std::exchange(is_stale_, false) ? ", stale=true" : "";
    std::vector<std::string> values;
    if (offer == Offer::digest_and_basic)
        for (const std::string_view algorithm : {"SHA-256", "MD5"})
            values.push_back(std::string("Digest realm=\"")
                                 .append(realm_)
                                 .append("\", nonce=\"")
                                 .append(nonce_)
                                 .append("\", algorithm=")
                                 .append(algorithm)
                                 .append(", qop=\"auth\"")
                                 .append(stale));
    values.push_back("Basic realm=\"" + realm_ + "\"");
    return values;
}

Result<void> Authenticator::check(const DigestResponse& response, std::string_view url, TimePoint now) {
    if (response.algorithm == Challenge::Algorithm::unknown || response.has_other_qop)
        return Error(Errc::unsupported, "Digest: an algorithm that was not offered");
    if (response.realm != realm_)
        return Error(Errc::denied, "Digest: another realm");
    is_stale_ =
        nonce_.empty() || response.nonce != nonce_ || now - challenged_at_ > kNonceLifetime || responses_ == kResponsesMax;
    if (is_stale_)
        return Error(Errc::conflict, "Digest: a nonce of another connection or of the past");
    ++responses_;
    if (signed_path(response.uri) != signed_path(url))
        return Error(Errc::denied, "Digest: the response is for another URL");
    if (response.has_qop_auth ? count_of(response.count) <= count_ : is_spent_)
        return Error(Errc::denied, "Digest: the counter has been used");
    return {};
}

bool Authenticator::is_right(const DigestResponse& response, std::string_view method, const DigestSecret& secret) {
    const std::string_view hashed = uses_sha256(response.algorithm) ? secret.sha256 : secret.md5;
    const auto expected = digest_response({.algorithm = response.algorithm,
                                           .user = response.user,
                                           .realm = realm_,
                                           .password = secret.password,
                                           .hashed = secret.password.empty() ? hashed : std::string_view(),
                                           .nonce = nonce_,
                                           .client_nonce = response.client_nonce,
                                           .count = response.has_qop_auth ? std::string_view(response.count) : std::string_view(),
                                           .method = method,
                                           .uri = response.uri});
    if (!expected.ok() || expected->size() != response.response.size() ||
        CRYPTO_memcmp(expected->data(), response.response.data(), expected->size()) != 0)
        return false;
    if (response.has_qop_auth)
        count_ = count_of(response.count);
    else
        is_spent_ = true;
    return true;
}

}  // namespace live::engine::rtsp
