// The request of an SRT client in the stream id of its handshake (SRT access control, "#!::key=value,..."), in all forms that
// clients use. As with RTMP, the virtual host is not checked. Dry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::srt {

enum class Mode : std::uint8_t { request, publish };

struct StreamId {
    Mode mode = Mode::request;
    // The schema is "srt". Parameters are those of the id, in the order of their names, after the virtual host's; they are not
    // decoded.
    wire::rtmp::StreamUrl url;
    // The servers that the request has passed, separated by commas; see RelayClaims.
    std::string relay_path{};

    bool operator==(const StreamId&) const = default;
};

// Values for the missing parts of an id.
struct StreamIdDefaults {
    std::string app = "live";
    Mode mode = Mode::request;  // of an id without "#!::"
};

// That of the protocol.
inline constexpr std::size_t kStreamIdBytesMax = 512;

// These forms:
//   #!::h=VHOST,r=APP/STREAM,m=publish,key=value    m=request, or none, plays; a '?' is read as ','
//   #!::h=APP/STREAM  #!::h=VHOST/APP/STREAM         older
//   publish:APP/STREAM[:USER[:PASSWORD[:QUERY]]]     read: plays
//   APP/STREAM[?QUERY]  STREAM[?QUERY]               the default mode
//   srt://VHOST[:PORT]/APP/STREAM[?QUERY]            likewise
// All but the first may be percent-encoded. The names have passed the allow-list.
// Errc::malformed; Errc::unsupported for another mode or type; Errc::denied for a name; Errc::limit.
Result<StreamId> parse_stream_id(std::string_view text, const StreamIdDefaults& defaults);

// Whether a key of a stream id is not a parameter of the client.
bool is_reserved_key(std::string_view key);
// The path of servers as a parameter of a stream id: key and value.
std::string path_parameter(std::string_view relay_path);

// Parameters for a log: without secrets.
std::string loggable(std::string_view param);

}  // namespace live::session::srt
