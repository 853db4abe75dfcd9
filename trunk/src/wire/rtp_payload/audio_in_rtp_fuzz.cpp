// Arbitrary bytes as packets of AC-3, MPEG audio or LATM. The first byte chooses; then each packet is a byte of flags (a skipped
// number, a marker), a byte of length, and its payload. A resulting frame of AC-3 or MPEG audio must packetise and come out the
// same.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/codec/audio/ac3.hpp"
#include "wire/rtp_payload/ac3.hpp"
#include "wire/rtp_payload/latm.hpp"
#include "wire/rtp_payload/mpeg_audio.hpp"

namespace {

using namespace live;
using namespace live::wire::rtp_payload;

constexpr std::uint32_t kRate = 48'000;

template <class Depacketizer>
void check_again(const Frame& frame, const PayloadList& payloads) {
    Depacketizer depacketizer(kRate);
    for (std::size_t i = 0; i < payloads.size(); ++i)
        CHECK(depacketizer.push({i, 5, i + 1 == payloads.size(), payloads[i]}).ok());
    const auto again = depacketizer.poll();
    CHECK(again && again->data == frame.data && !depacketizer.poll());
}

template <class Depacketizer, class Check>
void run(Depacketizer& depacketizer, Bytes rest, Check&& check) {
    Fragment fragment{.sequence = 1, .payload = {}};
    while (rest.size() >= 2) {
        fragment.sequence += 1 + (rest[0] & 1U);
        fragment.marker = (rest[0] & 2U) != 0;
        fragment.payload = rest.subspan(2, std::min<std::size_t>(rest[1], rest.size() - 2));
        rest = rest.subspan(2 + fragment.payload.size());
        static_cast<void>(depacketizer.push(fragment).ok());
        while (const auto frame = depacketizer.poll())
            check(*frame);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes rest = Bytes(data, size).subspan(1);
    if (data[0] % 3 == 0) {
        Ac3Depacketizer depacketizer(kRate);
        run(depacketizer, rest, [](const Frame& frame) {
            CHECK(!frame.data.empty() && frame.data.size() <= wire::codec::kAc3FrameBytesMax);
            PayloadList payloads;
            CHECK(packetize_ac3(frame.data, kPayloadBytesMin, payloads).ok());
            check_again<Ac3Depacketizer>(frame, payloads);
        });
    } else if (data[0] % 3 == 1) {
        MpegAudioDepacketizer depacketizer(kRate);
        run(depacketizer, rest, [](const Frame& frame) {
            PayloadList payloads;
            CHECK(!frame.data.empty() && packetize_mpeg_audio(frame.data, kPayloadBytesMin, payloads).ok());
            check_again<MpegAudioDepacketizer>(frame, payloads);
        });
    } else {
        const std::size_t config = std::min<std::size_t>(data[0] % 16, rest.size());
        auto depacketizer = LatmDepacketizer::make(rest.first(config), kRate);
        if (depacketizer.ok())
            run(*depacketizer, rest.subspan(config), [](const Frame& frame) {
                CHECK(!frame.data.empty() && frame.data.size() <= LatmDepacketizer::kElementBytesMax);
            });
    }
    return 0;
}
