#include "engine/rtsp/authenticator.hpp"

#include <algorithm>
#include <charconv>

#include <openssl/crypto.h>

#include "engine/rtsp/digest.hpp"

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

std::vector<std::string> Authenticator::challenges(Offer offer) const {
    std::vector<std::string> values;
    if (offer == Offer::digest_and_basic)
        for (const std::string_view algorithm : {"SHA-256", "MD5"})
            values.push_back("Digest realm=\"" + realm_ + "\", nonce=\"" + nonce_ + "\", algorithm=" + std::string(algorithm) +
                             ", qop=\"auth\"");
    values.push_back("Basic realm=\"" + realm_ + "\"");
    return values;
}

Result<void> Authenticator::verify(const DigestResponse& response, std::string_view method, std::string_view url,
                                   std::string_view password) {
    if (response.algorithm == Challenge::Algorithm::unknown || response.has_other_qop)
        return Error(Errc::unsupported, "Digest: an algorithm that was not offered");
    if (response.nonce != nonce_ || response.realm != realm_)
        return Error(Errc::conflict, "Digest: a nonce that is not of this connection");
    if (signed_path(response.uri) != signed_path(url))
        return Error(Errc::denied, "Digest: the response is for another URL");
    const std::uint32_t count = count_of(response.count);
    if (response.has_qop_auth && count <= count_)
        return Error(Errc::denied, "Digest: the counter has been used");
    const std::string expected =
        digest_response({.algorithm = response.algorithm,
                         .user = response.user,
                         .realm = realm_,
                         .password = password,
                         .nonce = nonce_,
                         .client_nonce = response.client_nonce,
                         .count = response.has_qop_auth ? std::string_view(response.count) : std::string_view(),
                         .method = method,
                         .uri = response.uri});
    if (expected.size() != response.response.size() ||
        CRYPTO_memcmp(expected.data(), response.response.data(), expected.size()) != 0)
        return Error(Errc::denied, "Digest: a wrong password");
    count_ = std::max(count_, count);
    return {};
}

}  // namespace live::engine::rtsp
