// Arbitrary bytes as the packets of one stream. The first byte chooses the format; then each packet is a byte of flags (a skipped
// number, a new timestamp, a marker), a byte of length, and its payload. A resulting frame must packetise and come out the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/rtp_payload/av1.hpp"
#include "wire/rtp_payload/key_start.hpp"
#include "wire/rtp_payload/nal.hpp"
#include "wire/rtp_payload/picture_ids.hpp"
#include "wire/rtp_payload/vpx.hpp"

namespace {

using namespace live;
using namespace live::wire::rtp_payload;

using Depacketizer = std::variant<NalDepacketizer, VpxDepacketizer, Av1Depacketizer>;

Depacketizer depacketizer_of(unsigned format) {
    switch (format % 5) {
        case 0: return NalDepacketizer(NalCodec::avc);
        case 1: return NalDepacketizer(NalCodec::hevc);
        case 2: return VpxDepacketizer(VpxCodec::vp8);
        case 3: return VpxDepacketizer(VpxCodec::vp9);
        default: return Av1Depacketizer();
    }
}

PayloadList packets_of(unsigned format, Bytes frame) {
    constexpr std::size_t kRoom = 100;
    PayloadList out;
    switch (format % 5) {
        case 0: CHECK(packetize_nal(NalCodec::avc, frame, kRoom, out).ok() || frame.size() > 1'024); break;
        case 1: CHECK(packetize_nal(NalCodec::hevc, frame, kRoom, out).ok() || frame.size() > 1'024); break;
        case 2: packetize_vp8(frame, 7, kRoom, out); break;
        case 3: packetize_vp9(frame, FrameKind::key, 7, kRoom, out); break;
        default: CHECK(packetize_av1(frame, kRoom, out).ok() || frame.size() > 256); break;
    }
    return out;
}

void check_again(unsigned format, const Frame& frame) {
    const PayloadList payloads = packets_of(format, frame.data);
    Depacketizer depacketizer = depacketizer_of(format);
    // Preceded by a packet of another frame, so that this frame need not pass the check for a frame start.
    std::visit([](auto& d) { static_cast<void>(d.push({1, 1, true, {}})); }, depacketizer);
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        CHECK(payloads[i].size() <= 100);
        const Fragment fragment{i + 2, 2, i + 1 == payloads.size(), payloads[i]};
        CHECK(std::visit([&](auto& d) { return d.push(fragment).ok(); }, depacketizer));
    }
    if (payloads.empty())
        return;
    const auto again = std::visit([](auto& d) { return d.poll(); }, depacketizer);
    CHECK(again && std::ranges::equal(again->data, frame.data));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const unsigned format = data[0];
    Bytes rest(data + 1, size - 1);
    static_cast<void>(live::wire::codec::opus_samples(rest));
    Depacketizer depacketizer = depacketizer_of(format);
    Fragment fragment{.sequence = 1, .payload = {}};
    std::size_t frames = 0;
    while (rest.size() >= 2) {
        const unsigned what = rest[0];
        fragment.sequence += 1 + (what & 3U);
        fragment.timestamp += what >> 2 & 3U;
        fragment.marker = (what & 0x80U) != 0;
        fragment.payload = rest.subspan(2, std::min<std::size_t>(rest[1], rest.size() - 2));
        rest = rest.subspan(2 + fragment.payload.size());
        static_cast<void>(shows_key_frame(static_cast<VideoFormat>(format % 5), fragment.payload));
        if (const auto ids = find_picture_ids(static_cast<VideoFormat>(format % 5), fragment.payload)) {
            std::vector<std::uint8_t> same(fragment.payload.begin(), fragment.payload.end());
            write_picture_ids(same, *ids);
            CHECK(std::ranges::equal(same, fragment.payload));
        }
        static_cast<void>(std::visit([&](auto& d) { return d.push(fragment).ok(); }, depacketizer));
        while (const auto frame = std::visit([](auto& d) { return d.poll(); }, depacketizer)) {
            CHECK(!frame->data.empty() && frame->data.size() <= size + 5 * (frames + size));
            check_again(format, *frame);
            ++frames;
        }
    }
    return 0;
}
