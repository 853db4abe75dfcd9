#include "settings/conf/warnings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/config/nearest.hpp"
#include "base/text/normal_path.hpp"
#include "settings/conf/check_vhost.hpp"
#include "settings/conf/whole_path.hpp"

namespace live::settings {

namespace {

constexpr std::string_view kVhostVariable = "[vhost]";

// One kind of output of a virtual host: its path template options and their values.
using Templates = std::vector<std::pair<std::string_view, std::string>>;

Templates templates_of(const service::hls::HlsOptions& hls) {
    using service::hls::Fmp4;
    Templates templates = {{"hls_m3u8_file", normal_path(hls.path, hls.m3u8_file)}};
    if (hls.use_fmp4 != Fmp4::on)
        templates.emplace_back("hls_ts_file", normal_path(hls.path, hls.ts_file));
    if (hls.use_fmp4 != Fmp4::off) {
        templates.emplace_back("hls_fmp4_file", normal_path(hls.path, hls.fmp4_file));
        templates.emplace_back("hls_init_file", normal_path(hls.path, hls.init_file));
    }
    if (hls.keys)
        templates.emplace_back("hls_key_file", normal_path(hls.key_file_path, hls.key_file));
    return hls.enabled ? templates : Templates();
}

Templates templates_of(const service::dash::DashOptions& dash) {
    return dash.enabled ? Templates{{"dash_mpd_file", normal_path(dash.path, dash.mpd_file)}} : Templates();
}

// The time in milliseconds in the name keeps recordings apart.
Templates templates_of(const service::dvr::DvrOptions& dvr) {
    const bool has_time = service::dvr::path_template(dvr).find("[timestamp]") != std::string::npos;
    return dvr.enabled && !has_time ? Templates{{"dvr_path", service::dvr::path_template(dvr)}} : Templates();
}

// Every recording's name, whether it has the time or not.
Templates recordings_of(const service::dvr::DvrOptions& dvr) {
    return dvr.enabled ? Templates{{"dvr_path", service::dvr::path_template(dvr)}} : Templates();
}

// The options through which both write the same files.
std::vector<std::string_view> shared(const Templates& some, const Templates& others) {
    std::vector<std::string_view> options;
    for (const auto& one : some)
        if (one.second.find(kVhostVariable) == std::string::npos && std::ranges::find(others, one) != others.end())
            options.push_back(one.first);
    return options;
}

// A sentence for each group of virtual hosts whose output of this kind goes to the same files.
template <class Options>
void warn_of_shared_paths(const Settings& settings, Options Vhost::*member, std::string_view kind,
                          std::vector<std::string>& warnings) {
    struct Group {
        const Vhost* first;
        Templates templates;
        std::vector<std::string_view> options;
        std::vector<std::string_view> others{};
    };
    std::vector<Group> groups;
    for (const Vhost& vhost : settings.vhosts) {
        if (!vhost.enabled)
            continue;
        auto templates = templates_of(vhost.*member);
        const auto is_its = [&templates](const Group& group) { return !shared(templates, group.templates).empty(); };
        if (const auto group = std::ranges::find_if(groups, is_its); group == groups.end()) {
            groups.push_back({&vhost, std::move(templates), {}});
        } else {
            group->options = shared(templates, group->templates);
            group->others.push_back(vhost.name);
        }
    }
    for (const Group& group : groups)
        if (!group.others.empty())
            warnings.push_back(fmt::format(
                "{} of the virtual hosts {} and {} goes into the same files: of streams with one name the first has "
                "it, and the others have none; put {} into {}",
                kind, group.first->name, fmt::join(group.others, ", "), kVhostVariable, fmt::join(group.options, ", ")));
}

// on_play is asked once for a player of HLS or DASH, and for some never.
void warn_of_open_fragments(const Vhost& vhost, std::vector<std::string>& warnings) {
    if (!vhost.enabled || !vhost.http_hooks.enabled || vhost.http_hooks.on_play.empty())
        return;
    if (vhost.hls.enabled && !vhost.hls.ctx)
        warnings.push_back(fmt::format(
            "vhost {}: on_play is not asked about players of HLS, because hls_ctx is off: anybody can play them; switch it on",
            vhost.name));
}

// Files below the web root are public, except those of HLS and DASH, and recordings where `access` is enabled.
void warn_of_open_recordings(const Settings& settings, const Vhost& vhost, std::vector<std::string>& warnings) {
    if (!vhost.enabled || !vhost.dvr.enabled || vhost.access.enabled || !vhost.guards_play())
        return;
    const std::string path = whole_path(service::dvr::path_template(vhost.dvr), "");
    std::vector<std::string> roots = {settings.http_server.enabled ? settings.http_server.dir : ""};
    for (const Vhost& other : settings.vhosts)
        roots.push_back(other.enabled && other.http_static.enabled ? other.http_static.dir : "");
    const auto is_above = [&path](const std::string& root) { return !root.empty() && path.starts_with(whole_folder(root)); };
    if (const auto root = std::ranges::find_if(roots, is_above); root != roots.end())
        warnings.push_back(
            fmt::format("vhost {}: anybody can download its recordings, because dvr_path ({}) is below the web root ({}), "
                        "and on_play and security do not guard it; move it out, as to {}",
                        vhost.name, vhost.dvr.path, *root, service::dvr::DvrOptions().path));
}

// Keys without a URL of their own appear in the list as if they were below hls_path.
void warn_of_keys_out_of_reach(const Vhost& vhost, std::vector<std::string>& warnings) {
    const service::hls::HlsOptions& hls = vhost.hls;
    if (!vhost.enabled || !hls.enabled || !hls.keys || !hls.key_url.empty())
        return;
    if (normal_path(hls.key_file_path, hls.key_file) != normal_path(hls.path, hls.key_file))
        warnings.push_back(
            fmt::format("vhost {}: players of HLS cannot get its keys, because hls_key_file_path ({}) is not hls_path ({}) and "
                        "there is no hls_key_url",
                        vhost.name, hls.key_file_path, hls.path));
}

// Times with which an output works and does not do what its author expects.
void warn_of_durations(const Vhost& vhost, std::vector<std::string>& warnings) {
    if (!vhost.enabled)
        return;
    const auto warn = [&](std::string_view sentence) { warnings.push_back(fmt::format("vhost {}: {}", vhost.name, sentence)); };
    const service::hls::HlsOptions& hls = vhost.hls;
    if (hls.enabled && hls.fragment.count() == 0)
        warn("hls_fragment is 0: a fragment ends at each key frame");
    if (hls.enabled && hls.window < hls.fragment)
        warn("hls_window is shorter than hls_fragment: the playlist has one fragment, and players stall");
    if (vhost.dash.enabled && vhost.dash.fragment.count() == 0)
        warn("dash_fragment is 0: a fragment ends at each key frame");
    if (vhost.dash.enabled && vhost.dash.update_period.count() == 0)
        warn("dash_update_period is 0: players request the MPD for each fragment");
    if (vhost.dvr.enabled && vhost.dvr.plan == service::dvr::DvrPlan::segment && vhost.dvr.duration.count() == 0)
        warn("dvr_duration is 0: a file ends at each key frame");
    if (vhost.rtc.enabled && vhost.rtc.stun_timeout.count() == 0)
        warn("stun_timeout is 0: WebRTC sessions end at once");
}

// Names of files in which a variable is misspelled, or the stream is missing.
void warn_of_templates(const Vhost& vhost, std::vector<std::string>& warnings) {
    static constexpr std::array<std::string_view, 13> kVariables = {
        "vhost", "app", "stream", "seq", "duration", "timestamp", "2006", "01", "02", "15", "04", "05", "999"};
    if (!vhost.enabled)
        return;
    for (const auto& templates : {templates_of(vhost.hls), templates_of(vhost.dash), recordings_of(vhost.dvr)}) {
        for (const auto& [option, path] : templates) {
            for (std::size_t at = path.find('['); at != std::string::npos; at = path.find('[', at + 1)) {
                const std::string name = path.substr(at + 1, path.find(']', at) - at - 1);
                if (path.find(']', at) != std::string::npos && std::ranges::find(kVariables, name) == kVariables.end())
                    warnings.push_back(fmt::format("vhost {}: {} has [{}], which is no variable{}", vhost.name, option, name,
                                                   config::did_you_mean(name, kVariables)));
            }
            if (path.find("[stream]") == std::string::npos && path.find("[timestamp]") == std::string::npos)
                warnings.push_back(
                    fmt::format("vhost {}: {} is without [stream]: a second stream has the same file", vhost.name, option));
        }
    }
}

// A secret that protects nothing.
void warn_of_unused_token(const Settings& settings, std::vector<std::string>& warnings) {
    const ApiAuthOptions& auth = settings.http_api.auth;
    if (settings.http_api.enabled && !auth.enabled && (!auth.token.empty() || !auth.password.empty() || auth.rtc_bearer_enabled))
        warnings.push_back(
            "http_api.auth has a token or a password and is off: the API is open; set http_api { auth { enabled on; } }");
}

// Options of SRT that have no effect.
void warn_of_srt(const Settings& settings, std::vector<std::string>& warnings) {
    const session::srt::SrtServerOptions& srt = settings.srt_server;
    if (!srt.enabled)
        return;
    for (const Vhost& vhost : settings.vhosts)
        if (vhost.enabled && vhost.srt.enabled && !vhost.srt.srt_to_rtmp)
            warnings.push_back(
                fmt::format("vhost {}: srt_to_rtmp off has no effect: SRT streams play over all protocols", vhost.name));
    if (std::ranges::none_of(settings.vhosts, [](const Vhost& vhost) { return vhost.enabled && vhost.srt.enabled; }))
        warnings.push_back("srt_server is enabled, and no virtual host has srt { enabled on; }: all its clients are refused");
}

void add(config::Findings findings, std::vector<std::string>& warnings) {
    std::ranges::move(findings.warnings, std::back_inserter(warnings));
}

}  // namespace

std::vector<std::string> settings_warnings(const Settings& settings) {
    std::vector<std::string> warnings;
    warn_of_shared_paths(settings, &Vhost::hls, "HLS", warnings);
    warn_of_shared_paths(settings, &Vhost::dash, "DASH", warnings);
    warn_of_shared_paths(settings, &Vhost::dvr, "DVR", warnings);
    for (const Vhost& vhost : settings.vhosts) {
        warn_of_open_fragments(vhost, warnings);
        warn_of_open_recordings(settings, vhost, warnings);
        warn_of_keys_out_of_reach(vhost, warnings);
        for (const auto& check : kVhostChecks)
            if (vhost.enabled)
                add(check.run(vhost, context_of(vhost, settings)), warnings);
        warn_of_durations(vhost, warnings);
        warn_of_templates(vhost, warnings);
    }
    warn_of_unused_token(settings, warnings);
    for (const auto& check : kServerChecks)
        add(check.run(settings, {}), warnings);
    warn_of_srt(settings, warnings);
    return warnings;
}

}  // namespace live::settings
