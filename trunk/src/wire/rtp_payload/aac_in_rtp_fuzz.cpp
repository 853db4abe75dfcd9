// Arbitrary bytes as packets of AAC. The first three bytes are the bits of the AU headers; then each packet is a byte of flags (a
// skipped number), a byte of length, and its payload. A resulting unit must packetise and come out the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/rtp_payload/aac.hpp"

namespace {

using namespace live;
using namespace live::wire::rtp_payload;

void check_again(const Frame& frame) {
    PayloadList payloads;
    if (!packetize_aac(frame.data, kPayloadBytesMin, payloads).ok())
        return;
    AacDepacketizer depacketizer({}, 1'024);
    for (std::size_t i = 0; i < payloads.size(); ++i)
        CHECK(depacketizer.push({i, 5, true, payloads[i]}).ok());
    const auto again = depacketizer.poll();
    CHECK(again && again->data == frame.data && !depacketizer.poll());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kBits = 3;
    constexpr unsigned kBitsMax = 33;
    if (size < kBits)
        return 0;
    AacDepacketizer depacketizer({data[0] % kBitsMax, data[1] % kBitsMax, data[2] % kBitsMax}, 1'024);
    Bytes rest = Bytes(data, size).subspan(kBits);
    Fragment fragment{.sequence = 1, .payload = {}};
    while (rest.size() >= 2) {
        fragment.sequence += 1 + (rest[0] & 1U);
        fragment.payload = rest.subspan(2, std::min<std::size_t>(rest[1], rest.size() - 2));
        rest = rest.subspan(2 + fragment.payload.size());
        static_cast<void>(depacketizer.push(fragment).ok());
        while (const auto frame = depacketizer.poll()) {
            CHECK(!frame->data.empty() && frame->data.size() <= AacDepacketizer::kUnitBytesMax);
            check_again(*frame);
        }
    }
    return 0;
}
