// WebRTC, as the rest of the server sees it.
#pragma once

#include <cstddef>

#include "media/source/stream_table.hpp"
#include "session/common/protocol.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/transport/circuit_breaker.hpp"
#include "session/rtc/transport/port.hpp"

namespace live::session::rtc {

// `half_open`: sessions whose client has not connected yet. `load_level`: of the circuit breaker, 0 to 3.
void write_metrics(MetricsText& text, const PortReading& reading, std::size_t half_open, int load_level);

void add_urls(const RtcVhosts& vhosts, const UrlRequest& request, StreamUrls& urls);

// Everything referred to must outlive the description.
Protocol describe(Port& port, const CircuitBreaker& breaker, const RtcVhosts& settings, const media::StreamTable& streams,
                  decltype(Protocol::self_test) self_test = {});

}  // namespace live::session::rtc
