// The stream that the URL of an RTSP request refers to: rtsp://HOST[:PORT]/APP/STREAM[?QUERY], where a query or a track may
// follow each other in either order.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::rtsp {

// Errors as wire::rtmp::parse_stream_url and admit; Errc::denied without a stream.
Result<wire::rtmp::StreamUrl> stream_of(std::string_view url);

// The video track that the query of a URL names, as in "?rendition=360p"; empty if it names none. Errc::malformed.
Result<std::string> rendition_of(std::string_view param);

// The RTSP status for a refusal.
int status_for(Errc code);

}  // namespace live::session::rtsp
