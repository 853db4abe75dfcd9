#include "bench/playlist.hpp"

#include <charconv>
#include <optional>

#include "base/ascii.hpp"

namespace live::bench {
namespace {

constexpr std::string_view kBlanks = " \t\r";
// Longer than any segment and far from overflow.
constexpr double kSecondsMax = 86'400;

std::optional<std::string_view> after(std::string_view line, std::string_view tag) {
    if (!line.starts_with(tag))
        return std::nullopt;
    return line.substr(tag.size());
}

// Decimal seconds at the front; what follows (a comma and a title) is not looked at.
Result<std::chrono::milliseconds> parse_seconds(std::string_view text) {
    double seconds = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
    if (failure != std::errc() || !(seconds >= 0 && seconds <= kSecondsMax))
        return Error(Errc::malformed, "the duration \"" + std::string(text.substr(0, 20)) + "\" in a playlist");
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000 + 0.5));
}

Result<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc())
        return Error(Errc::malformed, "the number \"" + std::string(text.substr(0, 20)) + "\" in a playlist");
    return value;
}

// The quoted value of URI in an attribute list.
std::string uri_attribute(std::string_view attributes) {
    constexpr std::string_view kBegin = "URI=\"";
    const auto at = attributes.find(kBegin);
    if (at == std::string_view::npos)
        return {};
    const auto rest = attributes.substr(at + kBegin.size());
    return std::string(rest.substr(0, std::min(rest.find('"'), rest.size())));
}

// Goes through the lines; a URI means what the tag before it said.
class Reader {
public:
    Result<void> on_line(std::string_view line) {
        if (line.empty())
            return {};
        if (line.front() != '#')
            return on_uri(line);
        if (const auto value = after(line, "#EXTINF:")) {
            duration_ = TRY(parse_seconds(*value));
        } else if (const auto target = after(line, "#EXT-X-TARGETDURATION:")) {
            playlist.target_duration = TRY(parse_seconds(*target));
        } else if (const auto sequence = after(line, "#EXT-X-MEDIA-SEQUENCE:")) {
            sequence_ = TRY(parse_number(*sequence));
        } else if (line.starts_with("#EXT-X-STREAM-INF:")) {
            variant_follows_ = true;
        } else if (const auto map = after(line, "#EXT-X-MAP:")) {
            playlist.map = uri_attribute(*map);
        } else if (line == "#EXT-X-ENDLIST") {
            playlist.is_ended = true;
        }
        return {};
    }

    Playlist playlist;

private:
    Result<void> on_uri(std::string_view uri) {
        if (uri.size() > Playlist::kUriBytesMax)
            return Error(Errc::limit, "a URI of more than " + std::to_string(Playlist::kUriBytesMax) + " bytes in a playlist");
        if (variant_follows_) {
            if (playlist.variants.size() >= Playlist::kVariantsMax)
                return Error(Errc::limit, "more than " + std::to_string(Playlist::kVariantsMax) + " variants");
            playlist.variants.emplace_back(uri);
            variant_follows_ = false;
            return {};
        }
        if (!duration_)
            return {};  // RFC 8216, 4.3.2.1: a segment has an EXTINF; a URI without one is not for us
        if (playlist.segments.size() >= Playlist::kSegmentsMax)
            return Error(Errc::limit, "more than " + std::to_string(Playlist::kSegmentsMax) + " segments");
        playlist.segments.push_back({sequence_++, *duration_, std::string(uri)});
        duration_.reset();
        return {};
    }

    std::optional<std::chrono::milliseconds> duration_;
    std::uint64_t sequence_ = 0;
    bool variant_follows_ = false;
};

// RFC 3986, 5.2.4, for a path that begins with '/'.
std::string without_dot_segments(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        const auto end = std::min(path.find('/', 1), path.size());
        const std::string_view segment = path.substr(0, end);
        const bool is_last = end == path.size();
        if (segment == "/..") {
            out.erase(std::min(out.rfind('/'), out.size()));
            if (is_last)
                out += '/';
        } else if (segment == "/.") {
            if (is_last)
                out += '/';
        } else {
            out += segment;
        }
        path.remove_prefix(end);
    }
    return out;
}

}  // namespace

Result<Playlist> parse_playlist(std::string_view text) {
    if (text.size() > Playlist::kBytesMax)
        return Error(Errc::limit, "a playlist of more than " + std::to_string(Playlist::kBytesMax) + " bytes");
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    if (!text.starts_with("#EXTM3U"))
        return Error(Errc::malformed, "this is no playlist: it does not begin with #EXTM3U");
    Reader reader;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        TRY(reader.on_line(ascii::trimmed(text.substr(0, end), kBlanks)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(reader.playlist);
}

std::string resolve_reference(std::string_view base, std::string_view reference) {
    base = base.substr(0, std::min(base.find('#'), base.size()));
    const auto scheme_end = base.find("://");
    if (reference.substr(0, reference.find_first_of("/?#")).find(':') != std::string_view::npos ||
        scheme_end == std::string_view::npos)
        return std::string(reference);
    if (reference.starts_with("//"))
        return std::string(base.substr(0, scheme_end + 1)).append(reference);
    const auto path_begin = std::min(base.find_first_of("/?", scheme_end + 3), base.size());
    const std::string origin(base.substr(0, path_begin));
    std::string_view path = base.substr(path_begin);
    if (reference.empty())
        return std::string(base);
    path = path.substr(0, std::min(path.find('?'), path.size()));
    if (reference.starts_with('?'))
        return origin + std::string(path.empty() ? "/" : path).append(reference);
    const auto query_begin = std::min(reference.find('?'), reference.size());
    std::string joined;
    if (!reference.starts_with('/'))
        joined = path.empty() ? "/" : std::string(path.substr(0, path.rfind('/') + 1));
    joined += reference.substr(0, query_begin);
    return origin + without_dot_segments(joined).append(reference.substr(query_begin));
}

}  // namespace live::bench
