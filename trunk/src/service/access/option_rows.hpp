// The rows of service/access/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/access/options.hpp"

namespace live::service::access {

inline constexpr auto kSecurityRows = config::Rows{
    config::row(&SecurityOptions::enabled, "enabled", config::Reload::next_session,
                "Rules about addresses. Deny rules are looked at first; without any rule all clients are refused."),
    config::row(&SecurityOptions::allow, "allow", config::Reload::next_session,
                "publish or play, then all, an address or a network. With one of these in the block, all others are refused.")
        .example("play all"),
    config::row(&SecurityOptions::deny, "deny", config::Reload::next_session,
                "publish or play, then all, an address or a network.")
        .example("publish all"),
};

inline constexpr auto kReferRows = config::Rows{
    config::row(&ReferOptions::enabled, "enabled", config::Reload::next_session,
                "Checks the page that an RTMP client comes from: its host must end with one of the names."),
    config::row(&ReferOptions::all, "all", config::Reload::next_session, "Names for everybody; none allows all.")
        .example("example.com"),
    config::row(&ReferOptions::publish, "publish", config::Reload::next_session, "Names for publishers; none allows all.")
        .example("example.com"),
    config::row(&ReferOptions::play, "play", config::Reload::next_session, "Names for players; none allows all.")
        .example("example.com"),
};

}  // namespace live::service::access
