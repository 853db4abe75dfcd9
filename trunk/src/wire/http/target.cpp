#include "wire/http/target.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace live::wire::http {

namespace {

// Form decoding: nothing is an error.
std::string decode_leniently(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const int byte = ascii::escaped_byte(text.substr(at));
        if (byte >= 0) {
            out += static_cast<char>(byte);
            at += 3;
        } else {
            out += text[at] == '+' ? ' ' : text[at];
            ++at;
        }
    }
    return out;
}

bool climbs(std::string_view path) {
    while (!path.empty()) {
        const auto slash = std::min(path.find('/'), path.size());
        if (path.substr(0, slash) == "..")
            return true;
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return false;
}

// Removes empty and "." segments (RFC 3986, 6.2.2.3); a trailing slash is kept.
std::string normal(const std::string& path) {
    std::string out;
    out.reserve(path.size());
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const auto segment = std::string_view(path).substr(at, end - at);
        if (!segment.empty() && segment != ".")
            out.append("/").append(segment);
        at = end + 1;
    }
    const bool is_folder = path.ends_with('/') || path.ends_with("/.");
    return is_folder || out.empty() ? out + '/' : out;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        const int byte = ascii::escaped_byte(text.substr(at));
        if (byte < 0)
            return Error(Errc::malformed, "'%' without two hexadecimal digits at " + std::to_string(at));
        out += static_cast<char>(byte);
        at += 2;
    }
    return out;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (const char letter : text) {
        if (ascii::is_alphanumeric(letter) || std::string_view("-._~").find(letter) != std::string_view::npos) {
            out += letter;
            continue;
        }
        const auto byte = static_cast<unsigned char>(letter);
        out += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
    return out;
}

std::string percent_encode_path(std::string_view path) {
    std::string text;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        text += percent_encode(path.substr(0, slash));
        text += slash < path.size() ? "/" : "";
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return text;
}

Result<Query> Query::parse(std::string_view text) {
    Query query;
    while (!text.empty()) {
        const auto end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (pair.empty())
            continue;
        if (query.parameters_.size() == kParametersMax)
            return Error(Errc::limit, "more than " + std::to_string(kParametersMax) + " parameters");
        const auto equals = std::min(pair.find('='), pair.size());
        query.parameters_.push_back(
            {decode_leniently(pair.substr(0, equals)), decode_leniently(pair.substr(std::min(equals + 1, pair.size())))});
    }
    return query;
}

std::optional<std::string_view> Query::find(std::string_view name) const {
    const auto found = std::ranges::find(parameters_, name, &Parameter::name);
    return found == parameters_.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

Result<Target> parse_target(std::string_view text) {
    Target target;
    if (const auto fragment = text.find('#'); fragment != std::string_view::npos)
        text = text.substr(0, fragment);
    const auto question = std::min(text.find('?'), text.size());
    std::string_view path = text.substr(0, question);
    target.raw_query = text.substr(std::min(question + 1, text.size()));
    target.query = TRY(Query::parse(target.raw_query));
    // RFC 9112, 3.2.2: the absolute form, sent to proxies; servers must accept it too.
    for (const std::string_view schema : {"http://", "https://"}) {
        if (!path.starts_with(schema))
            continue;
        path.remove_prefix(schema.size());
        path.remove_prefix(std::min(path.find('/'), path.size()));
        if (path.empty())
            path = "/";
    }
    if (!path.starts_with('/') && path != "*")
        return Error(Errc::malformed, "the request target does not begin with '/'");
    target.path = TRY(percent_decode(path));
    if (ascii::find_control(target.path) < target.path.size() || target.path.find('\\') != std::string::npos ||
        climbs(target.path))
        return Error(Errc::denied, "the path holds '..', a backslash or a control character");
    if (path != "*")
        target.path = normal(target.path);
    return target;
}

}  // namespace live::wire::http
