// Any text as a forward destination: it is parsed or refused, and a parsed one can be dialled.
#include "service/forward/destination.hpp"

#include "base/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto made = service::forward::make_destination(as_text({data, size}), {"v", "live", "cam", "?k=v"});
    if (made.ok())
        CHECK(!made->host.empty() && made->port != 0 && !made->app.empty() && !made->stream.empty() && !made->tc_url.empty());
    return 0;
}
