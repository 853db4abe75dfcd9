// The keyed hash of STUN's MESSAGE-INTEGRITY, in the form that wire/stun wants it handed in.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::crypto {

// RFC 2104 with SHA-1. Errc::system when the library refuses.
Result<wire::stun::IntegrityTag> hmac_sha1(Bytes key, Bytes data);

}  // namespace live::engine::crypto
