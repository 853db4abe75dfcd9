// Arbitrary bytes as a text; the cues are written and read again.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/webvtt/webvtt.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::webvtt;
    const auto cues = parse_webvtt(as_text(Bytes(data, size)));
    if (!cues.ok())
        return 0;
    CHECK(cues->size() <= kCuesMax);
    const auto again = parse_webvtt(write_segment({}, 0, *cues));
    CHECK(again.ok() && *again == *cues);
    return 0;
}
