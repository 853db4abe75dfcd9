// Arbitrary bytes as a session description. Tracks that could be described again are written and read back.
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/rtsp/description.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::rtsp;
    const auto description = parse_description(as_text(Bytes(data, size)));
    if (!description.ok())
        return 0;
    CHECK(!description->media.empty() && description->media.size() <= kMediaMax);
    for (const Media& media : description->media) {
        CHECK(media.parameter_sets.size() <= kParameterSetsMax && media.clock_rate > 0 && media.channels > 0);
        static_cast<void>(track_of_control(media.control));
        if (media.codec == wire::codec::Codec::none)
            continue;
        const std::array tracks = {
            TrackToDescribe{media.kind, media.codec, media.payload_type, media.clock_rate, media.channels, media.config}};
        const auto text = write_description("s", tracks);
        if (!text.ok())
            continue;
        const auto again = parse_description(*text);
        CHECK(again.ok() && again->media.size() == 1 && again->media[0].codec == media.codec);
    }
    return 0;
}
