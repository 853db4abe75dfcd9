// The traceparent field (W3C Trace Context, level 1): the trace and the span that a request belongs to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::wire::http {

struct TraceParent {
    static constexpr std::size_t kTextBytes = 55;

    std::array<std::uint8_t, 16> trace{};
    std::array<std::uint8_t, 8> span{};
    bool is_sampled = false;

    std::string trace_text() const;
    std::string span_text() const;
    // "00-TRACE-SPAN-01"
    std::string text() const;
    bool operator==(const TraceParent&) const = default;
};

// Section 3.2: lower-case hex digits; a trace or a span of zeros, and version ff, are invalid. Later versions are read as far as
// version 00 goes. Errc::malformed.
Result<TraceParent> parse_trace_parent(std::string_view text);

}  // namespace live::wire::http
