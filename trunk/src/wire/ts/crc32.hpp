// The checksum after each section of MPEG-2 tables (ISO/IEC 13818-1, annex A): polynomial 0x04C11DB7, most significant bit first,
// initial value all ones, not inverted at the end. Not the CRC-32 of zip and Ethernet.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"

namespace live::wire::ts {

// Zero over a section that includes its checksum.
std::uint32_t crc32_mpeg2(Bytes bytes);

}  // namespace live::wire::ts
