// Any text as a query: without its virtual hosts, no reader finds one, and it is the same when that is done again.
#include <cstdint>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/rtmp/stream_query.hpp"
#include "wire/rtmp/stream_url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string rest = wire::rtmp::without_vhost(as_text({data, size}));
    CHECK(wire::rtmp::without_vhost(rest) == rest && !wire::rtmp::named_vhost(rest));
    for (const auto& url : {wire::rtmp::parse_stream_url("rtmp://host/live", "cam" + rest),
                            wire::rtmp::parse_stream_url("rtmp://host/live" + rest, "cam")})
        CHECK(!url.ok() || url->vhost == "host");
    return 0;
}
