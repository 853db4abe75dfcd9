#include "settings/conf/check_vhost.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/variables.hpp"
#include "wire/http/url.hpp"

namespace live::settings {

Result<void> check_url(const std::string& url, const std::string& where) {
    const auto parsed = wire::http::parse_url(url);
    return parsed.ok() ? Result<void>() : broken(fmt::format("{}: found \"{}\": {}", where, url, parsed.error().sentence()));
}

namespace {

// Names of a stream for checking an operator's templates.
const Variables kSomeStream = {{"vhost", "vhost"}, {"app", "app"}, {"stream", "stream"}, {"param", ""}};

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

Result<void> check_engines(const Vhost& vhost) {
    for (const auto& ingest : vhost.ingests) {
        for (const auto& engine : ingest.engines)
            TRY(check_engine(engine, fmt::format("vhost {}: ingest {}: engine {}", vhost.name, ingest.id, engine.name)));
    }
    for (const service::engines::TranscodeOptions& transcode : vhost.transcodes) {
        for (const auto& engine : transcode.engines)
            TRY(check_engine(engine, fmt::format("vhost {}: transcode {}: engine {}", vhost.name, transcode.scope, engine.name)));
    }
    return {};
}

// Where live files are copied to.
Result<void> check_push(const std::string& push, const std::string& where, const Settings& settings) {
    if (push.empty())
        return {};
    if (push != "s3")
        return check_url(push, where);
    return settings.upload.bucket.empty() ? broken(where + " is s3, and upload has no bucket") : Result<void>();
}

// The callback URLs of a virtual host.
Result<void> check_urls(const Vhost& vhost) {
    if (vhost.forward.enabled && !vhost.forward.backend.empty())
        TRY(check_url(vhost.forward.backend, fmt::format("vhost {}: forward.backend", vhost.name)));
    const service::hooks::HookOptions& hooks = vhost.http_hooks;
    if (!hooks.enabled)
        return {};
    for (const auto* urls : {&hooks.on_connect, &hooks.on_close, &hooks.on_publish, &hooks.on_unpublish, &hooks.on_play,
                             &hooks.on_stop, &hooks.on_dvr, &hooks.on_upload, &hooks.on_hls})
        for (const std::string& url : *urls)
            TRY(check_url(url, fmt::format("vhost {}: http_hooks", vhost.name)));
    Variables names = kSomeStream;
    names.insert(names.end(), {{"server_id", "id"}, {"service_id", "id"}, {"ts_url", "a.ts"}});
    for (const std::string& url : hooks.on_hls_notify)
        TRY(check_url(replace_variables(url, names), fmt::format("vhost {}: http_hooks.on_hls_notify", vhost.name)));
    return {};
}

bool has_ending(std::string_view path, std::span<const std::string_view> endings) {
    return std::ranges::any_of(endings, [path](std::string_view ending) { return path.ends_with(ending); });
}

// A name without one of these is the same for every fragment of a stream.
bool differs_each_time(std::string_view name) {
    static constexpr std::array<std::string_view, 4> kChanging = {"[seq]", "[timestamp]", "[05]", "[999]"};
    return std::ranges::any_of(kChanging, [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

Result<void> check_files(const Vhost& vhost) {
    // Any other name is a folder; one like these was meant as a file.
    static constexpr std::array<std::string_view, 16> kOtherMedia = {".mkv", ".webm", ".mov", ".avi", ".ts",  ".m4s",
                                                                     ".m4v", ".m4a",  ".mp3", ".aac", ".f4v", ".mpg",
                                                                     ".3gp", ".ogg",  ".wav", ".m3u8"};
    if (vhost.dvr.enabled && has_ending(vhost.dvr.path, kOtherMedia))
        return broken(fmt::format("vhost {}: dvr_path is \"{}\", expected a name that ends in .flv or .mp4, or a folder",
                                  vhost.name, vhost.dvr.path));
    const service::hls::HlsOptions& hls = vhost.hls;
    using service::hls::Fmp4;
    for (const auto& [option, is_used, name] : {std::tuple{"hls_ts_file", hls.use_fmp4 != Fmp4::on, &hls.ts_file},
                                                std::tuple{"hls_fmp4_file", hls.use_fmp4 != Fmp4::off, &hls.fmp4_file}})
        if (hls.enabled && is_used && !differs_each_time(*name))
            return broken(fmt::format("vhost {}: {} is \"{}\", so all fragments have one name; expected [seq] or [timestamp]",
                                      vhost.name, option, *name));
    return {};
}

}  // namespace

Result<void> check_vhost(const Vhost& vhost, const Settings& settings) {
    if (vhost.publish.always && vhost.publish.slate.empty())
        return broken(fmt::format("vhost {}: publish.always needs publish.slate", vhost.name));
    const bool is_shared = may_pull(vhost.cluster) || vhost.cluster.origin_cluster || settings.workers != "1";
    if (vhost.publish.always && (is_shared || !settings.cluster.registry.empty()))
        return broken(
            fmt::format("vhost {}: publish.always is for a server with one worker, neither an edge nor in a cluster: the "
                        "stream may be published elsewhere",
                        vhost.name));
    if (vhost.publish.kickoff_for_idle.count() > 0 && vhost.forward.enabled)
        return broken(fmt::format("vhost {}: publish.kickoff_for_idle and forward exclude each other", vhost.name));
    if (vhost.hls.enabled && catches_fragments(vhost.http_remux))
        return broken(
            fmt::format("vhost {}: hls and http_remux mounted at {} exclude each other", vhost.name, vhost.http_remux.mount));
    TRY(check_engines(vhost));
    for (const auto& check : kVhostChecks)
        if (vhost.enabled || check.is_for_disabled)
            if (auto findings = check.run(vhost, context_of(vhost, settings)); !findings.error.empty())
                return broken(std::move(findings.error));
    if (vhost.enabled)
        TRY(check_files(vhost));
    TRY(check_urls(vhost));
    if (vhost.hls.enabled)
        TRY(check_push(vhost.hls.push, fmt::format("vhost {}: hls.push", vhost.name), settings));
    if (vhost.dash.enabled)
        TRY(check_push(vhost.dash.push, fmt::format("vhost {}: dash.push", vhost.name), settings));
    return {};
}

}  // namespace live::settings
