// Live streams and files over HTTP, as the rest of the server sees them.
#pragma once

#include <cstddef>
#include <functional>

#include "base/options_of.hpp"
#include "session/common/protocol.hpp"
#include "session/http_live/options.hpp"

namespace live::session::http_live {

void add_urls(const RemuxOptions& options, const UrlRequest& request, StreamUrls& urls);

// `vhosts` must outlive the description. `traffic` reads the bytes of all HTTP ports. `viewer_bytes`: the size of the session
// object of an HLS or DASH player.
Protocol describe(std::function<Traffic()> traffic, std::size_t viewer_bytes, const OptionsOf<RemuxOptions>& vhosts);

}  // namespace live::session::http_live
