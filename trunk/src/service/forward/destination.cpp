#include "service/forward/destination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/net/endpoint.hpp"
#include "base/text/ascii.hpp"
#include "base/text/printable.hpp"
#include "base/text/secret.hpp"
#include "base/text/variables.hpp"
#include "wire/http/target.hpp"
#include "wire/rtmp/stream_query.hpp"

namespace live::service::forward {

namespace {

constexpr std::uint16_t kRtmpPort = 1935;
constexpr std::uint16_t kRtmpsPort = 443;

struct Authority {
    std::string host;
    std::uint16_t port = 0;
};

// Hides the path, which may contain a stream key.
Error malformed(std::string_view text, std::string_view why) {
    const std::size_t scheme = text.find("://");
    const std::size_t path = text.find_first_of("/?", scheme == std::string_view::npos ? 0 : scheme + 3);
    return {Errc::malformed, fmt::format("forward destination \"{}{}\": {}", redacted(text.substr(0, path)),
                                         path == std::string_view::npos ? "" : "/***", why)};
}

Result<Authority> parse_authority(std::string_view text, std::string_view authority, std::uint16_t default_port) {
    Authority parsed{{}, default_port};
    std::string_view port;
    if (authority.starts_with('[')) {
        const std::size_t close = authority.find(']');
        if (close == std::string_view::npos)
            return malformed(text, "the bracket of the IPv6 address is not closed");
        parsed.host = authority.substr(1, close - 1);
        port = authority.substr(close + 1);
    } else {
        const std::size_t colon = std::min(authority.find(':'), authority.size());
        parsed.host = authority.substr(0, colon);
        port = authority.substr(colon);
    }
    if (parsed.host.empty())
        return malformed(text, "it names no host");
    if (port.empty())
        return parsed;
    const char* const end = port.data() + port.size();
    const auto [stop, failure] = std::from_chars(port.data() + 1, end, parsed.port);
    if (port.front() != ':' || failure != std::errc() || stop != end || parsed.port == 0)
        return malformed(text, "the port is not a number from 1 to 65535");
    return parsed;
}

}  // namespace

Result<Destination> make_destination(std::string_view text, const StreamName& stream) {
    if (text.size() > kDestinationBytesMax)
        return Error(Errc::limit,
                     fmt::format("a forward destination has {} bytes, {} are the limit", text.size(), kDestinationBytesMax));
    constexpr std::string_view kSchemeEnd = "://";
    std::string_view rest = text;
    std::string_view scheme = "rtmp";
    if (const std::size_t at = text.find(kSchemeEnd); at != std::string_view::npos) {
        scheme = text.substr(0, at);
        rest = text.substr(at + kSchemeEnd.size());
    }
    if (scheme != "rtmp" && scheme != "rtmps")
        return malformed(text, "only rtmp://, rtmps:// and srt:// are supported");
    const std::size_t question = std::min(rest.find('?'), rest.size());
    const std::size_t slash = std::min(rest.find('/'), question);
    const std::string query(rest.substr(question));
    const std::string_view path = ascii::trimmed(rest.substr(slash, question - slash), "/");

    const std::string name = stream.stream + wire::rtmp::without_vhost(stream.param);
    Destination made;
    made.is_secure = scheme == "rtmps";
    auto authority = TRY(parse_authority(text, rest.substr(0, slash), made.is_secure ? kRtmpsPort : kRtmpPort));
    made.host = std::move(authority.host);
    made.port = authority.port;
    const std::string base = fmt::format("{}://{}/", scheme, Endpoint{made.host, made.port}.text());
    const std::size_t last_slash = path.rfind('/');
    if (path.empty()) {
        made.app = stream.app;
        made.stream = name;
        made.tc_url = base + made.app;
        if (query.size() > 1)
            made.tc_url += query;
        else if (!stream.vhost.empty())
            made.tc_url += "?vhost=" + stream.vhost;
    } else if (last_slash == std::string_view::npos) {
        made.app = path;
        made.stream = name;
        made.tc_url = base + made.app + (query.size() > 1 ? query : "");
    } else {
        made.app = path.substr(0, last_slash);
        made.stream = std::string(path.substr(last_slash + 1)) + query;
        made.tc_url = base + made.app;
    }
    made.label = base + made.app + "/" + (last_slash == std::string_view::npos ? stream.stream : "***");
    return made;
}

Result<session::srt::CallUrl> make_srt_destination(std::string_view text, const StreamName& stream, session::srt::Mode mode) {
    for (const std::string& name : {stream.vhost, stream.app, stream.stream})
        if (name.find(',') != std::string::npos)
            return Error(Errc::unsupported, "a name with a comma does not fit into a stream id");
    std::string param = wire::rtmp::without_vhost(stream.param);
    if (param.starts_with('?'))
        param.erase(0, 1);
    const std::string whole = replace_variables(text, {{"vhost", stream.vhost},
                                                       {"app", wire::http::percent_encode_path(stream.app)},
                                                       {"stream", wire::http::percent_encode_path(stream.stream)},
                                                       {"param", wire::http::percent_encode(param)}});
    auto url = TRY(session::srt::parse_call_url(whole));
    if (url.stream_id.empty())
        url.stream_id = fmt::format("#!::{}r={}/{},m={}", stream.vhost.empty() ? "" : "h=" + stream.vhost + ",", stream.app,
                                    stream.stream, mode == session::srt::Mode::publish ? "publish" : "request");
    if (url.stream_id.size() > session::srt::kStreamIdBytesMax)
        return Error(Errc::limit, "the stream's names are too long for a stream id");
    return url;
}

Result<void> validate_destination(std::string_view text) {
    const StreamName some{"", "app", "stream", ""};
    if (session::srt::is_srt_url(text))
        TRY(make_srt_destination(text, some));
    else
        TRY(make_destination(text, some));
    return {};
}

Result<Destination> moved_destination(const Destination& from, std::string_view tc_url) {
    if (tc_url.empty())
        return from;
    if (tc_url.size() > kDestinationBytesMax)
        return Error(Errc::limit, "a reconnect request with an address that is too long");
    // The name of the application may contain spaces and any Unicode letters.
    if (!is_printable_utf8(tc_url))
        return Error(Errc::malformed, "a reconnect request with a malformed address");
    constexpr std::string_view kSchemeEnd = "://";
    const std::string_view scheme_now = from.is_secure ? "rtmps" : "rtmp";
    std::string url(tc_url);
    if (tc_url.starts_with("//"))
        url = fmt::format("{}:{}", scheme_now, tc_url);
    else if (tc_url.starts_with('/'))
        url = fmt::format("{}://{}{}", scheme_now, Endpoint{from.host, from.port}.text(), tc_url);
    const std::size_t scheme_end = url.find(kSchemeEnd);
    const std::string_view scheme = std::string_view(url).substr(0, scheme_end);
    if (scheme_end == std::string::npos || (scheme != "rtmp" && scheme != "rtmps"))
        return malformed(tc_url, "only rtmp:// and rtmps:// are supported");
    Destination made = from;
    made.is_secure = scheme == "rtmps";
    if (from.is_secure && !made.is_secure)
        return Error(Errc::denied, "the destination asks to continue without TLS");
    const std::string_view rest = std::string_view(url).substr(scheme_end + kSchemeEnd.size());
    const std::size_t question = std::min(rest.find('?'), rest.size());
    const std::size_t slash = std::min(rest.find('/'), question);
    auto authority = TRY(parse_authority(tc_url, rest.substr(0, slash), made.is_secure ? kRtmpsPort : kRtmpPort));
    if (!std::ranges::all_of(authority.host, [](char letter) { return letter > ' ' && letter <= '~'; }))
        return malformed(tc_url, "the host name has invalid characters");
    made.is_named = from.is_named && authority.host == from.host && authority.port == from.port;
    made.host = std::move(authority.host);
    made.port = authority.port;
    if (const auto app = ascii::trimmed(rest.substr(slash, question - slash), "/"); !app.empty())
        made.app = app;
    made.tc_url = fmt::format("{}://{}/{}{}", scheme, Endpoint{made.host, made.port}.text(), made.app, rest.substr(question));
    const std::size_t name_at = std::min(from.label.rfind('/'), from.label.size());
    made.label = fmt::format("{}://{}/{}{}", scheme, Endpoint{made.host, made.port}.text(), made.app, from.label.substr(name_at));
    return made;
}

}  // namespace live::service::forward
