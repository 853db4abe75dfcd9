// The rows of service/users/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/users/options.hpp"

namespace live::service::users {

inline constexpr auto kUserRows = config::Rows{
    config::row(&UserOptions::password, "password", config::Reload::live,
                "Ours: the password as srs hash prints it: argon2id:HASH, or sha256:BASE64; ha1:MD5:SHA256 and plain:TEXT allow "
                "Digest in RTSP.")
        .example("sha256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        .secret(),
    config::row(&UserOptions::networks, "network", config::Reload::live,
                "Ours: addresses and networks from which the user may connect; none: any.")
        .example("192.0.2.0/24"),
    config::row(&UserOptions::rights, "allow", config::Reload::live,
                "Ours: publish, play, playback, api.read, api.admin or metrics, and a pattern of paths if not for all.")
        .example("publish live/cam*"),
};

}  // namespace live::service::users
