// Arbitrary bytes as ADTS frames. A header that parses and has only one encoding must be written back the same.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/codec/audio/adts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::codec;
    for (ByteReader in(Bytes(data, size)); !in.at_end();) {
        const std::size_t begin = in.position();
        const auto frame = read_adts_frame(in);
        if (!frame.ok()) {
            CHECK(in.position() == begin);
            break;
        }
        CHECK(in.position() == begin + frame->header.header_bytes + frame->data.size());
    }
    const auto header = parse_adts_header(Bytes(data, size));
    if (!header.ok())
        return 0;
    CHECK(header->header_bytes + header->frame_bytes <= kAdtsFrameBytesMax && header->blocks <= 4);
    const auto written = adts_header(header->config, header->frame_bytes);
    CHECK(written.ok() || header->config.channels == 0);
    if (written.ok()) {
        const auto again = parse_adts_header(*written);
        CHECK(again.ok() && again->config == header->config && again->frame_bytes == header->frame_bytes);
    }
    return 0;
}
