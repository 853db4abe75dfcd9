#include "wire/rtp_payload/ac3.hpp"

#include <algorithm>
#include <array>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/audio/ac3.hpp"

namespace live::wire::rtp_payload {

namespace {

// RFC 4184, 4.1.1: the type is in the two low bits of the first byte, the number of frames or fragments in the second.
enum FrameType : std::uint8_t { kWhole = 0, kFirstLong = 1, kFirstShort = 2, kFurther = 3 };
constexpr std::size_t kAc3HeadBytes = 2;

}  // namespace

Result<void> Ac3Depacketizer::push(const Fragment& fragment) {
    ByteReader in(fragment.payload);
    const auto type = TRY(in.u8()) & 3U;
    TRY(in.u8());
    const Bytes data = in.rest();
    if (type != kFurther)
        frames_.take_open();
    if (type == kWhole)
        return frames_.take(fragment.timestamp, data, codec::parse_ac3_header);
    if (type == kFurther && !frames_.continues(fragment.sequence)) {
        frames_.take_open();
        return Error(Errc::malformed, "AC-3 in RTP: a fragment without the first one");
    }
    TRY(frames_.extend(fragment.sequence, data, codec::kAc3FrameBytesMax));
    return fragment.marker ? frames_.take(fragment.timestamp, frames_.take_open(), codec::parse_ac3_header) : Result<void>();
}

Result<void> packetize_ac3(Bytes frame, std::size_t payload_bytes_max, PayloadList& out) {
    CHECK(payload_bytes_max >= kPayloadBytesMin);
    if (frame.empty() || frame.size() > codec::kAc3FrameBytesMax)
        return Error(Errc::limit, "AC-3 in RTP: a frame of " + std::to_string(frame.size()) + " bytes");
    const std::size_t room = payload_bytes_max - kAc3HeadBytes;
    const std::size_t count = (frame.size() + room - 1) / room;
    std::uint8_t type = kWhole;
    if (count > 1)
        type = room * 8 >= frame.size() * 5 ? kFirstLong : kFirstShort;
    for (; !frame.empty(); type = kFurther) {
        const Bytes part = frame.first(std::min(frame.size(), room));
        frame = frame.subspan(part.size());
        out.append(std::array{type, static_cast<std::uint8_t>(count)});
        out.append(part);
        out.end_payload();
    }
    return {};
}

}  // namespace live::wire::rtp_payload
