#include "session/srt/stream_id.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/text/ascii.hpp"
#include "base/text/secret.hpp"
#include "wire/http/target.hpp"

namespace live::session::srt {

namespace {

constexpr std::string_view kStandardPrefix = "#!::";
constexpr std::string_view kSchema = "srt://";
// Its value has colons where the path has commas.
constexpr std::string_view kPathKey = "millrace_path";

// The common part of all forms.
struct Named {
    Mode mode = Mode::request;
    std::string vhost;
    std::string path;  // APP/STREAM or STREAM
    std::string query;
    std::string relay_path{};
};

void add_parameter(std::string& query, std::string_view key, std::string_view value) {
    if (!query.empty())
        query += '&';
    query.append(key).append("=").append(value);
}

// The text up to the separator, which is taken off `text` with it.
std::string_view take_word(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

Result<Mode> mode_named(std::string_view name) {
    if (ascii::are_same(name, "publish"))
        return Mode::publish;
    if (ascii::are_same(name, "request"))
        return Mode::request;
    return Error(Errc::unsupported, "the mode of the stream id is neither request nor publish");
}

// The host and the path in one: APP/STREAM or VHOST/APP/STREAM.
void split_old_host(Named& named) {
    const auto slashes = std::ranges::count(named.vhost, '/');
    if (!named.path.empty() || slashes == 0)
        return;
    named.path = std::exchange(named.vhost, {});
    if (slashes == 1)
        return;
    const std::size_t slash = named.path.find('/');
    named.vhost = named.path.substr(0, slash);
    named.path.erase(0, slash + 1);
}

Result<Named> parse_standard(std::string_view text) {
    std::string body(text.substr(kStandardPrefix.size()));
    std::ranges::replace(body, '?', ',');
    Named named;
    std::map<std::string_view, std::string_view> others;
    for (std::string_view rest = body; !rest.empty();) {
        std::string_view value = take_word(rest, ',');
        const std::string_view key = take_word(value, '=');
        if (key == "h")
            named.vhost = value;
        else if (key == "r")
            named.path = value;
        else if (key == "m")
            named.mode = TRY(mode_named(value));
        else if (key == "t" && value != "stream")
            return Error(Errc::unsupported, "the type of the stream id is not stream");
        else if (key == kPathKey)
            std::ranges::replace_copy(value, std::back_inserter(named.relay_path), ':', ',');
        else if (!key.empty() && key != "t")
            others[key] = value;
    }
    split_old_host(named);
    for (const auto& [key, value] : others)
        add_parameter(named.query, key, value);
    return named;
}

// MediaMTX.
Named parse_action(std::string_view text) {
    Named named;
    named.mode = take_word(text, ':') == "publish" ? Mode::publish : Mode::request;
    named.path = take_word(text, ':');
    if (const std::string_view user = take_word(text, ':'); !user.empty())
        add_parameter(named.query, "u", user);
    if (const std::string_view password = take_word(text, ':'); !password.empty())
        add_parameter(named.query, "s", password);
    if (!text.empty())
        named.query.append(named.query.empty() ? "" : "&").append(text);
    return named;
}

Named parse_plain(std::string_view text, Mode mode) {
    Named named;
    named.mode = mode;
    if (text.starts_with(kSchema)) {
        text.remove_prefix(kSchema.size());
        const std::string_view authority = take_word(text, '/');
        // No virtual host is named by an IPv6 address.
        if (!authority.starts_with('['))
            named.vhost = authority.substr(0, authority.rfind(':'));
    }
    named.path = take_word(text, '?');
    named.query = text;
    return named;
}

// The first slash separates the app.
Result<StreamId> resolve(Named named, const StreamIdDefaults& defaults) {
    std::string_view stream = named.path;
    stream.remove_prefix(std::min(stream.find_first_not_of('/'), stream.size()));
    std::string_view app = defaults.app;
    if (stream.find('/') != std::string_view::npos)
        app = take_word(stream, '/');
    if (stream.empty())
        return Error(Errc::malformed, "the stream id names no stream");
    std::string name(stream);
    if (!named.vhost.empty())
        name.append("?vhost=").append(named.vhost);
    if (!named.query.empty())
        name.append(named.vhost.empty() ? "?" : "&").append(named.query);
    StreamId id{named.mode, TRY(wire::rtmp::parse_stream_url(
                                std::string(kSchema).append(wire::rtmp::kDefaultVhost).append("/").append(app), name))};
    TRY(wire::rtmp::admit(id.url));
    id.relay_path = std::move(named.relay_path);
    return id;
}

}  // namespace

bool is_reserved_key(std::string_view key) {
    return key == "h" || key == "r" || key == "m" || key == "t" || key == "vhost" || key == "domain" || key == kPathKey;
}

std::string path_parameter(std::string_view relay_path) {
    std::string value(relay_path);
    std::ranges::replace(value, ',', ':');
    return std::string(kPathKey) + "=" + value;
}

Result<StreamId> parse_stream_id(std::string_view text, const StreamIdDefaults& defaults) {
    if (text.size() > kStreamIdBytesMax)
        return Error(Errc::limit, "the stream id is over " + std::to_string(kStreamIdBytesMax) + " bytes");
    std::string decoded(text);
    if (!text.starts_with(kStandardPrefix) && text.find('%') != std::string_view::npos)
        decoded = TRY(wire::http::percent_decode(text));
    if (std::ranges::any_of(decoded, [](char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7F'; }))
        return Error(Errc::malformed, "the stream id contains control characters");
    if (decoded.starts_with(kStandardPrefix))
        return resolve(TRY(parse_standard(decoded)), defaults);
    if (decoded.starts_with("publish:") || decoded.starts_with("read:"))
        return resolve(parse_action(decoded), defaults);
    return resolve(parse_plain(decoded, defaults.mode), defaults);
}

// "s" is the name of a secret in this protocol.
std::string loggable(std::string_view param) {
    std::string shown;
    std::string_view rest = param;
    if (rest.starts_with('?')) {
        shown += '?';
        rest.remove_prefix(1);
    }
    while (!rest.empty()) {
        const std::string_view pair = take_word(rest, '&');
        shown.append(pair.starts_with("s=") ? "s=***" : pair).append(rest.empty() ? "" : "&");
    }
    return redacted(shown);
}

}  // namespace live::session::srt
