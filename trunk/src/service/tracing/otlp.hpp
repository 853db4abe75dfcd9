// Spans in OTLP's JSON (opentelemetry-proto 1.x, ExportTraceServiceRequest), as collectors accept them at /v1/traces.
#pragma once

#include <span>
#include <string>

#include "service/tracing/span.hpp"

namespace live::service::tracing {

// The process that reports.
struct Resource {
    std::string service_name;
    std::string server_id;
    std::string service_id;  // of this start
    std::int64_t process_id = 0;
};

std::string otlp_json(const Resource& resource, std::span<const Span> spans);

}  // namespace live::service::tracing
