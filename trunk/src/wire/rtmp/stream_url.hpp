// Determines which stream a client means: splits an RTMP-like URL into virtual host, application, stream and parameters, in all
// forms that clients use. It accepts every name and does not check that the virtual host exists. Names are untrusted and become
// file names and URLs, so admission calls admit() before a stream is published or played.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::wire::rtmp {

inline constexpr std::size_t kUrlBytesMax = 4'096;
inline constexpr std::size_t kNameBytesMax = 255;
inline constexpr std::string_view kDefaultVhost = "__defaultVhost__";
inline constexpr std::string_view kDefaultApp = "__defaultApp__";

struct StreamUrl {
    std::string schema;  // "rtmp"
    std::string host;    // as in the URL, without port and brackets
    std::string vhost;   // the host, unless a parameter names another; never empty
    std::string app;     // never empty; may contain '/'
    std::string stream;  // may be empty until a client publishes or plays
    std::string param;   // empty, or '?' and the joined parameters of tcUrl and the stream name; not decoded
    std::uint16_t port = 0;

    bool operator==(const StreamUrl&) const = default;
};

// Parses the values an RTMP client sends: tcUrl in `connect`, the name in `publish` or `play` (empty when not known yet). Without
// a name, the last segment of tcUrl's path is the stream ("rtmp://h/live/cam" and ""), unless it is the only one. Errc::malformed
// without "schema://host" or with an invalid port, Errc::limit when either is longer than kUrlBytesMax.
Result<StreamUrl> parse_stream_url(std::string_view tc_url, std::string_view stream_name);

// The same when `connect` also carries an `app`: if neither of the others names a stream, app's last segment does; if tcUrl names
// the whole stream and the name repeats it, the app is `app`.
Result<StreamUrl> parse_stream_url(std::string_view tc_url, std::string_view stream_name, std::string_view app);

// Parses one complete URL: the last slash separates the stream, also inside the parameters ("rtmp://h/live?vhost=v/cam").
Result<StreamUrl> parse_stream_url(std::string_view url);

// For an application or a stream. Errc::denied, with a sentence for the client, unless the name has 1 to kNameBytesMax bytes:
// [0-9A-Za-z_-./@=+:,~], a space, '&', both quotes, and others than ASCII in UTF-8, but for controls and marks that change the
// direction of text. It contains no "..", no empty or "." segment, so no '/' at either end, and no segment begins or ends with a
// space. A writer of URIs, XML, JSON or labels of metrics escapes names.
Result<void> admit_name(std::string_view name);

// Like admit_name(), for a virtual host: also rejects a space, '&' and quotes, because queries contain it unencoded.
Result<void> admit_vhost(std::string_view name);

// Applies admit_vhost() and admit_name() to all three; the error names the rejected one.
Result<void> admit(const StreamUrl& url);

}  // namespace live::wire::rtmp
