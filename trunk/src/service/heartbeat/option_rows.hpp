// The rows of service/heartbeat/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/heartbeat/options.hpp"

namespace live::service::heartbeat {

inline constexpr auto kAuthRows = config::Rows{
    config::row(&AuthOptions::enabled, "enabled", config::Reload::live,
                "Sends the token in an Authorization header. Default: on if a token is configured."),
    config::row(&AuthOptions::type, "type", config::Reload::live, "The scheme; only bearer is supported."),
    config::row(&AuthOptions::token, "token", config::Reload::live, "The bearer token.").secret(),
};

inline constexpr auto kHeartbeatRows = config::Rows{
    config::row(&HeartbeatOptions::enabled, "enabled", config::Reload::live, "Posts a heartbeat to a URL."),
    config::row(&HeartbeatOptions::interval, "interval", 0s, 86'400s, config::Reload::live,
                "Interval of heartbeats, above 0; fractions are allowed."),
    config::row(&HeartbeatOptions::url, "url", config::Reload::live, "The URL that receives heartbeats."),
    config::row(&HeartbeatOptions::device_id, "device_id", config::Reload::live, "The device id in the heartbeat.")
        .example("my-device"),
    config::row(&HeartbeatOptions::summaries, "summaries", config::Reload::live, "Includes the summaries."),
    config::row(&HeartbeatOptions::ports, "ports", config::Reload::live,
                "Includes the endpoints; a registration with a proxy (.../api/v1/srs/register) always has ports."),
    config::block(&HeartbeatOptions::auth, "auth", kAuthRows, "Authentication of the heartbeat."),
};

}  // namespace live::service::heartbeat
