// Arbitrary beginnings of connections, read as from a socket.
#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "wire/proxy/proxy_header.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::proxy;
    const Bytes all(data, size);
    static_cast<void>(parse_proxy_header(all));
    std::size_t count = std::min(size, kBytesMin);
    for (;;) {
        const auto missing = bytes_missing(all.first(count));
        if (!missing.ok() || count + *missing > size)
            return 0;
        if (*missing == 0)
            break;
        count += *missing;
        CHECK(count <= kBytesMax);
    }
    const auto found = parse_proxy_header(all.first(count));
    if (found.ok() && *found) {
        const std::string again = write_binary_header(**found, **found);
        CHECK(MUST(parse_proxy_header(as_bytes(again)))->ip == (*found)->ip);
    }
    return 0;
}
