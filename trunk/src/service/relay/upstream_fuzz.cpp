// Any text as an origin and as the path of servers that a peer claims: parsed or refused; a parsed origin can be dialled, and an
// extended path ends with this server and can be extended by another one or is refused.
#include "base/bytes.hpp"
#include "service/relay/upstream_request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view text = as_text({data, size});
    const auto origin = service::relay::parse_origin(text);
    if (origin.ok())
        CHECK(!origin->host.empty() && origin->port != 0 && origin->text().starts_with("rtmp"));
    const auto path = service::relay::extend_path(text, "this");
    if (path.ok()) {
        CHECK(path->ends_with("this") && path->size() < service::relay::kPathBytesMax);
        CHECK(!service::relay::extend_path(*path, "this").ok());
    }
    return 0;
}
