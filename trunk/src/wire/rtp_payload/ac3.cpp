#include "wire/rtp_payload/ac3.hpp"

#include <algorithm>
#include <array>
#include <utility>

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
    if (type == kWhole) {
        open_.clear();
        return take_frames(fragment.timestamp, data);
    }
    if (type != kFurther)
        open_.clear();
    else if (open_.empty() || next_sequence_ != fragment.sequence) {
        open_.clear();
        return Error(Errc::malformed, "AC-3 in RTP: a fragment without the first one");
    }
    if (open_.size() + data.size() > codec::kAc3FrameBytesMax) {
        open_.clear();
        return Error(Errc::limit, "AC-3 in RTP: a frame of too many bytes");
    }
    open_.insert(open_.end(), data.begin(), data.end());
    next_sequence_ = fragment.sequence + 1;
    if (!fragment.marker)
        return {};
    return take_frames(fragment.timestamp, std::exchange(open_, {}));
}

Result<void> Ac3Depacketizer::take_frames(std::uint32_t timestamp, Bytes data) {
    while (!data.empty()) {
        const auto header = TRY(codec::parse_ac3_header(data));
        if (header.frame_bytes > data.size())
            return Error(Errc::need_more, "AC-3 in RTP: a frame is cut");
        Frame frame;
        frame.timestamp = timestamp;
        frame.is_key = true;
        const Bytes bytes = data.first(header.frame_bytes);
        frame.data.assign(bytes.begin(), bytes.end());
        frames_.push_back(std::move(frame));
        data = data.subspan(header.frame_bytes);
        timestamp += static_cast<std::uint32_t>(std::uint64_t{header.samples} * clock_rate_ / header.sample_rate);
    }
    return {};
}

std::optional<Frame> Ac3Depacketizer::poll() {
    if (frames_.empty())
        return std::nullopt;
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
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
