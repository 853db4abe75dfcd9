// The rows of settings/conf/services.hpp: blocks of the conf file's root.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "settings/conf/services.hpp"

namespace live::settings {

inline constexpr auto kRestart = config::Reload::restart;
inline constexpr auto kLive = config::Reload::live;
inline constexpr auto kNextSession = config::Reload::next_session;

inline constexpr auto kTlsRows = config::Rows{
    config::row(&TlsFiles::key, "key", kRestart, "Private key, a PEM file."),
    config::row(&TlsFiles::cert, "cert", kRestart, "Certificate chain, a PEM file."),
};

inline constexpr auto kRtmpsRows = config::Rows{
    config::row(&RtmpsOptions::enabled, "enabled", kRestart, "RTMP over TLS."),
    config::endpoints(&RtmpsOptions::listen, "listen", kRestart, "Endpoints of RTMP over TLS."),
    config::flat(&RtmpsOptions::tls, kTlsRows),
};

inline constexpr auto kRtspsRows = config::Rows{
    config::row(&RtspsOptions::enabled, "enabled", kRestart, "RTSP over TLS."),
    config::endpoints(&RtspsOptions::listen, "listen", kRestart, "Endpoints of RTSP over TLS."),
    config::flat(&RtspsOptions::tls, kTlsRows),
};

inline constexpr auto kHttpsRows = config::Rows{
    config::row(&HttpsOptions::enabled, "enabled", kRestart, "The same service over TLS; requires the plain one."),
    config::endpoints(&HttpsOptions::listen, "listen", kRestart, "Endpoints of the service over TLS."),
    config::row(&HttpsOptions::http2, "http2", kNextSession, "Offers HTTP/2 to clients, in builds with libnghttp2."),
    config::flat(&HttpsOptions::tls, kTlsRows),
};

inline constexpr auto kTlsClientRows = config::Rows{
    config::row(&TlsClientOptions::verify, "verify", kRestart,
                "Verifies certificates and names of the servers of callbacks, forwards and heartbeats."),
    config::row(&TlsClientOptions::ca_file, "ca_file", kRestart, "PEM file of the trusted authorities; by default the system's.")
        .example("./conf/ca.crt"),
};

inline constexpr auto kRawApiRows = config::Rows{
    config::row(&RawApiOptions::enabled, "enabled", kNextSession, "The API call for reloads."),
    config::row(&RawApiOptions::allow_reload, "allow_reload", kNextSession, "Permits rpc=reload."),
    config::row(&RawApiOptions::allow_query, "allow_query", kNextSession, "Always off.").ignored(),
    config::row(&RawApiOptions::allow_update, "allow_update", kNextSession, "Always off.").ignored(),
};

inline constexpr std::array kApiAuthTypeNames = {
    config::Named<ApiAuthType>{"auto", ApiAuthType::by_given},
    config::Named<ApiAuthType>{"basic", ApiAuthType::basic},
    config::Named<ApiAuthType>{"bearer", ApiAuthType::bearer},
};

inline constexpr auto kApiAuthRows = config::Rows{
    config::row(&ApiAuthOptions::enabled, "enabled", kNextSession,
                "HTTP authentication for paths below /api/: by username or token below, or by users and tokens with a right."),
    config::row(&ApiAuthOptions::username, "username", kNextSession, "User name of basic authentication.").example("admin"),
    config::row(&ApiAuthOptions::password, "password", kNextSession, "Password of basic authentication.")
        .example("admin")
        .secret(),
    config::row(&ApiAuthOptions::type, "type", kApiAuthTypeNames, kNextSession,
                "basic, bearer, or auto: each for which a token, or a name and password, are configured."),
    config::row(&ApiAuthOptions::token, "token", kNextSession, "The bearer token.").secret(),
    config::row(&ApiAuthOptions::rtc_bearer_enabled, "rtc_bearer_enabled", kNextSession,
                "Requires the token, but no password, for /rtc/ too: WHIP and WHEP."),
};

inline constexpr auto kHttpApiRows = config::Rows{
    config::row(&HttpApiOptions::enabled, "enabled", kRestart, "Serves the HTTP API."),
    config::endpoints(&HttpApiOptions::listen, "listen", kRestart,
                      "Endpoints of the API. Default: loopback only. A port alone means every address."),
    config::row(&HttpApiOptions::crossdomain, "crossdomain", kNextSession, "CORS headers in answers."),
    config::row(&HttpApiOptions::jsonp, "jsonp", kNextSession,
                "Answers GET requests with callback=NAME as a script, for old pages. Requires crossdomain."),
    config::block(&HttpApiOptions::raw_api, "raw_api", kRawApiRows, "Reloads through the API."),
    config::block(&HttpApiOptions::auth, "auth", kApiAuthRows, "Authentication."),
    config::row(&HttpApiOptions::audit_log, "audit_log", kRestart,
                "Ours: a file with a line of JSON for each request that changes something: who, from where, what. off: none."),
    config::block(&HttpApiOptions::https, "https", kHttpsRows, "The API over TLS."),
};

inline constexpr auto kHttpServerRows = config::Rows{
    config::row(&HttpServerOptions::enabled, "enabled", kRestart, "Serves files, HLS, DASH and HTTP live streams."),
    config::endpoints(&HttpServerOptions::listen, "listen", kRestart, "Endpoints. An endpoint of the API too serves both."),
    config::row(&HttpServerOptions::dir, "dir", kNextSession, "Document root."),
    config::row(&HttpServerOptions::stream_list, "stream_list", kNextSession,
                "Answers /streams.json: the live streams and their addresses, as security and refer let the client see them. "
                "Streams with on_play, tokens (access) or an origin's check (token_traverse) are not listed, nor are clients."),
    config::row(&HttpServerOptions::crossdomain, "crossdomain", kNextSession, "CORS headers in answers."),
    config::block(&HttpServerOptions::https, "https", kHttpsRows, "The same over TLS."),
};

inline constexpr auto kStatsRows = config::Rows{
    config::row(&StatsOptions::enabled, "enabled", kLive, "Reads system statistics; off leaves those fields of the API at 0."),
    config::row(&StatsOptions::network, "network", 0, 1024, kLive,
                "Index of the local address that is reported as the device's."),
    config::row(&StatsOptions::disk, "disk", kRestart, "Block devices to measure; empty: all.").example("sda vda"),
};

inline constexpr auto kSipRows = config::Rows{
    config::row(&SipOptions::enabled, "enabled", kRestart, "SIP signalling."),
    config::endpoints(&SipOptions::listen, "listen", kRestart, "Its endpoints."),
    config::row(&SipOptions::timeout, "timeout", 0s, 3600s, kRestart, "Time limit of an answer."),
    config::row(&SipOptions::reinvite, "reinvite", 0s, 3600s, kRestart, "Time until the next invitation."),
    config::row(&SipOptions::candidate, "candidate", kRestart, "The address that is advertised."),
};

inline constexpr auto kZlmApiRows = config::Rows{
    config::row(&ZlmApiOptions::enabled, "enabled", kRestart, "Serves the calls on the port of http_api."),
    config::row(&ZlmApiOptions::secret, "secret", kRestart, "The parameter \"secret\" of each call.").secret(),
};

inline constexpr std::array<std::string_view, 4> kCasterNames = {"mpegts_over_udp", "flv", "gb28181", "rtsp"};

inline constexpr auto kStreamCasterRows = config::Rows{
    config::row(&StreamCasterOptions::enabled, "enabled", kRestart, "Accepts streams of another protocol."),
    config::row(&StreamCasterOptions::caster, "caster", kCasterNames, kRestart,
                "The protocol: mpegts_over_udp, flv or gb28181. rtsp is not implemented.")
        .example("mpegts_over_udp"),
    config::row(&StreamCasterOptions::output, "output", kRestart,
                "RTMP URL of the streams; variables: [app] and [stream] for flv, [port] for mpegts_over_udp, [stream] for "
                "gb28181.")
        .example("rtmp://127.0.0.1/live/[stream]"),
    config::row(&StreamCasterOptions::listen, "listen", kRestart,
                "Endpoints: UDP for mpegts_over_udp, [group@]ip:port[/interface]; TCP for flv; both for gb28181.")
        .example("8935"),
    config::block(&StreamCasterOptions::sip, "sip", kSipRows, "SIP of gb28181, which an external SIP server does.").ignored(),
    config::row(&StreamCasterOptions::media_connect_timeout, "media_connect_timeout", 0s, 3600s, kRestart,
                "gb28181: how long a session that the API has opened waits for its device."),
    config::block(&StreamCasterOptions::zlm_api, "zlm_api", kZlmApiRows,
                  "Ours: gb28181 sessions by the calls /index/api/openRtpServer and its companions of ZLMediaKit."),
};

inline constexpr auto kExporterRows = config::Rows{
    config::row(&ExporterOptions::enabled, "enabled", kRestart, "Prometheus text at /metrics."),
    config::endpoints(&ExporterOptions::listen, "listen", kRestart, "Its endpoints."),
    config::row(&ExporterOptions::label, "label", kRestart, "A label of srs_build_info.").example("cn-beijing"),
    config::row(&ExporterOptions::tag, "tag", kRestart, "A second label of srs_build_info.").example("cn-edge"),
    config::row(&ExporterOptions::streams, "streams", kRestart,
                "Ours: /metrics has the series of single streams, as /metrics/streams has them. Each stream adds nine series."),
    config::row(&ExporterOptions::streams_max, "streams_max", 1, 100'000, kRestart,
                "Ours: the most streams that have series in /metrics, per worker; millrace_streams_omitted counts the others."),
};

inline constexpr auto kThreadsRows = config::Rows{
    config::row(&ThreadsOptions::interval, "interval", 0s, 86'400s, kRestart,
                "Interval of the log line about CPU and clients; 0: none."),
};

inline constexpr auto kCloudLogRows = config::Rows{
    config::row(&CloudLogOptions::enabled, "enabled", kRestart, "A cloud's log service."),
    config::row(&CloudLogOptions::label, "label", kRestart, "Its label."),
    config::row(&CloudLogOptions::tag, "tag", kRestart, "Its tag."),
    config::row(&CloudLogOptions::secret_id, "secret_id", kRestart, "Its account.").secret(),
    config::row(&CloudLogOptions::secret_key, "secret_key", kRestart, "Its key.").secret(),
    config::row(&CloudLogOptions::endpoint, "endpoint", kRestart, "Its address."),
    config::row(&CloudLogOptions::topic_id, "topic_id", kRestart, "Its topic."),
    config::row(&CloudLogOptions::debug_logging, "debug_logging", kRestart, "More lines."),
    config::row(&CloudLogOptions::stat_heartbeat, "stat_heartbeat", kRestart, "Sends heartbeats."),
    config::row(&CloudLogOptions::heartbeat_ratio, "heartbeat_ratio", 0, 1'000'000, kRestart, "One heartbeat in this many."),
    config::row(&CloudLogOptions::stat_streams, "stat_streams", kRestart, "Lines about streams."),
    config::row(&CloudLogOptions::streams_ratio, "streams_ratio", 0, 1'000'000, kRestart, "One line in this many."),
};

inline constexpr auto kCloudTraceRows = config::Rows{
    config::row(&CloudTraceOptions::enabled, "enabled", kRestart, "A cloud's tracing service."),
    config::row(&CloudTraceOptions::team, "team", kRestart, "Its team."),
    config::row(&CloudTraceOptions::token, "token", kRestart, "Its token.").secret(),
    config::row(&CloudTraceOptions::endpoint, "endpoint", kRestart, "Its address."),
    config::row(&CloudTraceOptions::service_name, "service_name", kRestart, "The displayed name."),
    config::row(&CloudTraceOptions::debug_logging, "debug_logging", kRestart, "More lines."),
};

}  // namespace live::settings
