// The checksum of STUN's FINGERPRINT (RFC 8489, 14.7): the CRC-32 of zip and Ethernet, reflected, inverted before and after. Not
// the one of transport streams.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"

namespace live::wire::stun {

std::uint32_t crc32(Bytes bytes);

}  // namespace live::wire::stun
