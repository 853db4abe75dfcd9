// Arbitrary text as a URL. An accepted URL must be safe in a request line and Host field, and must be unchanged when reassembled
// and parsed again.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/http/url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto url = wire::http::parse_url(as_text(Bytes(data, size)));
    if (!url.ok())
        return 0;
    CHECK(!url->host.empty() && url->port != 0 && url->target.starts_with('/'));
    for (const char letter : url->authority() + url->target)
        CHECK(letter > ' ' && letter <= '~');
    CHECK(url->label().find('?') == std::string::npos);
    const std::string again = (url->is_secure ? "https://" : "http://") + url->authority() + url->target;
    // Added brackets and a slash may make it slightly longer than the input.
    if (again.size() <= wire::http::kUrlBytesMax)
        CHECK(wire::http::parse_url(again).value() == *url);
    return 0;
}
