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
    enum class Format : std::uint8_t { fmp4, mp4 };
    // Ten years: more than an excerpt ever has.
    static constexpr MediaTime kDurationMax = std::chrono::hours(24 * 3'650);

    std::string app;
    std::string stream;
    std::optional<WallTime> start;
    std::optional<WallTime> end;  // of a list
    std::optional<MediaTime> duration;
    Format format = Format::fmp4;

    // path=APP/STREAM, start= and end= as in RFC 3339, duration= in seconds, format=fmp4 or mp4. Errc::malformed with a
    // sentence for the client.
    static Result<PlaybackRequest> parse(const wire::http::Query& query);
};

// The body of /list: a JSON array with an entry for each span. `get_url` is where to get one, with the parameters that all have,
// as "http://HOST/get?path=live%2Fcam". In portions: the entries of `spans`.
std::string list_text(const std::vector<RecordedSpan>& spans, std::size_t first, std::size_t count, const std::string& get_url);

// {"status":"error","error":sentence}
std::string error_text(std::string_view sentence);

}  // namespace live::service::recordings
