// PlaybackRequest: a request to the playback port: a stream by its path, a span of time, a format. Dry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/text/wall_time_text.hpp"
#include "base/time.hpp"
#include "service/recordings/recording_index.hpp"
#include "wire/http/target.hpp"

namespace live::service::recordings {

struct PlaybackRequest {
    // `segment`, `init` and `cues` are parts of one recording, as playlists name them: media, its header, and the subtitles that
    // are shown during a segment. `media` and `text` are the playlists in a master playlist.
    enum class Format : std::uint8_t { fmp4, mp4, hls, media, text, segment, init, cues };
    // Ten years: more than an excerpt ever has.
    static constexpr MediaTime kDurationMax = std::chrono::hours(24 * 3'650);

    std::string app;
    std::string stream;
    std::optional<WallTime> start;
    std::optional<WallTime> end;  // of a list
    std::optional<MediaTime> duration;
    std::optional<MediaTime> ago;  // in place of a start: so long before now
    Format format = Format::fmp4;
    // A segment: its place in the file that begins at `start`, and the time of the file's media time zero for players.
    struct Segment {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        MediaTime at{};
    };
    Segment segment{};
    std::string language;  // of `text` and `cues`: "" or a tag in lower case

    // path=APP/STREAM, start= and end= as in RFC 3339 (start also as a negative number of seconds: before now), duration= in
    // seconds, format=fmp4, mp4 or hls; or segment, cues or init with offset=, bytes= and at=; language=. Errc::malformed with a
    // sentence for the client.
    static Result<PlaybackRequest> parse(const wire::http::Query& query);
    // The playlist of a live stream with its past: `path` is /APP/STREAM.m3u8.
    static Result<PlaybackRequest> parse_timeshift(std::string_view path, const wire::http::Query& query);
    // The time at which playback is to begin.
    std::optional<WallTime> start_at(WallTime now) const { return ago ? std::optional(now - *ago) : start; }
};

// The body of /list: a JSON array with an entry for each span. `get_url` is where to get one, with the parameters that all have,
// as "http://HOST/get?path=live%2Fcam". In portions: the entries of `spans`.
std::string list_text(const std::vector<RecordedSpan>& spans, std::size_t first, std::size_t count, const std::string& get_url);

// {"status":"error","error":sentence}
std::string error_text(std::string_view sentence);

}  // namespace live::service::recordings
