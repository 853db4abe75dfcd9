#include "service/relay/upstream/upstream_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "engine/http1/writer.hpp"
#include "service/forward/destination.hpp"
#include "wire/http/target.hpp"
#include "wire/http/url.hpp"
#include "wire/rtmp/stream_query.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::relay {

namespace {

using wire::amf::Value;

std::string tc_url_of(const Wanted& wanted) {
    const Origin& origin = wanted.origin;
    const std::string& host = wanted.vhost == wire::rtmp::kDefaultVhost ? origin.host : wanted.vhost;
    const std::string place = origin.port == usual_port(Scheme::rtmp) && host.find(':') == std::string::npos
                                  ? host
                                  : Endpoint{host, origin.port}.text();
    return fmt::format("{}://{}/{}", name_of(origin.scheme), place, wanted.app);
}

// An RTMP client's text may contain bytes that end a request line.
std::string fit_for_url(std::string_view query) {
    std::string fit;
    for (const char letter : query) {
        const bool is_plain = letter > ' ' && letter <= '~' && letter != '#' && letter != '"' && letter != '<' && letter != '>';
        fit += is_plain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<std::uint8_t>(letter));
    }
    return fit;
}

// Returns the part of a client's query that may be a value in a stream id: without other keys and separators.
std::vector<std::string> stream_id_parameters(std::string_view query) {
    std::vector<std::string> parameters;
    query.remove_prefix(std::min<std::size_t>(query.size(), query.starts_with('?') ? 1 : 0));
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view one = query.substr(0, end);
        if (!one.empty() && !session::srt::is_reserved_key(one.substr(0, one.find('=')))) {
            std::string fit;
            for (const char letter : fit_for_url(one))
                fit += letter == ',' ? "%2C" : letter == '?' ? "%3F" : std::string(1, letter);
            parameters.push_back(std::move(fit));
        }
        query.remove_prefix(std::min(end + 1, query.size()));
    }
    return parameters;
}

std::string target_of(const Wanted& wanted) {
    if (!wanted.target.empty())
        return wanted.target;
    std::string query = fit_for_url(wanted.query);
    if (wanted.vhost != wire::rtmp::kDefaultVhost)
        query += (query.empty() ? "?vhost=" : "&vhost=") + wire::http::percent_encode(wanted.vhost);
    return fmt::format("/{}/{}.flv{}", wire::http::percent_encode_path(wanted.app),
                       wire::http::percent_encode_path(wanted.stream), query);
}

std::string authority_of(const Origin& origin) {
    return wire::http::Url{is_secure(origin.scheme), origin.server_name(), origin.port, {}}.authority();
}

// The target's query comes from the origin; its virtual host is requested.
Result<Wanted> follow_http(Wanted wanted, std::string_view text) {
    auto url = TRY(wire::http::parse_url(text));
    wanted.origin = {std::move(url.host), url.port, url.is_secure ? Scheme::https : Scheme::http};
    wanted.target = std::move(url.target);
    const std::size_t question = std::min(wanted.target.find('?'), wanted.target.size());
    const std::string_view path = std::string_view(wanted.target).substr(0, question);
    if (path != "/" && !path.ends_with(".flv"))
        return Error(Errc::denied, "a redirect to a path that is no FLV stream's");
    if (auto named = wire::rtmp::named_vhost(std::string_view(wanted.target).substr(question)))
        wanted.vhost = *std::move(named);
    TRY(wire::rtmp::admit_vhost(wanted.vhost));
    return wanted;
}

Result<Wanted> follow_rtmp(Wanted wanted, std::string_view text, Scheme scheme) {
    const std::string_view rest = text.substr(text.find("://") + 3);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    auto place = TRY(parse_host(rest.substr(0, end)));
    wanted.origin = {std::move(place.host), place.port.value_or(usual_port(scheme)), scheme};
    wanted.target.clear();
    std::string_view path = rest.substr(end);
    path = path.substr(0, path.find('?'));
    if (std::ranges::count(path, '/') < 2 || path.ends_with('/'))
        return wanted;
    auto url = TRY(wire::rtmp::parse_stream_url(text));
    TRY(wire::rtmp::admit(url));
    if (url.vhost != url.host)
        wanted.vhost = std::move(url.vhost);
    wanted.app = std::move(url.app);
    wanted.stream = std::move(url.stream);
    if (std::string query = wire::rtmp::without_vhost(url.param); !query.empty())
        wanted.query = std::move(query);
    return wanted;
}

}  // namespace

Result<std::string> extend_path(std::string_view path, std::string_view server_id) {
    std::size_t hops = 1;
    for (std::string_view rest = path; !rest.empty(); ++hops) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        if (rest.substr(0, end) == server_id)
            return Error(Errc::denied, "the edges pull from each other in a circle: this server is in the path already");
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    std::string extended = path.empty() ? std::string(server_id) : fmt::format("{},{}", path, server_id);
    if (hops > kHopsMax || extended.size() >= kPathBytesMax)
        return Error(Errc::denied, fmt::format("more than {} servers in a row", kHopsMax));
    return extended;
}

Wanted wanted_from(const Origin& origin, const session::ClientRequest& client, const std::string& vhost,
                   const ClusterOptions& options) {
    std::string name = origin.scheme == Scheme::worker ? vhost : options.vhost;
    if (const std::size_t at = name.find("[vhost]"); at != std::string::npos)
        name.replace(at, 7, vhost);
    return {origin, std::move(name), client.app, client.stream, wire::rtmp::without_vhost(client.param)};
}

