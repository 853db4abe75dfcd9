#include "wire/hls/playlist_reader.hpp"

#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace live::wire::hls {

namespace {

Error broken(std::string what) { return {Errc::malformed, "the playlist has " + std::move(what)}; }

Result<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
        return broken("a number that is none");
    return number;
}

// "3.336, no desc".
Result<MediaTime> duration_of(std::string_view text) {
    text = text.substr(0, text.find(','));
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const double most = std::chrono::duration<double>(kSegmentDurationMax).count();
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(number >= 0) || number > most)
        return broken("a duration that is none");
    return MediaTime(std::llround(number * 1e6));
}

// The value of NAME=... in an attribute list, without quotes (RFC 8216, 4.2); empty when it is missing.
std::string_view attribute(std::string_view list, std::string_view name) {
    while (!list.empty()) {
        const std::size_t equals = list.find('=');
        if (equals == std::string_view::npos)
            return {};
        const std::string_view found = list.substr(0, equals);
        list.remove_prefix(equals + 1);
        std::string_view value;
        if (list.starts_with('"')) {
            const std::size_t end = list.find('"', 1);
            if (end == std::string_view::npos)
                return {};
            value = list.substr(1, end - 1);
            list.remove_prefix(end + 1);
        } else {
            value = list.substr(0, list.find(','));
            if (value.find('"') != std::string_view::npos)
                return {};
            list.remove_prefix(value.size());
        }
        if (found == name)
            return value;
        if (list.starts_with(','))
            list.remove_prefix(1);
        else
            return {};
    }
    return {};
}

// 0x and two digits per byte (RFC 8216, 4.3.2.4).
Result<void> read_iv(std::string_view text, std::array<std::uint8_t, 16>& iv) {
    constexpr int kHexadecimal = 16;
    if (!text.starts_with("0x") && !text.starts_with("0X"))
        return broken("a key with an IV that is not hexadecimal");
    text.remove_prefix(2);
    if (text.size() != 2 * iv.size())
        return broken("a key with an IV of another size");
    for (std::size_t i = 0; i < iv.size(); ++i) {
        const char* digits = text.data() + 2 * i;
        const auto read = std::from_chars(digits, digits + 2, iv[i], kHexadecimal);
        if (read.ec != std::errc() || read.ptr != digits + 2)
            return broken("a key with an IV that is no number");
    }
    return {};
}

// RFC 8216, 5.2: the IV defaults to the segment number.
std::array<std::uint8_t, 16> iv_of(std::uint64_t number) {
    std::array<std::uint8_t, 16> iv{};
    for (std::size_t i = iv.size(); number != 0; number >>= 8)
        iv[--i] = static_cast<std::uint8_t>(number);
    return iv;
}

// The URI of a key or map, which applies to all following segments.
Result<std::string> kept_uri(std::string_view list) {
    const std::string_view uri = attribute(list, "URI");
    if (uri.size() > kPlaylistUriBytesMax)
        return Error(Errc::limit, "the playlist has a key or a map with a URI of " + std::to_string(uri.size()) + " bytes");
    return std::string(uri);
}

