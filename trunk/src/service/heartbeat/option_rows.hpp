// The rows of service/heartbeat/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/heartbeat/options.hpp"

namespace live::service::heartbeat {

inline constexpr auto kAuthRows = config::Rows{
    config::row(&AuthOptions::enabled, "enabled", config::Reload::live,
                "Sends the token in an Authorization header; on where there is a token."),
    config::row(&AuthOptions::type, "type", config::Reload::live, "Only bearer."),
    config::row(&AuthOptions::token, "token", config::Reload::live, "The bearer token.").secret(),
};

inline constexpr auto kHeartbeatRows = config::Rows{
    config::row(&HeartbeatOptions::enabled, "enabled", config::Reload::live, "Posts a heartbeat to a URL."),
    config::row(&HeartbeatOptions::interval, "interval", 0s, 86'400s, config::Reload::live,
                "Time between beats, above 0; fractions are allowed."),
    config::row(&HeartbeatOptions::url, "url", config::Reload::live, "Where beats go."),
    config::row(&HeartbeatOptions::device_id, "device_id", config::Reload::live, "The id that is sent.").example("my-device"),
    config::row(&HeartbeatOptions::summaries, "summaries", config::Reload::live, "Sends the summaries along."),
    config::row(&HeartbeatOptions::ports, "ports", config::Reload::live,
                "Sends the endpoints along; a registration with a proxy (.../api/v1/srs/register) always has ports."),
    config::block(&HeartbeatOptions::auth, "auth", kAuthRows, "How the heartbeat authenticates itself."),
};

}  // namespace live::service::heartbeat
