// A span of OpenTelemetry: one piece of work of a trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wire/http/trace_parent.hpp"

namespace live::service::tracing {

struct Span {
    using Value = std::variant<std::string, std::int64_t, bool>;
    // The numbers are OTLP's.
    enum class Kind : std::uint8_t { server = 2, client = 3 };

    wire::http::TraceParent context;  // its trace and its own id
    std::string parent;               // its parent's id as text; empty: the span is the first of its trace here
    std::string_view name;
    Kind kind = Kind::server;
    std::chrono::system_clock::time_point begin{};
    std::chrono::system_clock::time_point end{};
    std::vector<std::pair<std::string_view, Value>> attributes;
    bool has_failed = false;
    std::string failure;  // a sentence
};

}  // namespace live::service::tracing
