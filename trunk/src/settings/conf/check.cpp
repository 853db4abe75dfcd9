#include "settings/conf/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/net/endpoint.hpp"
#include "base/net/ip_network.hpp"
#include "base/text/variables.hpp"
#include "session/gb28181/options.hpp"
#include "session/mpegts/listen_address.hpp"
#include "settings/conf/check_vhost.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::settings {

namespace {

Result<void> check_workers(const Settings& settings) {
    if (const auto count = worker_count(settings.workers, 1); !count.ok())
        return count.error();
    if (settings.workers != "1" && !settings.cluster.registry.empty())
        return broken("workers is more than 1 and cluster.registry is set: several workers are not a node of a cluster yet");
    return {};
}

Result<void> check_upload(const service::upload::UploadOptions& upload) {
    if (!upload.enabled)
        return {};
    TRY(check_url(upload.endpoint, "upload.endpoint"));
    if (upload.bucket.empty())
        return broken("upload is on and has no bucket");
    if (upload.access_key_id.empty() != upload.secret_access_key.empty())
        return broken("upload has one of access_key_id and secret_access_key: set both, or SRS_UPLOAD_SECRET_ACCESS_KEY");
    return {};
}

// Two lists that name the same endpoint would be one listener.
bool share_endpoint(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    for (const std::string& text : a) {
        if (std::find(b.begin(), b.end(), text) != b.end())
            return true;
    }
    return false;
}

// An empty password would admit all clients.
Result<void> check_auth(const ApiAuthOptions& auth, const Settings& settings) {
    if (!auth.enabled || auth.takes_users(settings))
        return {};
    if (auth.type == ApiAuthType::bearer && auth.token.empty())
        return broken("http_api.auth is on with type bearer and has no token: set it, or SRS_HTTP_API_AUTH_TOKEN");
    if (auth.type == ApiAuthType::basic && !auth.takes_password())
        return broken("http_api.auth is on and lacks username or password");
    if (!auth.takes_token() && !auth.takes_password())
        return broken("http_api.auth is on and has no token, nor username and password: set SRS_HTTP_API_AUTH_TOKEN, or token");
    if (auth.rtc_bearer_enabled && !auth.takes_token())
        return broken("http_api.auth.rtc_bearer_enabled is on and there is no token: set SRS_HTTP_API_AUTH_TOKEN, or token");
    return {};
}

Result<void> check_http(const Settings& settings) {
    const HttpApiOptions& api = settings.http_api;
    TRY(check_auth(api.auth, settings));
    const HttpServerOptions& server = settings.http_server;
    if (api.https.enabled && !api.enabled)
        return broken("http_api.https is on and http_api is off; https needs the plain service");
    if (server.https.enabled && !server.enabled)
        return broken("http_server.https is on and http_server is off; https needs the plain service");
    if (!api.enabled || !server.enabled || !api.https.enabled || !server.https.enabled)
        return {};
    const bool plain = share_endpoint(api.listen, server.listen);
    const bool tls = share_endpoint(api.https.listen, server.https.listen);
    if (plain != tls) {
        return broken(
            fmt::format("http_api and http_server share {}, so they must share the other endpoint too: listen {} and {}, "
                        "https.listen {} and {}",
                        plain ? "listen" : "https.listen", fmt::join(api.listen, " "), fmt::join(server.listen, " "),
                        fmt::join(api.https.listen, " "), fmt::join(server.https.listen, " ")));
    }
    return {};
}

Result<void> check_transport_streams(const StreamCasterOptions& caster) {
    std::vector<std::string> outputs;
    for (const std::string& text : caster.listen) {
        auto addresses = session::mpegts::parse_listen_address(text);
        if (!addresses.ok())
            return std::move(addresses).error().during("stream_caster.listen");
        auto output = session::mpegts::output_of(caster.output, addresses->front().endpoint.port);
        if (!output.ok())
            return std::move(output).error().during("stream_caster.output");
        if (std::ranges::find(outputs, *output) != outputs.end())
            return broken(fmt::format(
                "stream_caster: {} would be published from two addresses; [port] in output tells them apart", *output));
        outputs.push_back(*std::move(output));
    }
    return {};
}

bool is_gb28181(const StreamCasterOptions& caster) { return caster.enabled && caster.caster == "gb28181"; }

Result<void> check_caster(const StreamCasterOptions& caster) {
    if (!caster.enabled)
        return {};
    if (caster.caster.empty())
        return broken("stream_caster is on and has no caster, expected one of mpegts_over_udp, flv, gb28181");
    if (caster.listen.empty() && !is_missing_caster(caster.caster))
        return broken(fmt::format("stream_caster {} is on and has no listen", caster.caster));
    if (caster.caster == "mpegts_over_udp")
        return check_transport_streams(caster);
    for (const std::string& text : caster.listen)
        if (!parse_endpoint(text).ok())
            return broken(fmt::format("stream_caster {}: listen has \"{}\", expected a port or ip:port", caster.caster, text));
    if (caster.caster == "gb28181") {
        const auto output = session::gb28181::output_of(caster.output, "34020000001320000001");
        if (!output.ok())
            return broken(fmt::format("stream_caster gb28181: output is \"{}\": {}", caster.output, output.error().sentence()));
        if (caster.zlm_api.enabled && caster.zlm_api.secret.empty())
            return broken("stream_caster.zlm_api is on and has no secret");
    }
    if (caster.caster != "flv")
        return {};
    const auto url = wire::rtmp::parse_stream_url(replace_variables(caster.output, {{"app", "app"}, {"stream", "stream"}}));
    if (!url.ok())
        return broken(fmt::format("stream_caster flv: output is \"{}\": {}", caster.output, url.error().sentence()));
    return {};
}

// Where a service listens over TCP. The two HTTP services may share an endpoint, and so may their TLS ones and the exporter.
struct Listening {
    std::string_view option;
    bool is_http;
    Endpoint endpoint;
};

bool is_every_address(const std::string& ip) { return ip == "0.0.0.0" || ip == "::"; }

bool collide(const Listening& a, const Listening& b) {
    if (a.endpoint.port != b.endpoint.port || a.endpoint.is_ipv6() != b.endpoint.is_ipv6() || (a.is_http && b.is_http))
        return false;
    return a.endpoint.ip == b.endpoint.ip || is_every_address(a.endpoint.ip) || is_every_address(b.endpoint.ip);
}

// Two services at one port: the second one could not start.
Result<void> check_ports(const Settings& settings) {
    std::vector<Listening> all;
    const auto add = [&all](bool enabled, std::string_view option, bool is_http,
                            const std::vector<std::string>& texts) -> Result<void> {
        if (!enabled)
            return {};
        for (const std::string& text : texts) {
            for (Endpoint& endpoint : TRY(parse_endpoint(text))) {
                const Listening added{option, is_http, std::move(endpoint)};
                const auto other = std::ranges::find_if(all, [&added](const Listening& one) { return collide(one, added); });
                if (other != all.end())
                    return broken(fmt::format("{} and {} both listen on port {}", other->option, option, added.endpoint.port));
                all.push_back(added);
            }
        }
        return {};
    };
    const HttpApiOptions& api = settings.http_api;
    const HttpServerOptions& server = settings.http_server;
    TRY(add(true, "listen", false, settings.listen));
    TRY(add(settings.rtmps.enabled, "rtmps.listen", false, settings.rtmps.listen));
    TRY(add(api.enabled, "http_api.listen", true, api.listen));
    TRY(add(api.enabled && api.https.enabled, "http_api.https.listen", true, api.https.listen));
    TRY(add(server.enabled, "http_server.listen", true, server.listen));
    TRY(add(server.enabled && server.https.enabled, "http_server.https.listen", true, server.https.listen));
    TRY(add(settings.exporter.enabled, "exporter.listen", true, settings.exporter.listen));
    TRY(add(settings.playback.enabled, "playback.listen", false, settings.playback.listen));
    TRY(add(settings.rtsp_server.enabled, "rtsp_server.listen", false, settings.rtsp_server.listen));
    TRY(add(settings.rtsps.enabled, "rtsps.listen", false, settings.rtsps.listen));
    for (const StreamCasterOptions& caster : settings.stream_casters)
        TRY(add(caster.enabled && (caster.caster == "flv" || caster.caster == "gb28181"), "stream_caster.listen", false,
                caster.listen));
    return {};
}

}  // namespace

