#include "wire/rtp_payload/mpeg_audio.hpp"

#include <algorithm>
#include <array>

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
        frames_.take_open();
        const auto header = TRY(codec::parse_mpeg_audio_header(data));
        if (header.frame_bytes <= data.size())
            return frames_.take(fragment.timestamp, data, codec::parse_mpeg_audio_header);
    } else if (frames_.open().size() != offset || !frames_.continues(fragment.sequence)) {
        frames_.take_open();
        return Error(Errc::malformed, "MPEG audio in RTP: a fragment without those before it");
    }
    TRY(frames_.extend(fragment.sequence, data, kFrameBytesMax));
    const auto header = TRY(codec::parse_mpeg_audio_header(frames_.open()));
    if (header.frame_bytes > frames_.open().size())
        return {};
    return frames_.take(fragment.timestamp, frames_.take_open(), codec::parse_mpeg_audio_header);
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
