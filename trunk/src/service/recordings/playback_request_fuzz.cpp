// Arbitrary text as the query of a request to the playback port.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/recordings/playback_request.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using live::service::recordings::PlaybackRequest;
    const auto query = live::wire::http::Query::parse(live::as_text({data, size}));
    if (!query.ok())
        return 0;
    if (const auto request = PlaybackRequest::parse(*query); request.ok()) {
        CHECK(!request->app.empty() && !request->stream.empty());
        CHECK(!request->duration || (request->duration->count() > 0 && *request->duration <= PlaybackRequest::kDurationMax));
    }
    return 0;
}
