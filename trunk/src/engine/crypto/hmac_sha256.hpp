// The keyed hash with which servers of one operator authenticate each other.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::crypto {

using Sha256Tag = std::array<std::uint8_t, 32>;

// RFC 2104 with SHA-256. Errc::system if the library fails.
Result<Sha256Tag> hmac_sha256(Bytes key, Bytes data);

}  // namespace live::engine::crypto
