// Any text as a registry's URL is refused or can be dialled.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/cluster/registry_url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::service::cluster;
    const auto url = parse_registry_url(live::as_text({data, size}));
    if (url.ok()) {
        CHECK(!url->places.empty() && url->places.size() <= RegistryUrl::kPlacesMax && !url->label().empty());
        for (const RegistryPlace& place : url->places)
            CHECK(!place.host.empty() && place.port != 0);
    }
    return 0;
}
