#include "settings/conf/load.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <sstream>
#include <utility>

#include "base/config/conf_parser.hpp"
#include "base/config/nearest.hpp"
#include "settings/conf/check.hpp"
#include "settings/conf/legacy.hpp"
#include "settings/conf/tools.hpp"
#include "settings/conf/warnings.hpp"

namespace live::settings {

namespace {

using config::Directive;
using config::Loading;

constexpr std::string_view kEnvOnlyListen = "1935";
// A conf file is written by a person; a larger file is something else.
constexpr std::size_t kFileBytesMax = config::ParseLimits{}.file_bytes_max;

Result<std::string> read_whole_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return system_error(fmt::format("cannot open {}", path), errno);
    struct stat about {};
    if (::fstat(file, &about) != 0 || S_ISDIR(about.st_mode)) {
        ::close(file);
        return Error(Errc::malformed, fmt::format("{} is a directory, expected a conf file", path));
    }
    std::string text;
    char part[4096];
    while (text.size() <= kFileBytesMax) {
        const ssize_t count = ::read(file, part, sizeof(part));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            const int reason = errno;
            ::close(file);
            return system_error(fmt::format("cannot read {}", path), reason);
        }
        if (count == 0)
            break;
        text.append(part, static_cast<std::size_t>(count));
    }
    ::close(file);
    return text;
}

// Our variables that are not directives.
constexpr std::array<std::string_view, 8> kOtherVariables = {"SRS_CONFIG_FILE", "SRS_ENV_ONLY",  "SRS_PLATFORM", "SRS_REGION",
                                                             "SRS_SOURCE",      "SRS_DEVICE_IP", "SRS_WORKDIR",  "SRS_OUTPUT"};

// Container platforms set SRS_SERVICE_HOST, SRS_PORT_1935_TCP and similar variables for a service named srs.
bool is_service_link(std::string_view name) {
    return name.starts_with("SRS_SERVICE_") || name == "SRS_PORT" || name.starts_with("SRS_PORT_");
}

void warn_unknown_variables(const config::Environment& environment, Loading& loading) {
    std::vector<std::string_view> known(kOtherVariables.begin(), kOtherVariables.end());
    for (const std::string& name : loading.environment_known())
        known.push_back(name);
    for (auto one = environment.lower_bound("SRS_"); one != environment.end() && one->first.starts_with("SRS_"); ++one) {
        if (one->second.empty() || is_service_link(one->first) ||
            std::find(known.begin(), known.end(), one->first) != known.end())
            continue;
        loading.warn(fmt::format("environment variable {} sets nothing{}", one->first, config::did_you_mean(one->first, known)));
    }
}

// The file's tree, or the default tree without a file.
Result<Directive> read_tree(const LoadInput& input, const ReadFile& read_file) {
    if (!input.env_only) {
        Directive root = TRY(config::parse_conf(input.path, read_file));
        if (root.children.empty())
            return Error(Errc::malformed, fmt::format("{}: conf is empty, expected at least \"listen\" (line 1)", input.path));
        return root;
    }
    Directive root;
    root.is_block = true;
    root.at.file = "no conf file";
    root.children.push_back({"vhost", root.at, {{std::string(kDefaultVhost), root.at}}, true, {}});
    return root;
}

void apply_container_rules(const LoadInput& input, bool tank_was_said, LoadedSettings& loaded) {
    Settings& settings = loaded.settings;
    const bool in_container = input.in_container || settings.in_docker;
    loaded.is_kept_in_foreground = settings.daemon && in_container && settings.disable_daemon_for_docker;
    if (loaded.is_kept_in_foreground)
        settings.daemon = false;
    if (in_container && settings.auto_reload_for_docker)
        settings.inotify_auto_reload = true;
    if ((in_container || input.env_only) && !tank_was_said)
        settings.log.tank = LogTank::console;
}

// `$NAME` becomes the words of the variable's value, or * when unset.
void expand_candidates(const config::Environment& environment, session::rtc::RtcServerOptions& rtc) {
    std::vector<std::string> expanded;
    for (std::string& candidate : rtc.candidates) {
        if (!candidate.starts_with('$')) {
            expanded.push_back(std::move(candidate));
            continue;
        }
        const auto found = environment.find(candidate.substr(1));
        std::istringstream words(found == environment.end() ? "" : found->second);
        const std::size_t before = expanded.size();
        for (std::string word; words >> word;)
            expanded.push_back(word);
        if (expanded.size() == before)
            expanded.emplace_back("*");
    }
    rtc.candidates = std::move(expanded);
}

// Whether the option at that path is in the conf, or in the environment as `variable`.
bool is_said(const Directive& root, const Loading& loading, std::initializer_list<std::string_view> path,
             std::string_view variable) {
    if (loading.environment_used().contains(variable))
        return true;
    const Directive* found = &root;
    for (const std::string_view name : path)
        if (found = found->find(name); found == nullptr)
            return false;
    return true;
}

