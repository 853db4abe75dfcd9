// SRT, as the rest of the server sees it.
#pragma once

#include <functional>

#include "session/common/protocol.hpp"
#include "session/srt/context.hpp"
#include "session/srt/port/players.hpp"
#include "session/srt/port/port.hpp"
#include "session/srt/self_tester.hpp"

namespace live::session::srt {

void write_metrics(MetricsText& text, const PortReading& reading);
void add_urls(const SrtServerOptions& server, const SrtVhosts& vhosts, const UrlRequest& request, StreamUrls& urls);

// Everything referred to outlives the description. Without a running port there are no metrics. `listening` are the current
// options of the listener.
Protocol describe(Port& port, const Players& players, const HalfOpen& half_open, SelfTester& self_test, const SrtVhosts& vhosts,
                  std::function<bool()> is_running, std::function<SrtServerOptions()> listening);

}  // namespace live::session::srt
