#include "engine/rtc/dtls_last_flight.hpp"

#include "base/byte_reader.hpp"

namespace live::engine::rtc {

namespace {

constexpr std::uint8_t kHandshake = 22;
constexpr std::size_t kHeadBytes = 13;

// A record of the handshake under the new keys is Finished and nothing else: there is no renegotiation.
bool has_finished(Bytes datagram) {
    ByteReader in(datagram);
    for (std::size_t i = 0; i < DtlsLastFlight::kRecordsMax; ++i) {
        const auto head = in.take(kHeadBytes);
        if (!head.ok() || !in.take(std::size_t{(*head)[11]} << 8 | (*head)[12]).ok())
            return false;
        const bool is_protected = (*head)[3] != 0 || (*head)[4] != 0;
        if ((*head)[0] == kHandshake && is_protected)
            return true;
    }
    return false;
}

}  // namespace

bool DtlsLastFlight::is_wanted(TimePoint now, Bytes datagram) {
    if (now - sent_ < kInterval || !has_finished(datagram))
        return false;
    sent_ = now;
    return true;
}

}  // namespace live::engine::rtc
