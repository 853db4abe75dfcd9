// Keys derived from one secret.
#pragma once

#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::crypto {

// HKDF (RFC 5869) with SHA-256, at most 8,160 bytes. Errc::system if the library fails.
Result<std::vector<std::uint8_t>> hkdf_sha256(Bytes secret, Bytes salt, Bytes info, std::size_t bytes);

}  // namespace live::engine::crypto
