#include "engine/dtls/last_flight.hpp"

#include "engine/dtls/records.hpp"

namespace live::engine::dtls {

bool LastFlight::is_wanted(TimePoint now, Bytes datagram) {
    // A handshake record under the new keys can only be Finished: there is no renegotiation.
    if (now - sent_ < kInterval || !has_protected_record(datagram, RecordType::handshake))
        return false;
    sent_ = now;
    return true;
}

}  // namespace live::engine::dtls