bool keeps_trust(const Wanted& from, const Wanted& to) {
    const bool is_same_vhost = from.vhost == to.vhost || stated_vhost(from) == stated_vhost(to);
    return is_same_vhost && from.app == to.app && from.stream == to.stream &&
           (is_secure(to.origin.scheme) || !is_secure(from.origin.scheme));
}

Result<Wanted> follow_redirect(const Wanted& from, std::string_view url) {
    if (from.origin.scheme == Scheme::worker)
        return Error(Errc::denied, "another worker redirects");
    if (url.size() > kRedirectBytesMax)
        return Error(Errc::limit, "a redirect to an address that is too long");
    if (url.starts_with('/') && is_http(from.origin.scheme)) {
        Wanted wanted = TRY(follow_http(from, fmt::format("http://{}{}", authority_of(from.origin), url)));
        wanted.origin = from.origin;
        return wanted;
    }
    if (url.starts_with("rtmp://"))
        return follow_rtmp(from, url, Scheme::rtmp);
    if (url.starts_with("rtmps://"))
        return follow_rtmp(from, url, Scheme::rtmps);
    return follow_http(from, url);
}

// The virtual host in the tcUrl or the Host field.
std::string stated_vhost(const Wanted& wanted) {
    if (wanted.vhost != wire::rtmp::kDefaultVhost || wanted.origin.scheme == Scheme::worker)
        return wanted.vhost;
    return is_http(wanted.origin.scheme) ? wanted.origin.server_name() : wanted.origin.host;
}

engine::rtmp::ClientOptions rtmp_request(const Wanted& wanted, const ClusterOptions& options, const Node& node,
                                         const Introduction& introduction) {
    engine::rtmp::ClientOptions request;
    request.mode = engine::rtmp::ClientOptions::Mode::play;
    request.app = wanted.app;
    request.tc_url = tc_url_of(wanted);
    request.stream = wanted.stream + wanted.query;
    request.flash_version = "WIN 15,0,0,239";
    Value arguments = Value::object({{"millrace_path", introduction.path}, {"millrace_vhost", stated_vhost(wanted)}});
    if (!introduction.url.empty())
        arguments.set("millrace_url", introduction.url);
    if (!introduction.proof.empty())
        arguments.set("millrace_proof", introduction.proof);
    if (!introduction.trace_parent.empty())
        arguments.set("millrace_traceparent", introduction.trace_parent);
    if (introduction.has)
        arguments.set("millrace_has", fmt::format("{}", introduction.has->count()));
    if (!node.cluster_node.empty())
        arguments.set("millrace_node", node.cluster_node);
    if (options.debug_srs_upnode) {
        arguments.set("srs_sig", node.signature).set("srs_server", node.signature).set("srs_license", "MIT");
        arguments.set("srs_version", node.version).set("srs_pid", static_cast<double>(node.process_id));
        arguments.set("srs_id", node.server_id);
    }
    request.connect_arguments = std::move(arguments);
    return request;
}

std::string flv_request(const Wanted& wanted, const Node& node, const Introduction& introduction) {
    engine::http1::Headers headers;
    headers.add("User-Agent", node.signature);
    headers.add("Accept", "*/*");
    headers.add(std::string(session::kRelayPathField), introduction.path);
    headers.add(std::string(session::kRelayVhostField), stated_vhost(wanted));
    if (!introduction.proof.empty())
        headers.add(std::string(session::kRelayProofField), introduction.proof);
    headers.add(std::string(session::kRelaySyncField), "1");
    if (!introduction.trace_parent.empty())
        headers.add(std::string(session::kTraceParentField), introduction.trace_parent);
    if (introduction.has)
        headers.add(std::string(session::kRelayHasField), fmt::format("{}", introduction.has->count()));
    return engine::http1::write_request("GET", target_of(wanted), authority_of(wanted.origin), headers, {},
                                        engine::http1::ResponseBuilder::Connection::keep_alive);
}

Result<session::srt::CallUrl> srt_request(const Wanted& wanted, session::srt::Mode mode, std::string_view path) {
    const std::string address = wanted.origin.text() + wanted.origin.query;
    const bool is_named = !TRY(session::srt::parse_call_url(address)).stream_id.empty();
    const std::vector<std::string> parameters = stream_id_parameters(wanted.query);
    const bool is_default = wanted.vhost == wire::rtmp::kDefaultVhost;
    auto url = TRY(forward::make_srt_destination(
        address, {is_default ? "" : wanted.vhost, wanted.app, wanted.stream, fmt::format("{}", fmt::join(parameters, "&"))},
        mode));
    if (is_named)
        return url;
    for (const std::string& parameter : parameters)
        url.stream_id += "," + parameter;
    url.stream_id += "," + session::srt::path_parameter(path);
    if (url.stream_id.size() > session::srt::kStreamIdBytesMax)
        return Error(Errc::limit, "the stream's names and the client's query are too long for a stream id");
    return url;
}

std::string label_of(const Wanted& wanted) {
    if (!is_http(wanted.origin.scheme))
        return tc_url_of(wanted) + "/" + wanted.stream;
    const std::string target = target_of(wanted);
    return wanted.origin.text() + target.substr(0, target.find('?'));
}

std::optional<PullProtocol> protocol_of(const session::ClientRequest& player) {
    if (player.kind == session::ClientKind::rtmp_play)
        return PullProtocol::rtmp;
    if (player.kind != session::ClientKind::flv_play)
        return std::nullopt;
    return player.is_secure ? PullProtocol::flvs : PullProtocol::flv;
}

}  // namespace live::service::relay