class Reader {
public:
    Result<void> read_line(std::string_view line) {
        if (line.empty())
            return {};
        if (!line.starts_with('#'))
            return end_entry(line);
        const std::size_t colon = line.find(':');
        const std::string_view tag = line.substr(0, colon);
        const std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
        if (tag == "#EXT-X-MEDIA-SEQUENCE")
            playlist_.media_sequence = TRY(whole_number(value));
        else if (tag == "#EXT-X-DISCONTINUITY-SEQUENCE")
            playlist_.discontinuity_sequence = TRY(whole_number(value));
        else if (tag == "#EXT-X-TARGETDURATION")
            playlist_.target_duration = TRY(duration_of(value));
        else if (tag == "#EXTINF")
            duration_ = TRY(duration_of(value));
        else if (tag == "#EXT-X-STREAM-INF")
            variant_follows_ = true;
        else if (tag == "#EXT-X-ENDLIST")
            read_.is_ended = true;
        else if (tag == "#EXT-X-INDEPENDENT-SEGMENTS")
            playlist_.independent = true;
        else
            TRY(read_segment_tag(tag, value));
        return {};
    }
    AnyPlaylist take() { return std::move(read_); }

private:
    Result<void> read_segment_tag(std::string_view tag, std::string_view value) {
        if (tag == "#EXT-X-DISCONTINUITY")
            next_.discontinuity = true;
        else if (tag == "#EXT-X-GAP")
            next_.gap = true;
        else if (tag == "#EXT-X-KEY")
            TRY(read_key(value));
        else if (tag == "#EXT-X-MAP")
            next_.map = TRY(kept_uri(value));
        else if (tag == "#EXT-X-PROGRAM-DATE-TIME")
            next_.date = read_date(value);
        return {};
    }
    // Other servers may write a date in another form, which is left out.
    static std::optional<UtcTime> read_date(std::string_view value) {
        const auto date = parse_utc_text(value);
        return date.ok() ? std::optional(*date) : std::nullopt;
    }
    Result<void> read_key(std::string_view list) {
        next_.key.reset();
        if (attribute(list, "METHOD") != "AES-128")
            return {};
        next_.key = Key{TRY(kept_uri(list)), {}};
        const std::string_view iv = attribute(list, "IV");
        has_iv_ = !iv.empty();
        return has_iv_ ? read_iv(iv, next_.key->iv) : Result<void>();
    }
    Result<void> end_entry(std::string_view uri) {
        if (!std::exchange(variant_follows_, false))
            return end_segment(uri);
        if (read_.variants.size() >= kPlaylistVariantsMax)
            return Error(Errc::limit, "the playlist has too many variants");
        read_.variants.emplace_back(uri);
        return {};
    }
    Result<void> end_segment(std::string_view uri) {
        if (!duration_)
            return broken("an entry without EXTINF");
        if (playlist_.segments.size() >= kPlaylistSegmentsMax)
            return Error(Errc::limit, "the playlist has too many segments");
        next_.uri = uri;
        next_.duration = *duration_;
        if (next_.key && !has_iv_)
            next_.key->iv = iv_of(playlist_.media_sequence + playlist_.segments.size());
        playlist_.segments.push_back(next_);
        duration_.reset();
        // Key and map stay in effect until they are replaced.
        next_.discontinuity = false;
        next_.gap = false;
        next_.date.reset();
        return {};
    }

    AnyPlaylist read_;
    MediaPlaylist& playlist_ = read_.media;
    Segment next_;
    std::optional<MediaTime> duration_;
    bool has_iv_ = false;
    bool variant_follows_ = false;
};

}  // namespace

Result<AnyPlaylist> parse_playlist(std::string_view text) {
    if (text.size() > kPlaylistBytesMax)
        return Error(Errc::limit, "the playlist has " + std::to_string(text.size()) + " bytes");
    Reader reader;
    bool is_first = true;
    // A last line without a line end may be truncated.
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        // CRLF also ends a line (RFC 8216, 4.1), and so does CR CR LF, which some tools produce.
        while (line.ends_with('\r'))
            line.remove_suffix(1);
        if (std::exchange(is_first, false)) {
            if (line != "#EXTM3U")
                return Error(Errc::malformed, "this is no playlist: its first line is not #EXTM3U");
            continue;
        }
        TRY(reader.read_line(line));
    }
    if (is_first)
        return Error(Errc::malformed, "this is no playlist: it has no first line");
    auto read = reader.take();
    if (!read.variants.empty() && !read.media.segments.empty())
        return broken("both variants and segments");
    return read;
}

Result<MediaPlaylist> parse_media_playlist(std::string_view text) {
    auto read = TRY(parse_playlist(text));
    if (!read.variants.empty())
        return broken("variants instead of segments");
    return std::move(read.media);
}

}  // namespace live::wire::hls
