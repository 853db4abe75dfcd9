// The blocks of the conf file's root that belong to no virtual host: plain values with their defaults. A block moves to the room
// of its service when that service is written; until then it is here, so that every option of the conf file has one row.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace live::settings {

// key and cert of every TLS listener: PEM files, relative to the working directory.
struct TlsFiles {
    std::string key = "./conf/server.key";
    std::string cert = "./conf/server.crt";
};

// rtmps {}: RTMP over TLS.
struct RtmpsOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"1443"};
    TlsFiles tls;
};

// rtsps {}: RTSP over TLS. Ours.
struct RtspsOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"322"};
    TlsFiles tls;
};

// tls_client {}: which authorities the server trusts as a client: callbacks, forwards, heartbeats.
struct TlsClientOptions {
    bool verify = true;
    // PEM; empty: the system's authorities.
    std::string ca_file;
};

// https {} inside http_api and http_server.
struct HttpsOptions {
    bool enabled = false;
    bool http2 = true;
    std::vector<std::string> listen;
    TlsFiles tls;
};

struct RawApiOptions {
    bool enabled = false;
    bool allow_reload = false;
    bool allow_query = false;
    bool allow_update = false;
};

struct Settings;

enum class ApiAuthType : std::uint8_t { by_given, basic, bearer };

struct ApiAuthOptions {
    bool enabled = false;
    std::string username;
    std::string password;
    ApiAuthType type = ApiAuthType::by_given;
    std::string token;
    bool rtc_bearer_enabled = false;

    bool takes_token() const { return type != ApiAuthType::basic && !token.empty(); }
    // By users with a right for it, or by tokens of the default virtual host's access block, unless `type` names another way.
    bool takes_users(const Settings& settings) const;
    bool takes_password() const { return type != ApiAuthType::bearer && !username.empty() && !password.empty(); }
};

struct HttpApiOptions {
    bool enabled = false;
    // Loopback only unless the operator sets an endpoint: the API is not for strangers.
    std::vector<std::string> listen = {"127.0.0.1:1985"};
    bool crossdomain = true;
    bool jsonp = false;
    RawApiOptions raw_api;
    ApiAuthOptions auth;
    // Ours: requests that change something; "off" for none.
    std::string audit_log = "./objs/audit.log";
    // As `listen`.
    HttpsOptions https{.listen = {"127.0.0.1:1990"}, .tls = {}};
};

struct HttpServerOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"8080"};
    std::string dir = "./objs/nginx/html";
    // Ours.
    bool stream_list = true;
    bool crossdomain = true;
    HttpsOptions https{.listen = {"8088"}, .tls = {}};
};

struct StatsOptions {
    bool enabled = true;
    // Which of the machine's addresses is "the device's".
    std::uint32_t network = 0;
    // Block devices to measure; empty means all.
    std::vector<std::string> disk;
};

struct SipOptions {
    bool enabled = true;
    std::vector<std::string> listen = {"5060"};
    std::chrono::milliseconds timeout = 60s;
    std::chrono::milliseconds reinvite = 5s;
    std::string candidate = "*";
};

// A caster of old files that this server does not have.
inline bool is_missing_caster(std::string_view caster) { return caster == "rtsp"; }

struct ZlmApiOptions {
    bool enabled = false;
    std::string secret;
};

struct StreamCasterOptions {
    bool enabled = false;
    std::string caster;
    std::string output;
    std::vector<std::string> listen;
    SipOptions sip;
    std::chrono::milliseconds media_connect_timeout = 10s;
    ZlmApiOptions zlm_api;
};

struct ExporterOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"127.0.0.1:9972"};
    std::string label;
    std::string tag;
    // Ours: series of single streams in /metrics, and the most streams that have them.
    bool streams = false;
    std::uint32_t streams_max = 1000;
};

struct ThreadsOptions {
    std::chrono::milliseconds interval = 5s;
};

// tencentcloud_cls {} and tencentcloud_apm {}: accepted and ignored.
struct CloudLogOptions {
    bool enabled = false;
    std::string label;
    std::string tag;
    std::string secret_id;
    std::string secret_key;
    std::string endpoint;
    std::string topic_id;
    bool debug_logging = false;
    bool stat_heartbeat = true;
    std::uint32_t heartbeat_ratio = 1;
    bool stat_streams = true;
    std::uint32_t streams_ratio = 1;
};

struct CloudTraceOptions {
    bool enabled = false;
    std::string team;
    std::string token;
    std::string endpoint;
    std::string service_name = "srs-server";
    bool debug_logging = false;
};

}  // namespace live::settings
