// Live streams and files over HTTP, as the rest of the server sees them.
#pragma once

#include <cstddef>
#include <functional>

#include "session/common/protocol.hpp"

namespace live::session::http_live {

// `traffic` reads the bytes of all HTTP ports. `viewer_bytes`: the size of the session object of an HLS or DASH player.
Protocol describe(std::function<Traffic()> traffic, std::size_t viewer_bytes);

}  // namespace live::session::http_live
