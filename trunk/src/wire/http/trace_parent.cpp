#include "wire/http/trace_parent.hpp"

#include <algorithm>
#include <span>

namespace live::wire::http {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string hex_of(std::span<const std::uint8_t> bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 0x0F];
    }
    return text;
}

// Fills all bytes; false if the text is not their digits.
bool read_hex(std::string_view text, std::span<std::uint8_t> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::size_t high = kDigits.find(text[2 * i]);
        const std::size_t low = kDigits.find(text[2 * i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos)
            return false;
        bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return true;
}

bool is_zero(std::span<const std::uint8_t> bytes) {
    return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

Error malformed() { return {Errc::malformed, "the traceparent field is malformed"}; }

}  // namespace

std::string TraceParent::trace_text() const { return hex_of(trace); }
std::string TraceParent::span_text() const { return hex_of(span); }
std::string TraceParent::text() const { return "00-" + trace_text() + "-" + span_text() + (is_sampled ? "-01" : "-00"); }

Result<TraceParent> parse_trace_parent(std::string_view text) {
    constexpr std::size_t kTraceAt = 3;
    constexpr std::size_t kSpanAt = 36;
    constexpr std::size_t kFlagsAt = 53;
    if (text.size() < TraceParent::kTextBytes || text[kTraceAt - 1] != '-' || text[kSpanAt - 1] != '-' ||
        text[kFlagsAt - 1] != '-')
        return malformed();
    TraceParent parent;
    std::array<std::uint8_t, 1> version{};
    std::array<std::uint8_t, 1> flags{};
    if (!read_hex(text, version) || !read_hex(text.substr(kTraceAt), parent.trace) ||
        !read_hex(text.substr(kSpanAt), parent.span) || !read_hex(text.substr(kFlagsAt), flags))
        return malformed();
    const bool is_longer = text.size() > TraceParent::kTextBytes;
    if (version[0] == 0xFF || (is_longer && (version[0] == 0 || text[TraceParent::kTextBytes] != '-')))
        return malformed();
    if (is_zero(parent.trace) || is_zero(parent.span))
        return malformed();
    parent.is_sampled = (flags[0] & 1) != 0;
    return parent;
}

}  // namespace live::wire::http
