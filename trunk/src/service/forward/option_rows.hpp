// The rows of service/forward/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/forward/options.hpp"

namespace live::service::forward {

inline constexpr auto kForwardRows = config::Rows{
    config::row(&ForwardOptions::enabled, "enabled", config::Reload::next_session,
                "Pushes every published stream to other servers."),
    config::row(&ForwardOptions::destinations, "destination", config::Reload::next_session,
                "The servers: host, host:port, rtmp://..., rtmps://... or srt://... (doc/manual/srt.md); several with spaces "
                "between them.")
        .example("127.0.0.1:19350"),
    config::row(&ForwardOptions::backend, "backend", config::Reload::next_session,
                "A URL that returns the destinations, in place of destination.")
        .example("http://127.0.0.1:8085/api/v1/forward"),
};

}  // namespace live::service::forward
