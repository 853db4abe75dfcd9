// Arbitrary bytes as the beginning of a TLS connection. Bytes after a hello do not change the answer for it.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "io/tls/client_hello.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const live::Bytes input(data, size);
    const bool offers = live::io::offers_session(input);
    if (offers) {
        std::vector<std::uint8_t> longer(input.begin(), input.end());
        longer.push_back(0);
        CHECK(live::io::offers_session(longer));
    }
    return 0;
}
