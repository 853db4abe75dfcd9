#include "base/text/secret.hpp"

#include <algorithm>
#include <array>

#include "base/text/ascii.hpp"

namespace live {

namespace {

constexpr std::string_view kHidden = "***";
// Characters that may precede a parameter name, and characters that end its value.
constexpr std::string_view kSeparators = "?&;#/ \t\r\n\"'";
constexpr std::string_view kValueEnds = "&;# \t\r\n\"'";

// Decodes the first 64 bytes: a name below fits even with every letter encoded, and a longer name matches none.
std::string percent_decoded(std::string_view name) {
    std::string out;
    for (std::size_t i = 0; i < std::min<std::size_t>(name.size(), 64); ++i) {
        const int byte = ascii::escaped_byte(name.substr(i));
        out += byte < 0 ? name[i] : static_cast<char>(byte);
        i += byte < 0 ? 0 : 2;
    }
    return out;
}

bool is_secret(std::string_view name) {
    static constexpr std::array<std::string_view, 20> kNames = {
        "key",       "token",      "access_token", "auth",   "auth_key", "authorization", "pass", "password",
        "passwd",    "pwd",        "passphrase",   "secret", "sign",     "signature",     "sig",  "jwt",
        "streamkey", "stream_key", "ice-pwd",      "md5"};
    const std::string decoded = name.find('%') == std::string_view::npos ? std::string(name) : percent_decoded(name);
    return std::ranges::any_of(kNames, [&decoded](std::string_view known) { return ascii::are_same(known, decoded); });
}

// Size of the user info before the host in "user:password@host"; 0 if missing.
std::size_t user_info_size(std::string_view authority) {
    const std::size_t at = authority.substr(0, authority.find_first_of("/?# \t\r\n\"'")).rfind('@');
    return at == std::string_view::npos ? 0 : at;
}

}  // namespace

std::string redacted(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(kSeparators), text.size());
        const std::string_view word = text.substr(0, end);
        const std::size_t equals = word.find('=');
        if (equals != std::string_view::npos && is_secret(word.substr(0, equals))) {
            out.append(word.substr(0, equals + 1)).append(kHidden);
            // A value may contain slashes and question marks; a name may not.
            text.remove_prefix(equals + 1);
            text.remove_prefix(std::min(text.find_first_of(kValueEnds), text.size()));
            continue;
        }
        const bool is_scheme = word.ends_with(':') && text.substr(end).starts_with("//");
        out.append(text.substr(0, is_scheme ? end + 2 : std::min(end + 1, text.size())));
        text.remove_prefix(is_scheme ? end + 2 : std::min(end + 1, text.size()));
        if (const std::size_t hidden = is_scheme ? user_info_size(text) : 0; hidden > 0) {
            out.append(kHidden);
            text.remove_prefix(hidden);
        }
    }
    return out;
}

}  // namespace live
