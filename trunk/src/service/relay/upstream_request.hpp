// What an edge sends to an origin in connect and play: dry, built from the stream's names and the options. The path of servers
// that a request has passed through is an argument of connect, so that a loop is detected at its second visit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/rtmp/client.hpp"
#include "service/relay/options.hpp"
#include "service/relay/origin.hpp"
#include "session/common/admission.hpp"

namespace live::service::relay {

// The requesting server.
struct Node {
    std::string server_id;
    std::string signature;
    std::string version;
    std::int64_t process_id = 0;
};

// Servers in a path, including this one; a longer path is refused.
inline constexpr std::size_t kHopsMax = 8;
inline constexpr std::size_t kPathBytesMax = 1024;

// Appends this server to the path. Errc::denied when it is already in the path, or the path becomes too long.
Result<std::string> extend_path(std::string_view path, std::string_view server_id);

// `vhost` is the edge's virtual host as named in the settings; `path` is the extended path.
engine::rtmp::ClientOptions upstream_request(const Origin& origin, const session::ClientRequest& client, const std::string& vhost,
                                             const ClusterOptions& options, const Node& node, const std::string& path);

}  // namespace live::service::relay
