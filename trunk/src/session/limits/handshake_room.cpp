#include "session/limits/handshake_room.hpp"

namespace live::session {

std::optional<io::Party> handshake_party(const ConnectionLimits& places, std::string_view ip) {
    const auto group = places.group_of(ip);
    return group ? std::optional<io::Party>(group->bytes) : std::nullopt;
}

Result<void> check_handshake_room(ConnectionLimits& places, std::string_view ip, TimePoint now) {
    using Room = io::WorkerPool::Jobs::Room;
    constexpr auto kArrival = static_cast<std::size_t>(io::Work::arrival);
    switch (io::room_for_job(io::Work::arrival, handshake_party(places, ip))) {
        case Room::yes: break;
        case Room::full:
            return places.refuse(ConnectionLimits::Reason::handshakes, ip, io::WorkerPool::kQueuedMax[kArrival], now);
        case Room::party_full:
            return places.refuse(ConnectionLimits::Reason::handshakes_per_ip, ip, io::WorkerPool::kQueuedPerParty, now);
    }
    return {};
}

}  // namespace live::session
