// AAC: the AudioSpecificConfig carried in RTMP, FLV and MP4 (ISO/IEC 14496-3, 1.6.2.1), as far as players need it.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

// Sample rates that have an index (ISO/IEC 14496-3, table 1.18); 13 and 14 are reserved.
inline constexpr std::array<std::uint32_t, 13> kAacRates = {96'000, 88'200, 64'000, 48'000, 44'100, 32'000, 24'000,
                                                            22'050, 16'000, 12'000, 11'025, 8'000,  7'350};

struct AudioSpecificConfig {
    std::uint8_t object_type = 2;   // of the core: 1 main, 2 low complexity, ...
    std::uint32_t sample_rate = 0;  // of the core, in Hz
    std::uint8_t channels = 0;      // 0: given by a program config element in the stream
    bool sbr = false;               // HE-AAC, explicitly signalled
    bool ps = false;                // HE-AAC v2, explicitly signalled
    std::uint32_t output_rate = 0;  // usually twice sample_rate with SBR, else the same

    bool operator==(const AudioSpecificConfig&) const = default;
};

// Errc::need_more when truncated, Errc::malformed for a reserved rate or channel configuration or a rate of zero. Bytes after the
// fields read are ignored.
Result<AudioSpecificConfig> parse_aac_config(Bytes config);

// Two bytes for the standard rates, five for others, more with SBR. Aborts for object types and channel counts that cannot be
// written.
void write_aac_config(ByteWriter& out, const AudioSpecificConfig& config);

}  // namespace live::wire::codec
