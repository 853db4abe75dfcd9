#include "wire/http/url.hpp"

#include <algorithm>
#include <charconv>

#include "base/text/ascii.hpp"

namespace live::wire::http {

namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

Error malformed(std::string what) { return {Errc::malformed, "the URL " + std::move(what)}; }

bool is_printable(char letter) { return letter > ' ' && letter <= '~'; }

// Schemes are case-insensitive.
bool takes_off(std::string_view& text, std::string_view prefix) {
    if (!ascii::are_same(text.substr(0, prefix.size()), prefix))
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

Result<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, port);
    if (failure != std::errc() || stop != end || port == 0)
        return malformed("has a port that is not a number from 1 to 65535");
    return port;
}

// "host", "host:port", "[address]" or "[address]:port".
Result<void> parse_authority(std::string_view text, Url& url) {
    if (text.find('@') != std::string_view::npos)
        return malformed("holds user information, which RFC 9110, 4.2.4 forbids");
    std::string_view port;
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos)
            return malformed("does not close the bracket of its IPv6 address");
        url.host = text.substr(1, close - 1);
        port = text.substr(close + 1);
        if (url.host.find(':') == std::string::npos)
            return malformed("has brackets around what is no IPv6 address");
    } else {
        const std::size_t colon = std::min(text.find(':'), text.size());
        url.host = text.substr(0, colon);
        port = text.substr(colon);
    }
    if (url.host.empty() || url.host.find_first_of("[]\\") != std::string::npos)
        return malformed("names no host");
    if (port.empty() || port == ":")
        return {};
    if (!port.starts_with(':'))
        return malformed("has something behind the bracket of its address");
    url.port = TRY(parse_port(port.substr(1)));
    return {};
}

}  // namespace

std::string Url::authority() const {
    std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
    if (port != (is_secure ? kHttpsPort : kHttpPort))
        text += ":" + std::to_string(port);
    return text;
}

std::string Url::label() const {
    return (is_secure ? "https://" : "http://") + authority() + target.substr(0, std::min(target.find('?'), target.size()));
}

Result<Url> parse_url(std::string_view text) {
    if (text.size() > kUrlBytesMax)
        return Error(Errc::limit, "a URL has more than " + std::to_string(kUrlBytesMax) + " bytes");
    if (!std::ranges::all_of(text, is_printable))
        return malformed("holds a space, a control character or a byte that is not ASCII");
    Url url;
    if (takes_off(text, "https://")) {
        url.is_secure = true;
        url.port = kHttpsPort;
    } else if (takes_off(text, "http://")) {
        url.port = kHttpPort;
    } else {
        return Error(Errc::unsupported, "the URL begins with neither http:// nor https://");
    }
    text = text.substr(0, text.find('#'));
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    TRY(parse_authority(text.substr(0, end), url));
    url.target = text.substr(end);
    if (!url.target.starts_with('/'))
        url.target.insert(0, 1, '/');
    return url;
}

}  // namespace live::wire::http
