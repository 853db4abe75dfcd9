// Arbitrary text as a traceparent field: an accepted one is written and read again unchanged.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/http/trace_parent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto parent = wire::http::parse_trace_parent(as_text(Bytes(data, size)));
    if (!parent.ok())
        return 0;
    const auto again = wire::http::parse_trace_parent(parent->text());
    CHECK(again.ok() && *again == *parent);
    return 0;
}
