#include "engine/rtmp/publisher_auth.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/bytes/base64.hpp"
#include "base/text/secret.hpp"
#include "engine/crypto/hmac_sha256.hpp"
#include "engine/crypto/md5.hpp"

namespace live::engine::rtmp {

namespace {

constexpr std::string_view kMark = "authmod=adobe";
constexpr std::size_t kTimeDigits = 12;
constexpr std::size_t kTagLetters = 22;
constexpr std::size_t kSaltLetters = 8;

// A value up to the next parameter; the clients escape nothing.
std::string value_in(std::string_view parameters, std::string_view name) {
    for (std::size_t at = 0; at < parameters.size();) {
        const std::size_t end = std::min(parameters.find_first_of("&?", at), parameters.size());
        const std::string_view one = parameters.substr(at, end - at);
        at = end + 1;
        if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=' &&
            one.size() - name.size() - 1 <= PublisherAuth::kValueBytesMax)
            return std::string(one.substr(name.size() + 1));
    }
    return {};
}

// The start of the parameters, with the mark in front of them; npos without any.
std::size_t parameters_in(std::string_view text) {
    const std::size_t at = text.find(kMark);
    return at == 0 || at == std::string_view::npos || (text[at - 1] != '?' && text[at - 1] != '&') ? std::string_view::npos
                                                                                                   : at - 1;
}

Result<std::string> md5_text(const std::string& text) { return base64(TRY(crypto::md5(as_bytes(text)))); }

}  // namespace

std::optional<PublisherAuth::Parameters> PublisherAuth::parse(std::string_view tc_url) {
    const std::size_t at = parameters_in(tc_url);
    if (at == std::string_view::npos)
        return std::nullopt;
    const std::string_view parameters = tc_url.substr(at + 1);
    return Parameters{value_in(parameters, "user"), value_in(parameters, "challenge"), value_in(parameters, "response"),
                      value_in(parameters, "opaque")};
}

std::string PublisherAuth::without_parameters(std::string_view text) {
    return std::string(text.substr(0, std::min(parameters_in(text), text.size())));
}

// The forms of Adobe's access manager, which the clients search for.
std::string_view PublisherAuth::request() { return "[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : "; }

std::string PublisherAuth::failure(std::string_view user) {
    return fmt::format("[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=authfailed&user={}", user);
}

Result<std::string> PublisherAuth::tag_of(std::string_view purpose, std::string_view text) const {
    const std::string input = fmt::format("millrace authmod {} {}", purpose, text);
    return base64url(TRY(crypto::hmac_sha256(as_bytes(secret_), as_bytes(input)))).substr(0, kTagLetters);
}

Result<std::string> PublisherAuth::salt_of(std::string_view user) const {
    return TRY(tag_of("salt", user)).substr(0, kSaltLetters);
}

Result<std::string> PublisherAuth::opaque_of(std::string_view user, std::string_view peer_ip,
                                             std::chrono::sys_seconds when) const {
    const std::string time = fmt::format("{:012x}", when.time_since_epoch().count());
    return time + TRY(tag_of("challenge", fmt::format("{} {} {}", time, peer_ip, user)));
}

Result<std::string> PublisherAuth::challenge(std::string_view user, std::string_view peer_ip,
                                             std::chrono::sys_seconds now) const {
    const std::string opaque = TRY(opaque_of(user, peer_ip, now));
    return fmt::format("[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user={}&salt={}&challenge={}&opaque={}",
                       user, TRY(salt_of(user)), opaque, opaque);
}

Result<bool> PublisherAuth::verify(const Parameters& given, std::string_view password, std::string_view peer_ip,
                                   std::chrono::sys_seconds now) const {
    std::int64_t seconds = 0;
    const std::string_view time = std::string_view(given.opaque).substr(0, kTimeDigits);
    const auto [end, failed] = std::from_chars(time.data(), time.data() + time.size(), seconds, 16);
    if (time.size() != kTimeDigits || failed != std::errc() || end != time.data() + time.size() || seconds < 0)
        return false;
    const std::chrono::sys_seconds when{std::chrono::seconds(seconds)};
    if (when > now || now - when > kChallengeLife || !same_secret(given.opaque, TRY(opaque_of(given.user, peer_ip, when))))
        return false;
    const std::string salted = TRY(md5_text(given.user + TRY(salt_of(given.user)) + std::string(password)));
    return same_secret(given.response, TRY(md5_text(salted + given.opaque + given.challenge)));
}

}  // namespace live::engine::rtmp
