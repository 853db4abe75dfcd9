#include "settings/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/endpoint.hpp"
#include "base/host_and_port.hpp"
#include "base/ip_network.hpp"
#include "engine/cluster/records.hpp"
#include "service/access/security.hpp"
#include "service/cluster/registry_url.hpp"
#include "session/http_live/mount.hpp"
#include "session/mpegts/listen_address.hpp"
#include "wire/http/url.hpp"

namespace live::settings {

namespace {

Error broken(std::string sentence) { return {Errc::malformed, std::move(sentence)}; }

Result<void> check_workers(const Settings& settings) {
    if (const auto count = worker_count(settings.workers, 1); !count.ok())
        return count.error();
    if (settings.workers != "1" && !settings.cluster.registry.empty())
        return broken("workers is more than 1 and cluster.registry is set: several workers are not a node of a cluster yet");
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

// An empty password would admit everybody.
Result<void> check_auth(const ApiAuthOptions& auth) {
    if (!auth.enabled)
        return {};
    if (auth.type == ApiAuthType::bearer && auth.token.empty())
        return broken("http_api.auth is on with type bearer and has no token");
    if (auth.type == ApiAuthType::basic && (auth.username.empty() || auth.password.empty()))
        return broken("http_api.auth is on and lacks username or password");
    return {};
}

Result<void> check_http(const Settings& settings) {
    const HttpApiOptions& api = settings.http_api;
    TRY(check_auth(api.auth));
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

Result<void> check_engine(const service::ffmpeg::EngineOptions& engine, const std::string& where) {
    if (engine.vwidth % 2 != 0 || engine.vheight % 2 != 0)
        return broken(
            fmt::format("{}: found a frame size of {}x{}, expected even numbers", where, engine.vwidth, engine.vheight));
    const std::uint32_t rate = engine.asample_rate;
    const bool classic_rate = rate == 0 || rate == 5512 || rate == 11'025 || rate == 22'050 || rate == 44'100;
    if (engine.acodec == "libfdk_aac" || engine.acodec == "libaacplus" || engine.acodec == "aac") {
        if (engine.abitrate_kbps != 0 && (engine.abitrate_kbps < 16 || engine.abitrate_kbps > 320))
            return broken(
                fmt::format("{}: found abitrate {}, expected 16..320 for {}", where, engine.abitrate_kbps, engine.acodec));
        if (!classic_rate && rate != 48'000)
            return broken(fmt::format("{}: found asample_rate {}, expected 5512, 11025, 22050, 44100, 48000 or 0", where, rate));
    }
    return {};
}

// A template that ends in .ts at the root would match HLS fragments.
bool catches_fragments(const session::http_live::RemuxOptions& remux) {
    return remux.enabled && remux.mount.find("*.ts") != std::string::npos;
}

Result<void> check_url(const std::string& url, const std::string& where) {
    const auto parsed = wire::http::parse_url(url);
    return parsed.ok() ? Result<void>() : broken(fmt::format("{}: found \"{}\": {}", where, url, parsed.error().sentence()));
}

// The callback URLs of an enabled virtual host.
Result<void> check_urls(const Vhost& vhost) {
    if (vhost.forward.enabled && !vhost.forward.backend.empty())
        TRY(check_url(vhost.forward.backend, fmt::format("vhost {}: forward.backend", vhost.name)));
    const service::hooks::HookOptions& hooks = vhost.http_hooks;
    if (!hooks.enabled)
        return {};
    for (const auto* urls : {&hooks.on_connect, &hooks.on_close, &hooks.on_publish, &hooks.on_unpublish, &hooks.on_play,
                             &hooks.on_stop, &hooks.on_dvr, &hooks.on_hls})
        for (const std::string& url : *urls)
            TRY(check_url(url, fmt::format("vhost {}: http_hooks", vhost.name)));
    return {};
}

// The registry's URL is not repeated: it may have a password.
Result<void> check_cluster(const service::cluster::RegistryOptions& cluster) {
    if (cluster.registry.empty())
        return {};
    const auto url = service::cluster::parse_registry_url(cluster.registry);
    if (!url.ok())
        return broken("cluster.registry: " + url.error().sentence());
    if (!cluster.node_id.empty() && !engine::cluster::is_good_id(cluster.node_id))
        return broken(fmt::format("cluster.node_id is \"{}\", expected letters, digits, '.', '_' and '-', at most {}",
                                  cluster.node_id, engine::cluster::kIdBytesMax));
    if (!cluster.region.empty() && !engine::cluster::is_good_id(cluster.region))
        return broken(fmt::format("cluster.region is \"{}\", expected letters, digits, '.', '_' and '-'", cluster.region));
    if (!cluster.advertise.empty() && !parse_host(cluster.advertise).ok())
        return broken(fmt::format("cluster.advertise is \"{}\", expected host or host:port", cluster.advertise));
    if (cluster.lease < 2 * cluster.beat)
        return broken("cluster.lease is less than twice cluster.beat");
    return {};
}

Result<void> check_passphrase(std::string_view passphrase, std::string_view option) {
    using namespace session::srt;
    if (passphrase.empty() || (passphrase.size() >= kPassphraseBytesMin && passphrase.size() <= kPassphraseBytesMax))
        return {};
    return broken(fmt::format("{} has {} characters, expected {}..{}", option, passphrase.size(), kPassphraseBytesMin,
                              kPassphraseBytesMax));
}

Result<void> check_srt(const session::srt::SrtServerOptions& srt) {
    TRY(check_passphrase(srt.passphrase, "srt_server.passphrase"));
    if (srt.pbkeylen != 0 && srt.pbkeylen != 16 && srt.pbkeylen != 24 && srt.pbkeylen != 32)
        return broken(fmt::format("srt_server.pbkeylen is {}, expected 0, 16, 24 or 32", srt.pbkeylen));
    if (srt.default_streamid.empty())
        return {};
    const auto id = session::srt::parse_stream_id(srt.default_streamid, {srt.default_app, srt.default_mode});
    return id.ok() ? Result<void>() : broken("srt_server.default_streamid: " + id.error().sentence());
}

Result<void> check_vhost(const Vhost& vhost) {
    TRY(check_passphrase(vhost.srt.passphrase, fmt::format("vhost {}: srt.passphrase", vhost.name)));
    if (vhost.publish.kickoff_for_idle.count() > 0 && vhost.forward.enabled)
        return broken(fmt::format("vhost {}: publish.kickoff_for_idle and forward exclude each other", vhost.name));
    if (vhost.hls.enabled && catches_fragments(vhost.http_remux))
        return broken(
            fmt::format("vhost {}: hls and http_remux mounted at {} exclude each other", vhost.name, vhost.http_remux.mount));
    if (vhost.http_remux.enabled)
        if (const auto mount = session::http_live::Mount::parse(vhost.http_remux.mount); !mount.ok())
            return broken(fmt::format("vhost {}: http_remux: {}", vhost.name, mount.error().sentence()));
    for (const auto& ingest : vhost.ingests) {
        for (const auto& engine : ingest.engines)
            TRY(check_engine(engine, fmt::format("vhost {}: ingest {}: engine {}", vhost.name, ingest.id, engine.name)));
    }
    for (const TranscodeOptions& transcode : vhost.transcodes) {
        for (const auto& engine : transcode.engines)
            TRY(check_engine(engine, fmt::format("vhost {}: transcode {}: engine {}", vhost.name, transcode.scope, engine.name)));
    }
    TRY(check_urls(vhost));
    for (const auto* rules : {&vhost.security.allow, &vhost.security.deny}) {
        for (const auto& rule : *rules) {
            if (const auto valid = service::access::validate_security_rule(rule); !valid.ok())
                return broken(fmt::format("vhost {}: security: found the rule \"{}\": {}", vhost.name, fmt::join(rule, " "),
                                          valid.error().sentence()));
        }
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

Result<void> check_caster(const StreamCasterOptions& caster) {
    if (!caster.enabled)
        return {};
    if (caster.caster == "mpegts_over_udp" && caster.listen.empty())
        return broken("stream_caster mpegts_over_udp is on and has no listen");
    if (caster.caster == "mpegts_over_udp")
        return check_transport_streams(caster);
    for (const std::string& text : caster.listen)
        if (!parse_endpoint(text).ok())
            return broken(fmt::format("stream_caster {}: listen has \"{}\", expected a port or ip:port", caster.caster, text));
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
    if (settings.heartbeat.enabled)
        TRY(check_url(settings.heartbeat.url, "heartbeat.url"));
    TRY(check_cluster(settings.cluster));
    if (local_addresses != 0 && settings.stats.network >= local_addresses) {
        return broken(fmt::format("stats.network is {}, expected less than {}, the number of local addresses",
                                  settings.stats.network, local_addresses));
    }
    TRY(check_srt(settings.srt_server));
    TRY(check_http(settings));
    for (const std::string& text : settings.limits.trusted)
        if (!IpNetwork::parse(text).ok())
            return broken(fmt::format("limits.trusted has \"{}\", expected an address or a network such as 10.0.0.0/8", text));
    for (const StreamCasterOptions& caster : settings.stream_casters)
        TRY(check_caster(caster));
    for (const Vhost& vhost : settings.vhosts)
        TRY(check_vhost(vhost));
    return {};
}

}  // namespace live::settings
