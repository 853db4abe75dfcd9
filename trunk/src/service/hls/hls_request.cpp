#include "service/hls/hls_request.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/bytes/hash.hpp"
#include "base/bytes/random.hpp"
#include "wire/http/target.hpp"

namespace live::service::hls {

namespace http = session::http;

namespace {

// The last letter of a generated name is a check letter. A node recognizes the names that other nodes have generated, or itself
// before a restart.
char last_of(std::string_view name) {
    constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
    return kLetters[fnv1a(as_bytes(name)) % kLetters.size()];
}

// Returns the query without the parameters of this server.
std::string own_query(std::string_view query) {
    std::string text;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view one = query.substr(0, end);
        if (!one.empty() && !one.starts_with("hls_ctx=") && !one.starts_with("_HLS_"))
            text += "&" + std::string(one);
        query.remove_prefix(std::min(end + 1, query.size()));
    }
    return text;
}

struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// Returns the place of a URI of this server in the line. A key may be at an address of the operator.
std::optional<Span> uri_in(std::string_view line) {
    constexpr std::string_view kAttribute = "URI=\"";
    if (!line.starts_with('#'))
        return line.empty() ? std::nullopt : std::optional<Span>({0, line.size()});
    const std::size_t attribute = line.find(kAttribute);
    if (attribute == std::string_view::npos)
        return std::nullopt;
    const Span uri{attribute + kAttribute.size(), line.find('"', attribute + kAttribute.size())};
    if (uri.end == std::string_view::npos)
        return std::nullopt;
    const std::string_view text = line.substr(uri.begin, uri.end - uri.begin);
    const bool is_operators =
        line.starts_with("#EXT-X-KEY") && (text.starts_with('/') || text.find("://") != std::string_view::npos);
    return is_operators ? std::nullopt : std::optional(uri);
}

}  // namespace

bool is_media(std::string_view path) {
    constexpr std::array<std::string_view, 4> kEndings = {".m4s", ".mp4", ".key", ".vtt"};
    if (std::ranges::any_of(kEndings, [path](std::string_view ending) { return path.ends_with(ending); }))
        return true;
    if (!path.ends_with(".ts"))
        return false;
    const std::string_view stem = path.substr(0, path.rfind('.'));
    const std::size_t number = stem.find_last_not_of("0123456789.");
    return number != std::string_view::npos && number + 1 < stem.size() && stem[number] == '-';
}

StreamName split_path(std::string_view path) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const std::size_t slash = path.rfind('/');
    StreamName name;
    if (slash == std::string_view::npos)
        return name;
    name.app = path.substr(0, slash);
    name.stream = path.substr(slash + 1, path.size() - slash - 1 - kPlaylistEnding.size());
    return name;
}

std::string path_of(const http::Request& request, const std::string& track, bool is_relative) {
    const std::string whole = track.empty() ? request.path() : with_infix(request.path(), "." + track);
    const std::string path = wire::http::percent_encode_path(whole);
    return is_relative ? path.substr(path.rfind('/') + 1) : path;
}

bool is_good_ctx(std::string_view ctx) {
    const auto is_good = [](char letter) {
        return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               letter == '-' || letter == '_';
    };
    return !ctx.empty() && ctx.size() <= files::Sessions::kNameBytesMax && std::ranges::all_of(ctx, is_good);
}

std::string generate_ctx(const files::Sessions& sessions) {
    std::string name;
    do {
        name = random_id();
        name.back() = last_of(std::string_view(name).substr(0, name.size() - 1));
    } while (sessions.is_elsewhere(name));
    return name;
}

bool is_generated(std::string_view ctx) {
    constexpr std::size_t kBytes = 8;
    return ctx.size() == kBytes && ctx.back() == last_of(ctx.substr(0, kBytes - 1));
}

std::optional<std::uint64_t> number_of(std::optional<std::string_view> text) {
    std::uint64_t number = 0;
    if (!text)
        return std::nullopt;
    const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
    return read.ec == std::errc() && read.ptr == text->data() + text->size() ? std::optional(number) : std::nullopt;
}

Result<void> check_directives(const http::Request& request) {
    const auto& query = request.target.query;
    for (const std::string_view name : {"_HLS_msn", "_HLS_part"})
        if (const auto text = query.find(name); text && !number_of(text))
            return Error(Errc::malformed, std::string(name) + " is not a decimal number");
    if (query.find("_HLS_part") && !query.find("_HLS_msn"))
        return Error(Errc::malformed, "_HLS_part without _HLS_msn");
    return {};
}

std::string query_of_session(const http::Request& request, const std::string& ctx) {
    return "hls_ctx=" + ctx + own_query(request.target.raw_query);
}

std::string with_query(std::string_view playlist, std::string_view added) {
    std::string text;
    while (!playlist.empty()) {
        const std::size_t end = std::min(playlist.find('\n'), playlist.size());
        std::string line(playlist.substr(0, end));
        playlist.remove_prefix(std::min(end + 1, playlist.size()));
        if (const auto uri = added.empty() ? std::nullopt : uri_in(line)) {
            const std::size_t query = std::min(line.find('?', uri->begin), uri->end);
            const std::string own = query < uri->end ? "&" + line.substr(query + 1, uri->end - query - 1) : "";
            line = line.substr(0, query) + "?" + std::string(added) + own + line.substr(uri->end);
        }
        text += line + "\n";
    }
    return text;
}

}  // namespace live::service::hls
