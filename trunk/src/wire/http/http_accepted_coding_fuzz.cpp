// Arbitrary text as an Accept-Encoding field: the result does not depend on the case of letters, and an empty list changes
// nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "base/text/ascii.hpp"
#include "wire/http/accepted_coding.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view text = as_text(Bytes(data, size));
    const bool accepted = wire::http::accepts_coding(text, "gzip");
    CHECK(wire::http::accepts_coding(ascii::lowered(text), "gzip") == accepted);
    CHECK(wire::http::accepts_coding(",," + std::string(text), "gzip") == accepted);
    return 0;
}
