// ADTS: the header in front of each AAC frame where there is no container to say what it is (ISO/IEC 13818-7, 6.2; ISO/IEC
// 14496-3, 1.A.2): transport streams and .aac. Written without checksum and with one frame behind each header.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/aac.hpp"

namespace live::wire::codec {

inline constexpr std::size_t kAdtsHeaderBytes = 7;
inline constexpr std::size_t kAdtsFrameBytesMax = 8'191;  // with the header

// Errc::unsupported for what ADTS cannot say: object types beyond 4, rates outside its table, a channel layout that stands in the
// configuration or of more than eight channels. Errc::limit for a frame that is too long.
Result<std::array<std::uint8_t, kAdtsHeaderBytes>> adts_header(const AudioSpecificConfig& config, std::size_t frame_bytes);

struct AdtsHeader {
    AudioSpecificConfig config;
    std::size_t header_bytes = kAdtsHeaderBytes;  // 9 with a checksum
    std::size_t frame_bytes = 0;                  // behind the header, of all blocks
    std::uint8_t blocks = 1;                      // AAC frames behind the header, 1 to 4

    bool operator==(const AdtsHeader&) const = default;
};

// Errc::need_more, Errc::malformed.
Result<AdtsHeader> parse_adts_header(Bytes bytes);

}  // namespace live::wire::codec
