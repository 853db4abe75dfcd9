// The rows of service/access/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/access/options.hpp"

namespace live::service::access {

inline constexpr auto kSecurityRows = config::Rows{
    config::row(&SecurityOptions::enabled, "enabled", config::Reload::next_session,
                "Rules by address. Deny rules apply first; without any rule all clients are refused."),
    config::row(&SecurityOptions::allow, "allow", config::Reload::next_session,
                "publish or play, then all, an address or a network. With at least one such rule, other clients are refused.")
        .example("play all"),
    config::row(&SecurityOptions::deny, "deny", config::Reload::next_session,
                "publish or play, then all, an address or a network.")
        .example("publish all"),
};

inline constexpr auto kReferRows = config::Rows{
    config::row(&ReferOptions::enabled, "enabled", config::Reload::next_session,
                "Checks the web page of an RTMP client: its host must end with one of the names."),
    config::row(&ReferOptions::all, "all", config::Reload::next_session, "Names for all clients; empty: every page is allowed.")
        .example("example.com"),
    config::row(&ReferOptions::publish, "publish", config::Reload::next_session,
                "Names for publishers; empty: every page is allowed.")
        .example("example.com"),
    config::row(&ReferOptions::play, "play", config::Reload::next_session, "Names for players; empty: every page is allowed.")
        .example("example.com"),
};

}  // namespace live::service::access
