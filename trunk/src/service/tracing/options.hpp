// Where traces are sent, and how many: plain values with their defaults.
#pragma once

#include <cstdint>
#include <string>

namespace live::service::tracing {

struct TracingOptions {
    bool enabled = false;
    std::string url = "http://127.0.0.1:4318/v1/traces";
    double sample_percent = 100;
    std::uint32_t queue = 2048;  // spans
    std::string service_name = "millrace";
    std::string authorization;
};

}  // namespace live::service::tracing
