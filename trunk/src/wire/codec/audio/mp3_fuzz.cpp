// Arbitrary bytes as an MP3 header. Walking from frame to frame must always advance.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/codec/audio/mp3.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::codec;
    const auto header = parse_mp3_header(Bytes(data, size));
    if (header.ok()) {
        CHECK(header->frame_bytes > kMp3HeaderBytes && header->frame_bytes <= 1'441);
        CHECK(header->sample_rate >= 8'000 && header->sample_rate <= 48'000);
        CHECK(header->channels == 1 || header->channels == 2);
    }
    return 0;
}
