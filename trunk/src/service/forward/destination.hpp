// Destination: an operator's destination in any of its forms, combined with the stream's own names. Pure; service/rtmp_client
// resolves and connects, and detects a destination that is this server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "session/srt/call/call_url.hpp"
#include "session/srt/stream_id.hpp"
#include "wire/amf/value.hpp"

namespace live::service::forward {

// The forwarded stream. Names have passed the allow-list.
struct StreamName {
    std::string vhost;  // empty for the default virtual host
    std::string app;
    std::string stream;
    std::string param;  // the publisher's query with its '?', or empty; the keys that name a virtual host are not sent
};

struct Destination {
    bool is_secure = false;  // rtmps
    std::string host;        // a name or an address, without brackets
    std::uint16_t port = 0;
    std::string tc_url;
    std::string app;
    std::string stream;  // with its query
    // For the log: without the query, which may hold a key, and without a stream name set by the operator, which often is one.
    std::string label;
    // Sent after the command object of connect, if it is an AMF object.
    wire::amf::Value connect_arguments{};
    // Named by the operator; otherwise by another destination's reconnect request, with its address in `sent_by`.
    bool is_named = true;
    std::string sent_by{};
};

inline constexpr std::size_t kDestinationBytesMax = 1024;

// Reads a forward.destination:
//   host  host:port  rtmp://host[:port]                   the stream keeps its app and name, the virtual host goes into ?vhost=
//   rtmp://host[:port]/app[?query]                         another app, the same name; the query goes into the tcUrl
//   rtmp://host[:port]/app/.../name[?query]                all as written, such as a streaming platform with a key for a name
// and the same with rtmps://. Default ports are 1935 and 443. Errc::malformed, Errc::limit over kDestinationBytesMax.
Result<Destination> make_destination(std::string_view text, const StreamName& stream);

// Reads an srt:// destination, in which [vhost], [app], [stream] and [param] stand for those of the stream. Without a streamid,
// the stream is published there (or requested, see `mode`) under its own names. Errors as parse_call_url(); Errc::unsupported for
// names with a comma, which separates the keys of a stream id.
Result<session::srt::CallUrl> make_srt_destination(std::string_view text, const StreamName& stream,
                                                   session::srt::Mode mode = session::srt::Mode::publish);

// Checks a destination in any of these forms, without a stream. Errors as above.
Result<void> validate_destination(std::string_view text);

// Returns the target of a reconnect request (E-RTMP v2, "Reconnect Request"): `tc_url` is absolute, begins with "//" or "/", or
// is empty for the same server; the stream keeps its name. Errc::malformed, Errc::limit over kDestinationBytesMax, Errc::denied
// for a target without TLS after one with TLS.
Result<Destination> moved_destination(const Destination& from, std::string_view tc_url);

}  // namespace live::service::forward
