#include "wire/rtsp/pull_url.hpp"

#include <algorithm>

#include "base/net/host_and_port.hpp"
#include "base/text/ascii.hpp"
#include "wire/rtsp/message.hpp"
#include "wire/rtsp/text.hpp"

namespace live::wire::rtsp {

namespace {

constexpr std::string_view kScheme = "rtsp://";
constexpr std::string_view kSecureScheme = "rtsps://";
constexpr std::uint16_t kDefaultPort = 554;
constexpr std::uint16_t kSecurePort = 322;

bool begins_with(std::string_view text, std::string_view scheme) {
    return text.size() >= scheme.size() && ascii::are_same(text.substr(0, scheme.size()), scheme);
}

// A '%' that escapes nothing stays.
std::string decoded(std::string_view text) {
    std::string made;
    while (!text.empty()) {
        const int byte = ascii::escaped_byte(text);
        made += byte < 0 ? text.front() : static_cast<char>(byte);
        text.remove_prefix(byte < 0 ? 1 : 3);
    }
    return made;
}

}  // namespace

Result<PullUrl> parse_pull_url(std::string_view text) {
    if (text.size() > kUrlBytesMax)
        return Error(Errc::limit, "a URL of " + std::to_string(text.size()) + " bytes");
    const bool is_secure = begins_with(text, kSecureScheme);
    if (!is_secure && !begins_with(text, kScheme))
        return Error(Errc::unsupported, "not an rtsp:// URL");
    const std::string_view scheme = is_secure ? kSecureScheme : kScheme;
    if (std::ranges::any_of(text, [](char letter) { return letter <= ' ' || letter >= 0x7F; }))
        return Error(Errc::malformed, "a URL with a space or a control character");
    std::string_view rest = text.substr(scheme.size());
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    std::string_view authority = rest.substr(0, end);
    rest.remove_prefix(end);
    PullUrl url;
    url.is_secure = is_secure;
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
        std::string_view user = authority.substr(0, at);
        url.user = decoded(take_until(user, ':'));
        url.password = decoded(user);
        authority.remove_prefix(at + 1);
    }
    const auto where = TRY(parse_host(authority));
    url.host = where.host;
    url.port = where.port.value_or(is_secure ? kSecurePort : kDefaultPort);
    url.url = std::string(scheme).append(authority).append(rest);
    return url;
}

}  // namespace live::wire::rtsp
