// Any text as a forward destination and as the target of a reconnect request is parsed or refused. A parsed destination can be
// dialled.
#include "service/forward/destination.hpp"

#include "base/bytes/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto made = service::forward::make_destination(as_text({data, size}), {"v", "live", "cam", "?k=v"});
    if (made.ok())
        CHECK(!made->host.empty() && made->port != 0 && !made->app.empty() && !made->stream.empty() && !made->tc_url.empty());
    static const auto from = MUST(service::forward::make_destination("rtmps://a.example/app", {"v", "live", "cam", "?k=v"}));
    if (const auto moved = service::forward::moved_destination(from, as_text({data, size})); moved.ok())
        CHECK(moved->is_secure && !moved->host.empty() && moved->port != 0 && !moved->app.empty() &&
              moved->stream == from.stream);
    return 0;
}
