// Arbitrary bytes as packets of M-JPEG, and as an image. Each packet is a byte of flags (a skipped number, a new timestamp, a
// marker), a byte of length, and its payload. A resulting image must packetise and come out the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/rtp_payload/jpeg.hpp"

namespace {

using namespace live;
using namespace live::wire::rtp_payload;

void check_image(Bytes image) {
    PayloadList payloads;
    if (!packetize_jpeg(image, kJpegPayloadBytesMin, payloads).ok())
        return;
    JpegDepacketizer depacketizer;
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        CHECK(payloads[i].size() <= kJpegPayloadBytesMin);
        CHECK(depacketizer.push({i + 1, 7, i + 1 == payloads.size(), payloads[i]}).ok());
    }
    const auto first = depacketizer.poll();
    CHECK(first && first->is_key);
    PayloadList again;
    CHECK(packetize_jpeg(first->data, kJpegPayloadBytesMin, again).ok());
    // Only the end of the image may have been missing.
    CHECK(again.bytes().size() <= payloads.bytes().size() + 2 + 8 + 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check_image(Bytes(data, size));
    Bytes rest(data, size);
    JpegDepacketizer depacketizer;
    Fragment fragment{.sequence = 1, .payload = {}};
    while (rest.size() >= 2) {
        fragment.sequence += 1 + (rest[0] & 1U);
        fragment.timestamp += rest[0] >> 2 & 1U;
        fragment.marker = (rest[0] & 2U) != 0;
        fragment.payload = rest.subspan(2, std::min<std::size_t>(rest[1], rest.size() - 2));
        rest = rest.subspan(2 + fragment.payload.size());
        static_cast<void>(depacketizer.push(fragment).ok());
        while (const auto frame = depacketizer.poll()) {
            constexpr std::size_t kHeadBytes = 700;
            CHECK(frame->is_key && frame->data.size() <= size + kHeadBytes);
            PayloadList payloads;
            CHECK(packetize_jpeg(frame->data, kJpegPayloadBytesMin, payloads).ok());
        }
    }
    return 0;
}
