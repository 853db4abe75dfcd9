// The description of GB28181 for the rest of the server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "session/common/protocol.hpp"
#include "session/gb28181/server.hpp"

namespace live::session::gb28181 {

void write_metrics(MetricsText& text, const Server& server);

// `listen`: the endpoints of the setting. The server outlives the description.
Protocol describe(const Server& server, std::vector<std::string> listen);

}  // namespace live::session::gb28181