Result<std::size_t> worker_count(std::string_view workers, std::size_t cores) {
    if (workers == "auto")
        return std::clamp<std::size_t>(cores, 1, kWorkersMax);
    std::size_t count = 0;
    const char* const end = workers.data() + workers.size();
    const auto parsed = std::from_chars(workers.data(), end, count);
    if (parsed.ec != std::errc() || parsed.ptr != end || count == 0 || count > kWorkersMax)
        return broken(fmt::format("workers is \"{}\", expected 1..{} or auto", workers, kWorkersMax));
    return count;
}

Result<void> check_settings(const Settings& settings, std::size_t local_addresses) {
    if (settings.is_full)
        return broken("is_full is on: this file documents every option and is not meant to be run");
    if (settings.log.tank == LogTank::file && settings.log.file.empty())
        return broken("srs_log_tank is file and srs_log_file is empty");
    if (settings.access_log.empty())
        return broken("access_log is empty; off switches it off");
    if (settings.asprocess && settings.daemon)
        return broken("asprocess and daemon exclude each other: a daemon has no parent to follow");
    TRY(check_workers(settings));
    if (settings.heartbeat.interval.count() <= 0)
        return broken("heartbeat.interval is 0, expected more");
    if (settings.tracing.enabled)
        TRY(check_url(settings.tracing.url, "tracing.url"));
    if (settings.heartbeat.enabled)
        TRY(check_url(settings.heartbeat.url, "heartbeat.url"));
    if (settings.heartbeat.enabled && settings.heartbeat.auth.enabled && settings.heartbeat.auth.token.empty())
        return broken("heartbeat.auth is on and has no token: set it, or SRS_HEARTBEAT_AUTH_TOKEN");
    for (const auto& check : kServerChecks)
        if (auto findings = check.run(settings, {}); !findings.error.empty())
            return broken(std::move(findings.error));
    if (local_addresses != 0 && settings.stats.network >= local_addresses) {
        return broken(fmt::format("stats.network is {}, expected less than {}, the number of local addresses",
                                  settings.stats.network, local_addresses));
    }
    TRY(check_http(settings));
    TRY(check_upload(settings.upload));
    for (const std::string& text : settings.limits.trusted)
        if (!IpNetwork::parse(text).ok())
            return broken(fmt::format("limits.trusted has \"{}\", expected an address or a network such as 10.0.0.0/8", text));
    for (const StreamCasterOptions& caster : settings.stream_casters)
        TRY(check_caster(caster));
    if (std::ranges::count_if(settings.stream_casters, is_gb28181) > 1)
        return broken("two stream_casters are gb28181: all devices use the ports of one, which may have several endpoints");
    TRY(check_ports(settings));
    for (const Vhost& vhost : settings.vhosts)
        TRY(check_vhost(vhost, settings));
    return {};
}

}  // namespace live::settings
