// The keyed hash of STUN's MESSAGE-INTEGRITY, as a function that wire/stun accepts.
#pragma once

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::crypto {

// RFC 2104 with SHA-1. Errc::system if the library fails.
Result<wire::stun::IntegrityTag> hmac_sha1(Bytes key, Bytes data);

}  // namespace live::engine::crypto
