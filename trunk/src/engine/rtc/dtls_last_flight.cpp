#include "engine/rtc/dtls_last_flight.hpp"

#include "engine/rtc/dtls_records.hpp"

namespace live::engine::rtc {

bool DtlsLastFlight::is_wanted(TimePoint now, Bytes datagram) {
    // A record of the handshake under the new keys is Finished and nothing else: there is no renegotiation.
    if (now - sent_ < kInterval || !has_protected_record(datagram, DtlsRecordType::handshake))
        return false;
    sent_ = now;
    return true;
}

}  // namespace live::engine::rtc
