#include "app/start/sign_command.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/start/token_command.hpp"
#include "base/net/ip_network.hpp"
#include "service/recordings/playback_request.hpp"
#include "service/tokens/key_file.hpp"
#include "session/srt/stream_id.hpp"
#include "wire/http/target.hpp"
#include "wire/http/url.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::app {

namespace {

using service::tokens::Permission;

constexpr std::array<std::string_view, 8> kExtensions = {".flv", ".ts", ".aac", ".mp3", ".m3u8", ".mpd", ".mp4", ".mkv"};
constexpr std::string_view kSrtId = "streamid=";

// Without the extension of a stream over HTTP.
std::string without_extension(std::string name) {
    for (const std::string_view extension : kExtensions)
        if (name.size() > extension.size() && name.ends_with(extension))
            return name.substr(0, name.size() - extension.size());
    return name;
}

Result<NamedStream> stream_of_srt(std::string_view url) {
    const std::size_t at = url.find(kSrtId);
    if (at == std::string_view::npos)
        return Error(Errc::malformed, "an SRT URL has the stream in streamid=");
    const std::string_view id = url.substr(at + kSrtId.size());
    const auto parsed = TRY(session::srt::parse_stream_id(id.substr(0, id.find('&')), {}));
    return NamedStream{parsed.url.vhost, parsed.url.app, parsed.url.stream, true};
}

// WHIP and WHEP name the stream in the query.
Result<NamedStream> stream_of_offer(std::string_view url, std::string host) {
    const auto query = TRY(wire::http::Query::parse(url.substr(std::min(url.find('?'), url.size() - 1) + 1)));
    return NamedStream{std::string(query.get("vhost", std::move(host))), std::string(query.get("app", "live")),
                       std::string(query.get("stream", "livestream"))};
}

// The playback port names the stream in the query.
Result<NamedStream> stream_of_recording(std::string_view query_text, std::string host) {
    const auto query = TRY(wire::http::Query::parse(query_text));
    const auto asked = TRY(service::recordings::PlaybackRequest::parse(query));
    return NamedStream{std::string(query.get("vhost", std::move(host))), asked.app, asked.stream};
}

// The URL of a recording: http://HOST:PORT/get?path=APP/STREAM, or /list.
bool names_a_recording(std::string_view url_without_query) {
    const std::size_t host = url_without_query.find("://");
    const std::size_t path = host == std::string_view::npos ? host : url_without_query.find('/', host + 3);
    return path != std::string_view::npos &&
           (url_without_query.substr(path) == "/get" || url_without_query.substr(path) == "/list");
}

std::string with_query(const std::string& url, const NamedStream& stream, const std::string& query) {
    if (!stream.is_srt)
        return url + (url.find('?') == std::string::npos ? "?" : "&") + query;
    const std::size_t id = url.find(kSrtId) + kSrtId.size();
    const std::size_t end = std::min(url.find('&', id), url.size());
    std::string keys = query;
    const bool is_standard = url.substr(id).starts_with("#!::");
    if (is_standard)
        std::ranges::replace(keys, '&', ',');
    const char* const separator = is_standard ? "," : "?";
    return url.substr(0, end) + separator + keys + url.substr(end);
}

}  // namespace

Result<NamedStream> stream_of_url(std::string_view url) {
    if (url.starts_with("srt://"))
        return stream_of_srt(url);
    const bool is_http = url.starts_with("http") || url.starts_with("ws");
    const std::size_t query = std::min(url.find('?'), url.size());
    const std::size_t slash = url.substr(0, query).rfind('/');
    if (slash == std::string_view::npos || std::ranges::count(url.substr(0, query), '/') < 3)
        return Error(Errc::malformed, "expected a URL such as rtmp://HOST/APP/STREAM");
    if (is_http && names_a_recording(url.substr(0, query))) {
        const auto host = TRY(wire::http::parse_url(url.substr(0, query))).host;
        return stream_of_recording(url.substr(std::min(query + 1, url.size())), host);
    }
    auto parsed = TRY(wire::rtmp::parse_stream_url(url.substr(0, slash), std::string(url.substr(slash + 1))));
    if (is_http && url.find("/rtc/v1/") != std::string_view::npos)
        return stream_of_offer(url, parsed.vhost);
    if (is_http)
        parsed.stream = without_extension(std::move(parsed.stream));
    TRY(wire::rtmp::admit(parsed));
    return NamedStream{parsed.vhost, parsed.app, parsed.stream};
}

Result<SignCommand> parse_sign_command(std::span<const std::string_view> arguments, const config::Environment& environment) {
    SignCommand command;
    std::string conf_file;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const std::string_view option = arguments[at];
        if (option == "-c")
            conf_file = TRY(value_behind(arguments, at));
        else if (option == "--publish")
            command.permissions = {Permission::publish};
        else if (option == "--playback")
            command.permissions = {Permission::playback};
        else if (option == "--expires")
            command.lifetime = TRY(parse_lifetime(TRY(value_behind(arguments, at))));
        else if (option == "--never-expires")
            command.lifetime.reset();
        else if (option == "--address")
            command.network = TRY(value_behind(arguments, at));
        else if (!option.starts_with('-') && command.url.empty())
            command.url = option;
        else
            return Error(Errc::malformed, fmt::format("found \"{}\", expected one URL and some of -c --publish --playback "
                                                      "--expires --never-expires --address",
                                                      option));
    }
    if (command.url.empty())
        return Error(Errc::malformed, "expected a URL, such as rtmp://HOST/live/cam");
    TRY(stream_of_url(command.url));
    if (!command.network.empty())
        TRY(IpNetwork::parse(command.network));
    command.conf = TRY(parse_conf_file(conf_file, environment));
    return command;
}

Result<std::string> sign_url(const SignCommand& command, const settings::Settings& settings,
                             service::signed_urls::UnixSeconds now) {
    const NamedStream stream = TRY(stream_of_url(command.url));
    const settings::Vhost* vhost = settings.find_vhost(stream.vhost);
    if (vhost == nullptr)
        return Error(Errc::not_found, "there is no virtual host " + stream.vhost);
    if (!vhost->access.enabled)
        return Error(Errc::unsupported, "access is off in the virtual host " + vhost->name);
    std::string path = stream.app + "/" + stream.stream;
    if (vhost->name != settings::kDefaultVhost)
        path = vhost->name + "/" + path;
    for (const std::string& file : vhost->access.key_files) {
        const auto found = TRY(service::tokens::read_or_make_key(file));
        if (found.key.secret().empty())
            continue;
        service::signed_urls::Signing signing{path, command.permissions, {}, command.network};
        if (command.lifetime)
            signing.expires = now + *command.lifetime;
        return with_query(command.url, stream, TRY(service::signed_urls::sign(signing, found.key.secret())));
    }
    return Error(Errc::unsupported, "none of the key files has a secret");
}

std::string sign_help(std::string_view program) {
    return fmt::format(
        "Usage: {0} sign -c FILE URL [--publish | --playback] [--expires TIME] [--address NETWORK]\n"
        "\n"
        "Prints the URL with a signature, which permits to play its stream.\n"
        "\n"
        "   -c FILE            the conf file of the server, which has access {{ enabled on; }}\n"
        "   --publish          permits to publish it instead\n"
        "   --playback         permits to play its recordings instead, by http://HOST/get?path=APP/STREAM\n"
        "   --expires TIME     the lifetime: 90, 5s, 10m, 1h (the default) or 7d\n"
        "   --never-expires    no expiry\n"
        "   --address NETWORK  only for clients of this address or network\n",
        program);
}

}  // namespace live::app
