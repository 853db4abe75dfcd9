// The rows of settings/conf/load.hpp: the conf file's root and vhost {}, assembled from the rows of every block. Only bind.cpp
// and tools.cpp include this; it is the slowest header we have.
#pragma once

#include <array>
#include <string_view>

#include "base/config/row.hpp"
#include "media/ring/option_rows.hpp"
#include "service/access/option_rows.hpp"
#include "service/acme/option_rows.hpp"
#include "service/cluster/option_rows.hpp"
#include "service/dash/option_rows.hpp"
#include "service/dvr/option_rows.hpp"
#include "service/engines/option_rows.hpp"
#include "service/exec/option_rows.hpp"
#include "service/forward/option_rows.hpp"
#include "service/heartbeat/option_rows.hpp"
#include "service/hls/option_rows.hpp"
#include "service/hooks/option_rows.hpp"
#include "service/ingest/option_rows.hpp"
#include "service/ladder/option_rows.hpp"
#include "service/recordings/option_rows.hpp"
#include "service/relay/option_rows.hpp"
#include "service/tokens/option_rows.hpp"
#include "service/tracing/option_rows.hpp"
#include "service/upload/option_rows.hpp"
#include "service/users/option_rows.hpp"
#include "session/http_live/option_rows.hpp"
#include "session/limits/limit_option_rows.hpp"
#include "session/rtc/option_rows.hpp"
#include "session/rtmp/option_rows.hpp"
#include "session/rtsp/option_rows.hpp"
#include "session/srt/option_rows.hpp"
#include "settings/conf/output_rows.hpp"
#include "settings/conf/service_rows.hpp"
#include "settings/conf/tree.hpp"

