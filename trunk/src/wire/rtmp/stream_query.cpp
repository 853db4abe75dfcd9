#include "wire/rtmp/stream_query.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace live::wire::rtmp {

namespace {

constexpr std::string_view kSeparators = "&?#";
constexpr std::string_view kIgnored = "/ \t\r\n";
constexpr std::string_view kOldMark = "...vhost...";
constexpr std::string_view kVhost = "vhost";
constexpr std::string_view kDomain = "domain";

// Leaves a malformed escape unchanged.
std::string decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const int byte = ascii::escaped_byte(text.substr(at));
        out += byte >= 0 ? static_cast<char>(byte) : text[at];
        at += byte >= 0 ? 3 : 1;
    }
    return out;
}

// Calls each(parameter, the separator before it) until it returns false. Empty parameters are left out.
template <class Each>
void for_each_parameter(std::string_view query, Each&& each) {
    char separator = '?';
    while (!query.empty()) {
        const std::size_t end = std::min(query.find_first_of(kSeparators), query.size());
        if (end > 0 && !each(query.substr(0, end), separator))
            return;
        separator = end < query.size() ? query[end] : '?';
        query.remove_prefix(std::min(end + 1, query.size()));
    }
}

// Each round of decoding shortens the text.
bool may_name_vhost(std::string_view parameter) {
    std::string text(parameter);
    for (std::string again = decoded(text); again.size() < text.size(); again = decoded(text))
        text = std::move(again);
    text = ascii::lowered(text);
    const std::string_view name = ascii::trimmed(std::string_view(text).substr(0, text.find('=')), "/ \t\r\n+&?#");
    return name == kVhost || name == kDomain || text.find(kOldMark) != std::string::npos;
}

}  // namespace

std::optional<std::string> named_vhost(std::string_view query) {
    // For nearly all clients.
    if (query.find('%') == std::string_view::npos && query.find(kVhost) == std::string_view::npos &&
        query.find(kDomain) == std::string_view::npos)
        return std::nullopt;
    std::optional<std::string> vhost;
    std::optional<std::string> domain;
    for_each_parameter(query, [&](std::string_view parameter, char) {
        const std::size_t equals = std::min(parameter.find('='), parameter.size());
        const std::string name = decoded(parameter.substr(0, equals));
        if (name != kVhost && name != kDomain)
            return true;
        std::string value = decoded(parameter.substr(std::min(equals + 1, parameter.size())));
        std::erase_if(value, [](char letter) { return kIgnored.find(letter) != std::string_view::npos; });
        std::optional<std::string>& found = name == kVhost ? vhost : domain;
        if (!value.empty() && !found)
            found = std::move(value);
        return !vhost;
    });
    return vhost ? vhost : domain;
}

std::string without_vhost(std::string_view query) {
    std::string rest;
    for_each_parameter(query, [&rest](std::string_view parameter, char separator) {
        if (!may_name_vhost(parameter))
            rest.append(1, rest.empty() ? '?' : separator).append(parameter);
        return true;
    });
    return rest;
}

}  // namespace live::wire::rtmp
