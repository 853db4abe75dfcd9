#include "wire/rtp_payload/mpeg_audio.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/audio/mp3.hpp"

namespace live::wire::rtp_payload {

namespace {

// Sixteen bits of zero, and the place of the payload in its frame.
constexpr std::size_t kMpegAudioHeadBytes = 4;

}  // namespace

Result<void> MpegAudioDepacketizer::push(const Fragment& fragment) {
    ByteReader in(fragment.payload);
    TRY(in.u16be());
    const std::size_t offset = TRY(in.u16be());
    const Bytes data = in.rest();
    if (offset == 0) {
        open_.clear();
        const auto header = TRY(codec::parse_mpeg_audio_header(data));
        if (header.frame_bytes <= data.size())
            return take_frames(fragment.timestamp, data);
    } else if (open_.size() != offset || next_sequence_ != fragment.sequence) {
        open_.clear();
        return Error(Errc::malformed, "MPEG audio in RTP: a fragment without those before it");
    }
    if (open_.size() + data.size() > kFrameBytesMax) {
        open_.clear();
        return Error(Errc::limit, "MPEG audio in RTP: a frame of too many bytes");
    }
    open_.insert(open_.end(), data.begin(), data.end());
    next_sequence_ = fragment.sequence + 1;
    const auto header = TRY(codec::parse_mpeg_audio_header(open_));
    if (header.frame_bytes > open_.size())
        return {};
    return take_frames(fragment.timestamp, std::exchange(open_, {}));
}

Result<void> MpegAudioDepacketizer::take_frames(std::uint32_t timestamp, Bytes data) {
    while (!data.empty()) {
        const auto header = TRY(codec::parse_mpeg_audio_header(data));
        if (header.frame_bytes == 0 || header.frame_bytes > data.size())
            return Error(Errc::need_more, "MPEG audio in RTP: a frame is cut");
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

std::optional<Frame> MpegAudioDepacketizer::poll() {
    if (frames_.empty())
        return std::nullopt;
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

Result<void> packetize_mpeg_audio(Bytes frame, std::size_t payload_bytes_max, PayloadList& out) {
    CHECK(payload_bytes_max >= kPayloadBytesMin);
    constexpr std::size_t kOffsetMax = 0xFFFF;
    if (frame.size() > kOffsetMax)
        return Error(Errc::limit, "MPEG audio in RTP: a frame of " + std::to_string(frame.size()) + " bytes");
    const std::size_t room = payload_bytes_max - kMpegAudioHeadBytes;
    for (std::size_t offset = 0; offset < frame.size(); offset += room) {
        out.append(std::array{std::uint8_t{0}, std::uint8_t{0}, static_cast<std::uint8_t>(offset >> 8),
                              static_cast<std::uint8_t>(offset)});
        out.append(frame.subspan(offset, std::min(frame.size() - offset, room)));
        out.end_payload();
    }
    return {};
}

}  // namespace live::wire::rtp_payload