// When the API and the streams share one server, they share it over TLS too, unless its endpoint is configured.
void share_https(Settings& settings) {
    HttpApiOptions& api = settings.http_api;
    const HttpServerOptions& server = settings.http_server;
    const bool is_one =
        api.enabled && server.enabled && std::ranges::find_first_of(api.listen, server.listen) != api.listen.end();
    if (is_one && api.https.enabled && server.https.enabled)
        api.https.listen = server.https.listen;
}

template <class Rtc>
media::BridgeOptions bridge_of(const Rtc& rtc) {
    media::BridgeOptions bridge;
    bridge.rtmp_to_rtc = rtc.enabled && rtc.rtmp_to_rtc;
    bridge.opus_bitrate = rtc.opus_bitrate;
    bridge.keep_bframe = rtc.keep_bframe;
    bridge.encodes_bframes = rtc.bframes == session::rtc::BFrames::transcode;
    bridge.keep_avc_nalu_sei = rtc.keep_avc_nalu_sei;
    bridge.rtc_to_rtmp = rtc.enabled && rtc.rtc_to_rtmp;
    bridge.aac_bitrate = rtc.aac_bitrate;
    bridge.keep_opus = rtc.keep_opus;
    bridge.pli_for_rtmp = rtc.pli_for_rtmp;
    return bridge;
}

void derive(const LoadInput& input, Settings& settings) {
    expand_candidates(input.environment, settings.rtc_server);
    for (Vhost& vhost : settings.vhosts) {
        vhost.publish.min_latency = vhost.rtmp.min_latency;
        if (vhost.rtmp.min_latency)
            vhost.publish.merged_read = false;
        if (vhost.http_remux.enabled)
            vhost.play.history_min = vhost.http_remux.fast_cache;
        vhost.play.bridge = bridge_of(vhost.rtc);
        vhost.play.relay_mw_latency = std::min(vhost.cluster.mw_latency, vhost.play.mw_latency);
        if (vhost.hls.key_file_path.empty())
            vhost.hls.key_file_path = vhost.hls.path;
        vhost.cluster.by_registry = !settings.cluster.registry.empty() || settings.workers != "1";
        if (vhost.cluster.secret.empty())
            vhost.cluster.secret = settings.cluster.secret;
    }
}

}  // namespace

Result<LoadedSettings> load_settings(const LoadInput& input) { return load_settings(input, read_whole_file); }

Result<LoadedSettings> load_settings(const LoadInput& input, const ReadFile& read_file) {
    Loading loading(input.environment);
    Directive root = TRY(read_tree(input, read_file));
    rewrite_legacy(root, loading);

    LoadedSettings loaded;
    Settings& settings = loaded.settings;
    if (input.env_only)
        settings.daemon = false;
    TRY(bind_settings(settings, root, loading));

    if (!settings.rtmp_enabled)
        settings.listen.clear();
    if (settings.listen.empty() && settings.rtmp_enabled && input.env_only) {
        settings.listen.emplace_back(kEnvOnlyListen);
        loading.warn(fmt::format("neither SRS_LISTEN nor SRS_RTMP_LISTEN is set: RTMP listens on {}", kEnvOnlyListen));
    }
    if (settings.listen.empty() && settings.rtmp_enabled)
        return Error(Errc::malformed,
                     fmt::format("{}: found no \"listen\", expected the RTMP endpoints such as \"listen 1935;\"", input.path));
    const bool tank_was_said =
        is_said(root, loading, {"srs_log_tank"}, "SRS_LOG_TANK") || loading.environment_used().contains("SRS_SRS_LOG_TANK");
    apply_container_rules(input, tank_was_said, loaded);
    derive(input, settings);
    if (!is_said(root, loading, {"http_api", "https", "listen"}, "SRS_HTTP_API_HTTPS_LISTEN"))
        share_https(settings);
    // A token alone is enough to send it.
    if (!settings.heartbeat.auth.token.empty() &&
        !is_said(root, loading, {"heartbeat", "auth", "enabled"}, "SRS_HEARTBEAT_AUTH_ENABLED"))
        settings.heartbeat.auth.enabled = true;
    if (auto checked = check_settings(settings, input.local_addresses); !checked.ok())
        return std::move(checked).error().during(input.env_only ? "environment" : input.path);
    if (settings.vhosts.empty())
        loading.warn(fmt::format("found no vhost, expected \"vhost {} {{ }}\": every client will be refused", kDefaultVhost));
    for (const StreamCasterOptions& caster : settings.stream_casters)
        if (caster.enabled && is_missing_caster(caster.caster))
            loading.warn(
                fmt::format("stream_caster {} accepts no streams: rtsp_server {{ enabled on; listen {}; }} and vhost "
                            "{{ rtsp {{ enabled on; }} }} take publishers and players",
                            caster.caster, caster.listen.empty() ? "554" : caster.listen.front()));
    for (std::string& warning : settings_warnings(settings))
        loading.warn(std::move(warning));
    warn_unknown_variables(input.environment, loading);
    loaded.warnings = std::move(loading.warnings());
    loaded.environment_used.assign(loading.environment_used().begin(), loading.environment_used().end());
    return loaded;
}

}  // namespace live::settings
