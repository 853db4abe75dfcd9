#include "engine/rtc/dtls_records.hpp"

#include "base/byte_reader.hpp"

namespace live::engine::rtc {

bool has_protected_record(Bytes datagram, DtlsRecordType type) {
    constexpr std::size_t kHeadBytes = 13;
    ByteReader in(datagram);
    for (std::size_t i = 0; i < kDtlsRecordsMax; ++i) {
        const auto head = in.take(kHeadBytes);
        if (!head.ok() || !in.take(std::size_t{(*head)[11]} << 8 | (*head)[12]).ok())
            return false;
        const bool is_protected = (*head)[3] != 0 || (*head)[4] != 0;
        if ((*head)[0] == static_cast<std::uint8_t>(type) && is_protected)
            return true;
    }
    return false;
}

}  // namespace live::engine::rtc
