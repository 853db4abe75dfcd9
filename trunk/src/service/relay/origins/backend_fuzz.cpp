// Any answer of a backend is refused, or is a bounded list of origins that can be dialled. Any stream name fits into a request.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/relay/origins/backend_resolver.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::service::relay;
    const std::string_view text = live::as_text({data, size});
    CHECK(!backend_question("id", text).empty());
    const auto origins = parse_backend_answer(200, text, PullProtocol::rtmp);
    if (origins.ok()) {
        CHECK(origins->size() <= kBackendOriginsMax);
        for (const Origin& origin : *origins)
            CHECK(!origin.host.empty() && origin.port != 0 && !origin.is_resolved);
    }
    return 0;
}
