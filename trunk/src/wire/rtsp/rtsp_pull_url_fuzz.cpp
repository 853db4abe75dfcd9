// Arbitrary bytes as the URL of a camera. The URL that is sent is read again, as the same without user and password.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/rtsp/pull_url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto url = wire::rtsp::parse_pull_url(as_text(Bytes(data, size)));
    if (!url.ok())
        return 0;
    const auto again = wire::rtsp::parse_pull_url(url->url);
    CHECK(again.ok() && again->host == url->host && again->port == url->port && again->user.empty() && again->url == url->url);
    return 0;
}
