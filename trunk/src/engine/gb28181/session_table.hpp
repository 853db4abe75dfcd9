// SessionTable: the media sessions that the API has opened, by id and by SSRC: which device may send, from where, and until when
// a session waits for its device. Dry.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace live::engine::gb28181 {

enum class Transport : std::uint8_t {
    tcp,  // the device connects
    udp,
    tcp_active,  // this server connects
};
std::string_view name_of(Transport transport);

// Decimal, as in the signalling; GB/T 28181 writes it with ten digits. Errc::malformed.
Result<std::uint32_t> parse_ssrc(std::string_view text);

struct MediaSession {
    std::string id;
    // Unset until its device has sent media, if the session has a port of its own: the first packet there decides.
    std::optional<std::uint32_t> ssrc{};
    Transport transport = Transport::tcp;
    TimePoint opened{};
    std::optional<TimePoint> expires{};      // while no device has sent media
    std::optional<TransportAddress> from{};  // the device
};

class SessionTable {
public:
    static constexpr std::size_t kSessionsMax = 10'000;
    static constexpr std::size_t kIdBytesMax = 64;

    // Errc::conflict if the id or the SSRC is in use, Errc::malformed for an id that is empty or too long, Errc::limit.
    Result<void> open(TimePoint now, MediaSession session, Duration connect_timeout);
    // The device of this SSRC has sent media over `transport`. Errc::not_found for an unknown SSRC; Errc::denied for another
    // transport, and if the session has another device.
    Result<const MediaSession*> connect(std::uint32_t ssrc, Transport transport, const TransportAddress& from);
    // The same at the port of one session. Errc::denied also for another SSRC than the session's, or one that is in use.
    Result<const MediaSession*> connect_at(std::string_view id, std::uint32_t ssrc, const TransportAddress& from);
    // Reports whether there was such a session.
    bool close(std::string_view id);

    const MediaSession* find(std::string_view id) const;
    const MediaSession* find(std::uint32_t ssrc) const;
    // Removes the sessions whose devices did not come in time, and returns their ids.
    std::vector<std::string> expire(TimePoint now);
    std::optional<TimePoint> next_timeout() const;
    // In the order of their ids.
    const std::map<std::string, MediaSession, std::less<>>& all() const { return sessions_; }

private:
    void stop_waiting(MediaSession& session);

    std::map<std::string, MediaSession, std::less<>> sessions_;
    std::map<std::uint32_t, std::string> ids_;  // by SSRC
    std::set<std::pair<TimePoint, std::string>> expiring_;
};

}  // namespace live::engine::gb28181
