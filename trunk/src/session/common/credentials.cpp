#include "session/common/credentials.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/base64.hpp"
#include "base/text/ascii.hpp"
#include "wire/http/target.hpp"

namespace live::session {

namespace {

// Owners: all copies of the client's request.
std::shared_ptr<const Credentials> named(std::string user, std::string password) {
    if (user.empty() || user.size() > kCredentialBytesMax || password.size() > kBearerBytesMax)
        return nullptr;
    return std::make_shared<const Credentials>(Credentials{std::move(user), std::move(password), {}, {}, {}});
}

// The place of the user info in a URL, and its size; npos without one.
std::pair<std::size_t, std::size_t> user_info_place(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos)
        return {std::string_view::npos, 0};
    const std::size_t start = scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", start), url.size());
    const std::size_t at = url.substr(0, end).rfind('@');
    if (at == std::string_view::npos || at < start)
        return {std::string_view::npos, 0};
    return {start, at - start};
}

}  // namespace

std::shared_ptr<const Credentials> parse_authorization(std::string_view field) {
    const std::size_t space = std::min(field.find(' '), field.size());
    // RFC 9110, 11.1 and 11.4: the scheme in any case, one or more spaces.
    const std::string_view scheme = field.substr(0, space);
    const std::string_view value = ascii::trimmed(field.substr(space), " ");
    if (ascii::are_same(scheme, "Bearer")) {
        if (value.empty() || value.size() > kBearerBytesMax)
            return nullptr;
        return std::make_shared<const Credentials>(Credentials{{}, {}, std::string(value), {}, {}});
    }
    if (!ascii::are_same(scheme, "Basic") || value.size() > 2 * kBearerBytesMax)
        return nullptr;
    const auto decoded = bytes_of_base64(value);
    if (!decoded)
        return nullptr;
    const std::string_view text = as_text(*decoded);
    const std::size_t colon = text.find(':');
    return colon == std::string_view::npos ? nullptr
                                           : named(std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)));
}

std::shared_ptr<const Credentials> user_info_of(std::string_view url) {
    const auto [start, size] = user_info_place(url);
    if (start == std::string_view::npos)
        return nullptr;
    const std::string_view info = url.substr(start, size);
    const std::size_t colon = std::min(info.find(':'), info.size());
    auto user = wire::http::percent_decode(info.substr(0, colon));
    auto password = wire::http::percent_decode(info.substr(std::min(colon + 1, info.size())));
    return user.ok() && password.ok() ? named(*std::move(user), *std::move(password)) : nullptr;
}

std::string without_user_info(std::string_view url) {
    const auto [start, size] = user_info_place(url);
    std::string text(url);
    if (start != std::string_view::npos)
        text.erase(start, size + 1);
    return text;
}

}  // namespace live::session
