#include "engine/dtls/records.hpp"

#include "base/bytes/byte_reader.hpp"

namespace live::engine::dtls {

bool has_protected_record(Bytes datagram, RecordType type) {
    constexpr std::size_t kHeadBytes = 13;
    ByteReader in(datagram);
    for (std::size_t i = 0; i < kRecordsMax; ++i) {
        const auto head = in.take(kHeadBytes);
        if (!head.ok() || !in.take(std::size_t{(*head)[11]} << 8 | (*head)[12]).ok())
            return false;
        const bool is_protected = (*head)[3] != 0 || (*head)[4] != 0;
        if ((*head)[0] == static_cast<std::uint8_t>(type) && is_protected)
            return true;
    }
    return false;
}

}  // namespace live::engine::dtls
