// The records of a DTLS datagram as visible without keys: type and epoch (RFC 6347, 4.1).
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"

namespace live::engine::dtls {

enum class RecordType : std::uint8_t { alert = 21, handshake = 22 };

inline constexpr std::size_t kRecordsMax = 16;  // inspected per datagram

// Whether there is a record of this type in an encrypted epoch. Authenticity is not checked.
bool has_protected_record(Bytes datagram, RecordType type);

}  // namespace live::engine::dtls
