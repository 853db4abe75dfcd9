// The rows of service/tracing/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/tracing/options.hpp"

namespace live::service::tracing {

inline constexpr auto kTracingRows = config::Rows{
    config::row(
        &TracingOptions::enabled, "enabled", config::Reload::restart,
        "Sends spans of publishers, players, relays and callbacks to an OpenTelemetry collector, by OTLP over HTTP in JSON."),
    config::row(&TracingOptions::url, "url", config::Reload::restart, "The collector's URL for traces."),
    config::row(&TracingOptions::sample_percent, "sample_percent", 0.0, 100.0, config::Reload::restart,
                "The share of traces that are kept. A request with a traceparent field has the decision of its sender."),
    config::row(&TracingOptions::queue, "queue", 1, 1'000'000, config::Reload::restart,
                "The most spans that wait for the collector; millrace_trace_spans_total counts those that were dropped."),
    config::row(&TracingOptions::service_name, "service_name", config::Reload::restart, "service.name of all spans."),
    config::row(&TracingOptions::authorization, "authorization", config::Reload::restart,
                "The Authorization field of requests to the collector.")
        .secret(),
};

}  // namespace live::service::tracing
