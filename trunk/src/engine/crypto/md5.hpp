// MD5 (RFC 1321), for formats that need it: secure_link of nginx. Not for anything new.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::crypto {

using Md5Hash = std::array<std::uint8_t, 16>;

// Errc::system if the library does not have it, as in FIPS mode.
Result<Md5Hash> md5(Bytes data);

}  // namespace live::engine::crypto
