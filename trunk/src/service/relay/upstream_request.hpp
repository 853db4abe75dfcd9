// What an edge says to an origin in connect and play: dry, from the names of a stream and the options. The path of servers that a
// request has come through travels in the arguments of connect, so that a loop is found at its second visit.
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

// Who asks.
struct Node {
    std::string server_id;
    std::string signature;
    std::string version;
    std::int64_t process_id = 0;
};

// Servers in a path, this one included; a longer one is refused.
inline constexpr std::size_t kHopsMax = 8;
inline constexpr std::size_t kPathBytesMax = 1024;

// The path with this server at its end. Errc::denied when the server is in it already, or it gets too long.
Result<std::string> extend_path(std::string_view path, std::string_view server_id);

// `vhost` is the edge's virtual host by its name in the settings; `path` is the extended one.
engine::rtmp::ClientOptions upstream_request(const Origin& origin, const session::ClientRequest& client, const std::string& vhost,
                                             const ClusterOptions& options, const Node& node, const std::string& path);

}  // namespace live::service::relay
