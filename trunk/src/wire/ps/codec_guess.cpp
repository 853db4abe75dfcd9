#include "wire/ps/codec_guess.hpp"

#include "wire/codec/audio/adts.hpp"
#include "wire/codec/audio/mp3.hpp"
#include "wire/codec/video/start_code.hpp"

namespace live::wire::ps {

namespace {

// The first two bytes of a NAL unit. H.264 has its type in one byte (7.3.1), HEVC in two (7.3.1.2), of which the second is 1 in
// streams without layers. 0x40, 0x42 and 0x44 are no types that H.264 encoders write.
std::optional<StreamFormat> guess_unit(std::uint8_t first, std::uint8_t second) {
    constexpr std::uint8_t kAvcSps = 7;
    if ((first == 0x40 || first == 0x42 || first == 0x44) && second == 1)
        return StreamFormat::hevc;
    if ((first & 0x9F) == kAvcSps && (first & 0x60) != 0)
        return StreamFormat::avc;
    return std::nullopt;
}

// Returns the bytes of the frame at the front; 0 for other bytes.
std::size_t adts_bytes(Bytes payload) {
    const auto header = codec::parse_adts_header(payload);
    return header.ok() ? header->header_bytes + header->frame_bytes : 0;
}

std::size_t mpeg_bytes(Bytes payload) {
    const auto header = codec::parse_mpeg_audio_header(payload);
    return header.ok() ? header->frame_bytes : 0;
}

// A last frame may be cut if others precede it.
template <class FrameBytes>
bool is_filled(Bytes payload, FrameBytes frame_bytes) {
    std::size_t at = 0;
    while (at < payload.size()) {
        const std::size_t bytes = frame_bytes(payload.subspan(at));
        if (bytes == 0 || bytes > payload.size() - at)
            return at > 0 && bytes > 0;
        at += bytes;
    }
    return at > 0;
}

}  // namespace

std::optional<StreamFormat> guess_video(Bytes unit) {
    std::size_t at = codec::find_start_code(unit, 0);
    for (std::size_t i = 0; i < kGuessedUnitsMax && at < unit.size(); ++i) {
        const std::size_t head = at + codec::kStartCodePrefixBytes;
        if (head + 2 > unit.size())
            break;
        if (const auto format = guess_unit(unit[head], unit[head + 1]))
            return format;
        at = codec::find_start_code(unit, head);
    }
    return std::nullopt;
}

std::optional<StreamFormat> guess_audio(Bytes payload) {
    if (is_filled(payload, adts_bytes))
        return StreamFormat::aac;
    if (is_filled(payload, mpeg_bytes))
        return StreamFormat::mpeg_audio;
    return std::nullopt;
}

// Both laws write a sign, three bits of a segment and four of a step (ITU-T G.711, tables 1 and 2): mu-law inverted, so that
// segment 0 has all bits set, A-law with every second bit inverted.
int law_balance(Bytes payload) {
    constexpr std::uint8_t kSegment = 0x70;
    constexpr std::uint8_t kQuietMu = 0x70;
    constexpr std::uint8_t kQuietA = 0x50;
    int balance = 0;
    for (const std::uint8_t sample : payload)
        balance += (sample & kSegment) == kQuietMu ? 1 : (sample & kSegment) == kQuietA ? -1 : 0;
    return balance;
}

}  // namespace live::wire::ps
