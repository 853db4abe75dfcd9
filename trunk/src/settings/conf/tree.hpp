// The operator's whole configuration as one immutable tree: plain values with their defaults. Rooms below never see it: each
// receives its own options struct. settings/conf/load.hpp builds it, settings/conf/rows.hpp has the names in the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "media/ring/options.hpp"
#include "service/access/options.hpp"
#include "service/acme/options.hpp"
#include "service/cluster/options.hpp"
#include "service/dash/options.hpp"
#include "service/dvr/options.hpp"
#include "service/engines/options.hpp"
#include "service/exec/options.hpp"
#include "service/forward/options.hpp"
#include "service/heartbeat/options.hpp"
#include "service/hls/options.hpp"
#include "service/hooks/options.hpp"
#include "service/ingest/options.hpp"
#include "service/ladder/options.hpp"
#include "service/recordings/options.hpp"
#include "service/relay/options.hpp"
#include "service/tokens/options.hpp"
#include "service/tracing/options.hpp"
#include "service/upload/options.hpp"
#include "service/users/options.hpp"
#include "session/http_live/options.hpp"
#include "session/limits/limit_options.hpp"
#include "session/rtc/options.hpp"
#include "session/rtmp/options.hpp"
#include "session/rtsp/options.hpp"
#include "session/srt/options.hpp"
#include "settings/conf/outputs.hpp"
#include "settings/conf/services.hpp"

namespace live::settings {

inline constexpr std::string_view kDefaultVhost = "__defaultVhost__";

struct Vhost {
    std::string name;
    bool enabled = true;
    // chunk_size, in_ack_size, out_ack_size, tcp_nodelay and min_latency are directly in vhost {}.
    session::rtmp::RtmpOptions rtmp;
    media::PlayOptions play;
    media::PublishOptions publish;
    service::access::SecurityOptions security;
    service::access::ReferOptions refer;
    service::tokens::TokenOptions access;
    service::hooks::HookOptions http_hooks;
    service::forward::ForwardOptions forward;
    service::hls::HlsOptions hls;
    std::vector<service::ingest::IngestOptions> ingests;
    service::dvr::DvrOptions dvr;
    session::rtc::RtcOptions rtc;
    session::srt::SrtOptions srt;
    session::rtsp::RtspOptions rtsp;
    service::dash::DashOptions dash;
    HttpStaticOptions http_static;
    session::http_live::RemuxOptions http_remux;
    service::relay::ClusterOptions cluster;
    service::ladder::LadderOptions ladder;
    service::exec::ExecOptions exec;
    std::vector<service::engines::TranscodeOptions> transcodes;

    // Whether some clients may not play its streams.
    bool guards_play() const {
        return (http_hooks.enabled && !http_hooks.on_play.empty()) ||
               service::access::restricts(security, service::access::Role::play) || service::tokens::guards_play(access);
    }

    // Everything below is accepted and checked, but has no effect yet.
    HdsOptions hds;
};

enum class LogTank : std::uint8_t { file, console };
enum class LogLines : std::uint8_t { text, json };

struct LogOptions {
    LogTank tank = LogTank::file;
    // Generation 1 names: verbose, info, trace, warn, error.
    std::string level = "trace";
    // Generation 2 names: trace, debug, info, warn, error; takes precedence when not empty.
    std::string level_v2;
    std::string file = "./objs/srs.log";
    // Ours, for the access log too: in MiB, 0 means never; and how many old files are kept.
    std::uint32_t max_size = 100;
    std::uint32_t backups = 3;
    // Ours.
    LogLines lines = LogLines::text;
};

struct Settings {
    // RTMP endpoints as written: "1935", "127.0.0.1:1935", "[::1]:1935"; all checked with parse_endpoint().
    std::vector<std::string> listen;
    // rtmp { enabled; }. Off: `listen` is empty.
    bool rtmp_enabled = true;
    RtmpsOptions rtmps;
    std::uint32_t chunk_size = 60'000;
    std::uint32_t max_connections = 1000;
    std::string pid = "./objs/srs.pid";
    std::string work_dir = "./";
    std::string server_id;
    bool daemon = true;
    // Ours: processes that serve clients; a number, or "auto" for one per core. See worker_count().
    std::string workers = "1";
    // Ours: each worker runs on one core.
    bool worker_affinity = false;
    bool asprocess = false;
    bool utc_time = false;
    LogOptions log;
    // Ours: for ended sessions; "off" for none.
    std::string access_log = "./objs/access.log";
    std::string ff_log_dir = "./objs";
    std::string ff_log_level = "info";
    std::chrono::milliseconds pithy_print = 10s;
    std::chrono::milliseconds grace_start_wait{2300};
    std::chrono::milliseconds grace_final_wait{3200};
    // Ours: how long an old process stays for its clients after an upgrade.
    std::chrono::milliseconds upgrade_limit = 24h;
    bool force_grace_quit = false;
    bool empty_ip_ok = true;
    bool in_docker = false;
    bool disable_daemon_for_docker = true;
    bool inotify_auto_reload = false;
    bool auto_reload_for_docker = true;
    double tcmalloc_release_rate = 0.8;
    bool query_latest_version = false;
    std::chrono::milliseconds first_wait_for_qlv = 300s;
    bool is_full = false;
    // Ours: send batches through io_uring where the kernel allows it.
    bool io_uring = true;
    // Ours: a fiber that holds the event loop for longer is named in the log.
    std::chrono::milliseconds loop_hold_limit{100};

    ThreadsOptions threads;
    session::rtc::CircuitBreakerOptions circuit_breaker;
    service::heartbeat::HeartbeatOptions heartbeat;
    service::cluster::RegistryOptions cluster;
    StatsOptions stats;
    TlsClientOptions tls_client;
    service::acme::AcmeOptions acme;
    session::LimitOptions limits;
    session::srt::SrtLimitOptions srt_limits;
    HttpApiOptions http_api;
    HttpServerOptions http_server;
    session::srt::SrtServerOptions srt_server;
    session::rtc::RtcServerOptions rtc_server;
    std::vector<StreamCasterOptions> stream_casters;
    ExporterOptions exporter;
    service::recordings::PlaybackOptions playback;
    service::recordings::RetentionOptions recordings;
    service::upload::UploadOptions upload;
    service::tracing::TracingOptions tracing;
    session::rtsp::RtspServerOptions rtsp_server;
    RtspsOptions rtsps;
    CloudLogOptions cloud_log;
    CloudTraceOptions cloud_trace;

    std::vector<service::users::UserOptions> users;
    std::vector<Vhost> vhosts;

    // The virtual host of exactly that name, else __defaultVhost__, else nullptr. A disabled one is returned too: the caller
    // refuses it.
    const Vhost* find_vhost(std::string_view name) const;
    // The first caster of that protocol that is enabled, else nullptr.
    const StreamCasterOptions* find_caster(std::string_view caster) const;
};

inline constexpr std::size_t kWorkersMax = 64;
// The number that `workers` stands for on a machine with so many cores. Errc::malformed.
Result<std::size_t> worker_count(std::string_view workers, std::size_t cores);

}  // namespace live::settings
