// The metrics of HTTP/2.
#pragma once

#include "base/text/metrics_text.hpp"
#include "session/http/context.hpp"

namespace live::session::http2 {

void write_metrics(MetricsText& text, const http::Http2Counters& counters);

}  // namespace live::session::http2
