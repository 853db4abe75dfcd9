// ADTS: the header before each AAC frame where no container describes it (ISO/IEC 13818-7, 6.2; ISO/IEC 14496-3, 1.A.2):
// transport streams and .aac files. Written without a checksum, one frame per header.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/audio/aac.hpp"

namespace live::wire::codec {

inline constexpr std::size_t kAdtsHeaderBytes = 7;
inline constexpr std::size_t kAdtsFrameBytesMax = 8'191;  // including the header

// Errc::unsupported for what ADTS cannot represent: object types above 4, rates outside its table, a channel layout defined in
// the configuration itself, or more than eight channels. Errc::limit for a frame that is too long.
Result<std::array<std::uint8_t, kAdtsHeaderBytes>> adts_header(const AudioSpecificConfig& config, std::size_t frame_bytes);

struct AdtsHeader {
    AudioSpecificConfig config;
    std::size_t header_bytes = kAdtsHeaderBytes;  // 9 with a checksum
    std::size_t frame_bytes = 0;                  // after the header, all blocks
    std::uint8_t blocks = 1;                      // AAC frames after the header, 1 to 4

    bool operator==(const AdtsHeader&) const = default;
};

// Errc::need_more, Errc::malformed.
Result<AdtsHeader> parse_adts_header(Bytes bytes);

struct AdtsFrame {
    AdtsHeader header;
    Bytes data;  // raw AAC, borrowed from the input
};

// Takes the next frame; the unit of a transport stream often has several. On an error nothing is taken: those of
// parse_adts_header, also Errc::need_more when the frame is cut, and Errc::unsupported for one of several blocks, which nobody
// writes.
Result<AdtsFrame> read_adts_frame(ByteReader& in);

}  // namespace live::wire::codec