namespace live::settings {

// min_latency comes before play {} and cluster {} in the rows, because their defaults depend on it.
inline void prepare_play(const Vhost& vhost, media::PlayOptions& play) {
    if (vhost.rtmp.min_latency)
        play.mw_msgs = 0;
}

inline void prepare_cluster(const Vhost& vhost, service::relay::ClusterOptions& cluster) {
    if (vhost.rtmp.min_latency)
        cluster.mw_latency = {};
}

// The family's own samples omit the id. No id in a file can begin with a comment sign.
inline void name_ingest(const Vhost& vhost, service::ingest::IngestOptions& ingest) {
    if (ingest.id.empty())
        ingest.id = "#" + std::to_string(vhost.ingests.size() + 1);
}

inline constexpr auto kVhostRows = config::Rows{
    config::row(&Vhost::enabled, "enabled", kLive, "Off: the virtual host refuses all clients."),
    config::flat(&Vhost::rtmp, session::rtmp::kRtmpRows),
    config::block(&Vhost::play, "play", media::kPlayRows, "Playback.", prepare_play),
    config::block(&Vhost::publish, "publish", media::kPublishRows, "Publishing."),
    config::block(&Vhost::forward, "forward", service::forward::kForwardRows, "Pushes streams to other servers.")
        .not_in_environment(),
    config::named_blocks(&Vhost::ingests, "ingest", &service::ingest::IngestOptions::id, "id", config::SameName::is_error,
                         service::ingest::kIngestRows, "Reads a file or a stream with ffmpeg and publishes it here.", name_ingest)
        .argument_optional()
        .not_in_environment()
        .example("livestream"),
    config::block(&Vhost::ladder, "ladder", service::ladder::kLadderRows,
                  "Ours: smaller versions of each stream, for players that choose by their link.")
        .not_in_environment(),
    config::block(&Vhost::cluster, "cluster", service::relay::kClusterRows, "Origin and edge.", prepare_cluster),
    config::block(&Vhost::security, "security", service::access::kSecurityRows, "Permissions to publish and play, by address.")
        .not_in_environment(),
    config::block(&Vhost::access, "access", service::tokens::kTokenRows,
                  "Permissions to publish and play, by token, signed URL or user.")
        .not_in_environment(),
    config::block(&Vhost::refer, "refer", service::access::kReferRows, "Permissions to publish and play, by web page.")
        .not_in_environment(),
    config::block(&Vhost::hls, "hls", service::hls::kHlsRows, "HLS output."),
    config::block(&Vhost::dash, "dash", service::dash::kDashRows, "MPEG-DASH output."),
    config::block(&Vhost::hds, "hds", kHdsRows, "Adobe HDS output.").ignored(),
    config::block(&Vhost::dvr, "dvr", service::dvr::kDvrRows, "Recordings."),
    config::block(&Vhost::http_static, "http_static", kHttpStaticRows, "Files of this virtual host."),
    config::block(&Vhost::http_remux, "http_remux", session::http_live::kRemuxRows, "Live streams over HTTP: FLV, TS, AAC, MP3."),
    config::block(&Vhost::http_hooks, "http_hooks", service::hooks::kHookRows, "Callbacks to a server of the operator."),
    config::block(&Vhost::exec, "exec", service::exec::kExecRows, "Programs that run while a stream is published.")
        .not_in_environment(),
    config::block(&Vhost::rtc, "rtc", session::rtc::kRtcRows, "WebRTC."),
    config::block(&Vhost::srt, "srt", session::srt::kSrtRows, "SRT."),
    config::block(&Vhost::rtsp, "rtsp", session::rtsp::kRtspRows, "RTSP."),
    config::blocks(
        &Vhost::transcodes, "transcode", &service::engines::TranscodeOptions::scope, "scope", service::engines::kTranscodeRows,
        "Transcodes streams with ffmpeg; the scope is empty for all, app, or app/stream. Of one scope, the first block "
        "counts.")
        .not_in_environment(),
};

inline constexpr std::array kLogTankNames = {
    config::Named<LogTank>{"file", LogTank::file},
    config::Named<LogTank>{"console", LogTank::console},
};
inline constexpr std::array kLogLinesNames = {
    config::Named<LogLines>{"text", LogLines::text},
    config::Named<LogLines>{"json", LogLines::json},
};
inline constexpr std::array<std::string_view, 5> kLogLevelNames = {"verbose", "info", "trace", "warn", "error"};
inline constexpr std::array<std::string_view, 5> kLogLevelNames2 = {"trace", "debug", "info", "warn", "error"};

inline constexpr auto kLogRows = config::Rows{
    config::row(&LogOptions::tank, "srs_log_tank", kLogTankNames, kRestart,
                "Destination of log lines. Default in a container, and without a conf file: console.")
        .also_variable("SRS_LOG_TANK"),
    config::row(&LogOptions::level, "srs_log_level", kLogLevelNames, kRestart,
                "Lines below this level are not logged; older names.")
        .also_variable("SRS_LOG_LEVEL"),
    config::row(&LogOptions::level_v2, "srs_log_level_v2", kLogLevelNames2, kRestart,
                "The same with current names; takes precedence.")
        .also_variable("SRS_LOG_LEVEL_V2")
        .example("info"),
    config::row(&LogOptions::file, "srs_log_file", kRestart, "The log file.").also_variable("SRS_LOG_FILE"),
    config::row(
        &LogOptions::max_size, "srs_log_max_size", 0, 1'000'000, kRestart,
        "Ours: MiB. When the log file or the access log is full, FILE becomes FILE.1, FILE.1 becomes FILE.2, and so on. 0 "
        "is never, as where another program rotates them and sends SIGUSR1.")
        .also_variable("SRS_LOG_MAX_SIZE"),
    config::row(&LogOptions::backups, "srs_log_backups", 0, 1'000, kRestart,
                "Ours: the number of old files that srs_log_max_size keeps of each of the two.")
        .also_variable("SRS_LOG_BACKUPS"),
    config::row(&LogOptions::lines, "srs_log_format", kLogLinesNames, kRestart,
                "Ours: text, or json: one object per line with time (UTC), level, pid, id and message.")
        .also_variable("SRS_LOG_FORMAT"),
};

// The newer form of two directives of the root, and a switch. This form overrides them.
inline constexpr auto kRtmpBlockRows = config::Rows{
    config::row(&Settings::rtmp_enabled, "enabled", kRestart, "RTMP. Off: listen may be missing."),
    config::endpoints(&Settings::listen, "listen", kLive, "The same as listen outside all blocks.")
        .also_variable("SRS_LISTEN")
        .example("1935")
        .alias(),
    config::row(&Settings::chunk_size, "chunk_size", session::rtmp::kChunkSizeMin, session::rtmp::kChunkSizeMax, kNextSession,
                "The same as chunk_size outside all blocks.")
        .also_variable("SRS_CHUNK_SIZE")
        .clamped()
        .alias(),
};

inline void prepare_vhost(const Settings& settings, Vhost& vhost) { vhost.rtmp.chunk_size = settings.chunk_size; }

inline constexpr auto kProcessRows = config::Rows{
    config::endpoints(&Settings::listen, "listen", kLive, "RTMP endpoints: port, ip:port or [ipv6]:port, separated by spaces.")
        .example("1935"),
    config::row(&Settings::max_connections, "max_connections", 1, 1'000'000, kLive,
                "Limit of connections. At most the limit of open files less 128."),
    config::row(&Settings::daemon, "daemon", kRestart, "Detaches from the terminal."),
    config::row(&Settings::workers, "workers", kRestart,
                "Ours: processes that share the ports and serve clients, 1 to 64, or auto for one per core. With more than one, "
                "a further process supervises them."),
    config::row(&Settings::worker_affinity, "worker_affinity", kRestart,
                "Ours: each worker runs on one core, beginning with the first that this process may use."),
    config::row(&Settings::pid, "pid", kRestart, "The pid file; locked while the server runs."),
    config::flat(&Settings::log, kLogRows),
    config::row(&Settings::access_log, "access_log", kRestart,
                "Ours: the file with a line of JSON for each client that has left a stream or was refused, or off."),
    config::row(&Settings::utc_time, "utc_time", kRestart, "UTC in the log and in file names; off is local time."),
    config::row(&Settings::work_dir, "work_dir", kRestart, "The directory to change to at start."),
    config::row(&Settings::server_id, "server_id", kRestart, "The server's id. By default generated and kept in a file.")
        .example("srs-ie193id"),
    config::row(&Settings::chunk_size, "chunk_size", session::rtmp::kChunkSizeMin, session::rtmp::kChunkSizeMax, kNextSession,
                "Payload bytes of each RTMP chunk that the server sends.")
        .also_variable("SRS_VHOST_CHUNK_SIZE")
        .clamped(),
    config::scope<Settings>("rtmp", kRtmpBlockRows, "RTMP, in the form of newer files of the family."),
    config::block(&Settings::rtmps, "rtmps", kRtmpsRows, "RTMP over TLS."),
    config::row(&Settings::ff_log_dir, "ff_log_dir", kNextSession,
                "Directory of the logs of ffmpeg processes; /dev/null disables them."),
    config::row(&Settings::ff_log_level, "ff_log_level", kNextSession, "-loglevel of ffmpeg children; empty leaves it out.")
        .may_be_empty(),
    config::row(&Settings::pithy_print, "pithy_print_ms", 0ms, 86'400'000ms, kLive, "Interval of statistics lines in the log."),
    config::row(&Settings::asprocess, "asprocess", kRestart, "Ends with the parent process; cannot be combined with daemon."),
    config::row(&Settings::grace_start_wait, "grace_start_wait", 0ms, 3'600'000ms, kLive,
                "Graceful stop: the time before listeners close."),
    config::row(&Settings::grace_final_wait, "grace_final_wait", 0ms, 3'600'000ms, kLive,
                "Graceful stop: the time after that until the remaining clients are closed."),
    config::row(&Settings::upgrade_limit, "upgrade_limit", 0s, 2'592'000s, kLive,
                "Ours: after an upgrade, the time until the old process, or its workers, close the remaining clients."),
    config::row(&Settings::force_grace_quit, "force_grace_quit", kLive, "SIGTERM stops gracefully."),
    config::row(&Settings::io_uring, "io_uring", kRestart, "Ours: sends in batches through io_uring where the kernel allows it."),
    config::row(
        &Settings::loop_hold_limit, "loop_hold_limit", 1ms, 3'600'000ms, kRestart,
        "Ours: a fiber that has the event loop to itself for longer is named in the log. Below 20 ms its CPU time counts, "
        "which costs a system call at each switch."),
    config::row(&Settings::empty_ip_ok, "empty_ip_ok", kLive,
                "No effect: the peer's address is always known when a connection is accepted.")
        .ignored(),
    config::row(&Settings::in_docker, "in_docker", kRestart, "Behaves as in a container."),
    config::row(&Settings::disable_daemon_for_docker, "disable_daemon_for_docker", kRestart, "In a container, daemon is off."),
    config::row(&Settings::inotify_auto_reload, "inotify_auto_reload", kRestart, "Reloads when the conf file changes."),
    config::row(&Settings::auto_reload_for_docker, "auto_reload_for_docker", kRestart,
                "In a container, inotify_auto_reload is on."),
    config::row(&Settings::tcmalloc_release_rate, "tcmalloc_release_rate", 0, 10, kRestart,
                "Builds with gperf: the rate at which memory is returned to the system.")
        .clamped(),
    config::row(&Settings::query_latest_version, "query_latest_version", kRestart, "This server makes no such request.")
        .rule(config::BoolRule::off_is_off)
        .ignored(),
    config::row(&Settings::first_wait_for_qlv, "first_wait_for_qlv", 0s, 864'000s, kRestart, "This server makes no such request.")
        .ignored(),
    config::row(&Settings::is_full, "is_full", kRestart,
                "Marks the file that documents every option: the server does not start with it.")
        .not_in_environment(),
};

inline constexpr auto kAllLimitRows = config::Rows{
    config::flat(&Settings::limits, session::kLimitRows),
    config::flat(&Settings::srt_limits, session::srt::kSrtLimitRows),
};

inline constexpr auto kSettingsRows = config::Rows{
    kProcessRows,
    config::block(&Settings::threads, "threads", kThreadsRows, "Periodic work."),
    config::block(&Settings::circuit_breaker, "circuit_breaker", session::rtc::kCircuitBreakerRows,
                  "Reduces the work for WebRTC when the CPU is busy."),
    config::block(&Settings::heartbeat, "heartbeat", service::heartbeat::kHeartbeatRows, "Posts a heartbeat to a URL."),
    config::block(&Settings::cluster, "cluster", service::cluster::kRegistryRows,
                  "Ours: a cluster of nodes with a registry of streams."),
    config::block(&Settings::stats, "stats", kStatsRows, "System statistics.").not_in_environment(),
    config::block(&Settings::tls_client, "tls_client", kTlsClientRows, "TLS connections that the server makes."),
    config::block(&Settings::acme, "acme", service::acme::kAcmeRows,
                  "A certificate from a certificate authority such as Let's Encrypt."),
    config::scope<Settings>("limits", kAllLimitRows, "Ours: limits of one address, and of clients that are not yet admitted."),
    config::block(&Settings::http_api, "http_api", kHttpApiRows, "The HTTP API."),
    config::block(&Settings::http_server, "http_server", kHttpServerRows, "Files and streams over HTTP."),
    config::block(&Settings::srt_server, "srt_server", session::srt::kSrtServerRows, "SRT."),
    config::block(&Settings::rtc_server, "rtc_server", session::rtc::kRtcServerRows, "WebRTC."),
    config::blocks(&Settings::stream_casters, "stream_caster", nullptr, "", kStreamCasterRows,
                   "Accepts streams of other protocols.")
        .not_in_environment(),
    config::block(&Settings::recordings, "recordings", service::recordings::kRetentionRows,
                  "Ours: which recordings are kept. The oldest are deleted first."),
    config::block(&Settings::playback, "playback", service::recordings::kPlaybackRows, "Ours: playback of recordings."),
    config::block(&Settings::upload, "upload", service::upload::kUploadRows,
                  "Ours: copies recordings to S3 and servers that speak it."),
    config::block(&Settings::exporter, "exporter", kExporterRows, "Prometheus metrics."),
    config::block(&Settings::tracing, "tracing", service::tracing::kTracingRows, "Ours: traces for OpenTelemetry."),
    config::block(&Settings::rtsp_server, "rtsp_server", session::rtsp::kRtspServerRows, "RTSP."),
    config::block(&Settings::rtsps, "rtsps", kRtspsRows, "Ours: RTSP over TLS, with media over the connection."),
    config::block(&Settings::cloud_log, "tencentcloud_cls", kCloudLogRows, "A cloud's log service.").ignored(),
    config::block(&Settings::cloud_trace, "tencentcloud_apm", kCloudTraceRows, "A cloud's tracing service.").ignored(),
    config::named_blocks(&Settings::users, "user", &service::users::UserOptions::name, "name", config::SameName::is_error,
                         service::users::kUserRows, "Ours: a name and a password for publishers, players and the API.")
        .not_in_environment()
        .example("alice"),
    config::named_blocks(&Settings::vhosts, "vhost", &Vhost::name, "name", config::SameName::first_wins, kVhostRows,
                         "A virtual host. __defaultVhost__ serves every host without a block.", prepare_vhost)
        .example("__defaultVhost__"),
};

}  // namespace live::settings
