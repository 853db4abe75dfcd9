#include "engine/gb28181/session_table.hpp"

#include <charconv>
#include <utility>

namespace live::engine::gb28181 {

namespace {

Result<void> check_device(const MediaSession& session, const TransportAddress& from) {
    if (session.from && *session.from != from)
        return Error(Errc::denied, "the session has another device");
    return {};
}

}  // namespace

std::string_view name_of(Transport transport) {
    switch (transport) {
        case Transport::tcp: return "tcp";
        case Transport::udp: return "udp";
        case Transport::tcp_active: return "tcp_active";
    }
    return "unknown";
}

Result<std::uint32_t> parse_ssrc(std::string_view text) {
    constexpr std::size_t kDigitsMax = 10;
    std::uint32_t ssrc = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), ssrc);
    if (text.empty() || text.size() > kDigitsMax || failure != std::errc() || end != text.data() + text.size())
        return Error(Errc::malformed, "an SSRC must be a decimal number of 32 bits");
    return ssrc;
}

Result<void> SessionTable::open(TimePoint now, MediaSession session, Duration connect_timeout) {
    if (session.id.empty() || session.id.size() > kIdBytesMax)
        return Error(Errc::malformed, "an id must have 1 to " + std::to_string(kIdBytesMax) + " bytes");
    if (sessions_.contains(session.id))
        return Error(Errc::conflict, "the id is in use");
    if (session.ssrc && ids_.contains(*session.ssrc))
        return Error(Errc::conflict, "the SSRC is in use");
    if (sessions_.size() >= kSessionsMax)
        return Error(Errc::limit, "there are " + std::to_string(kSessionsMax) + " sessions");
    session.opened = now;
    session.expires = now + connect_timeout;
    session.from.reset();
    if (session.ssrc)
        ids_.emplace(*session.ssrc, session.id);
    expiring_.emplace(*session.expires, session.id);
    std::string id = session.id;
    sessions_.emplace(std::move(id), std::move(session));
    return {};
}

Result<const MediaSession*> SessionTable::connect(std::uint32_t ssrc, Transport transport, const TransportAddress& from) {
    const auto id = ids_.find(ssrc);
    if (id == ids_.end())
        return Error(Errc::not_found, "no session has this SSRC");
    MediaSession& session = sessions_.find(id->second)->second;
    if (session.transport != transport)
        return Error(Errc::denied, "the session has another transport");
    TRY(check_device(session, from));
    session.from = from;
    stop_waiting(session);
    return &session;
}

Result<const MediaSession*> SessionTable::connect_at(std::string_view id, std::uint32_t ssrc, const TransportAddress& from) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end())
        return Error(Errc::not_found, "the session has ended");
    MediaSession& session = found->second;
    TRY(check_device(session, from));
    if (session.ssrc.value_or(ssrc) != ssrc)
        return Error(Errc::denied, "the session has another SSRC");
    if (const auto owner = ids_.find(ssrc); owner != ids_.end() && owner->second != id)
        return Error(Errc::denied, "another session has this SSRC");
    if (!session.ssrc)
        ids_.emplace(ssrc, session.id);
    session.ssrc = ssrc;
    session.from = from;
    stop_waiting(session);
    return &session;
}

void SessionTable::stop_waiting(MediaSession& session) {
    if (session.expires)
        expiring_.erase({*session.expires, session.id});
    session.expires.reset();
}

bool SessionTable::close(std::string_view id) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end())
        return false;
    if (found->second.ssrc)
        ids_.erase(*found->second.ssrc);
    stop_waiting(found->second);
    sessions_.erase(found);
    return true;
}

const MediaSession* SessionTable::find(std::string_view id) const {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : &found->second;
}

const MediaSession* SessionTable::find(std::uint32_t ssrc) const {
    const auto id = ids_.find(ssrc);
    return id == ids_.end() ? nullptr : find(std::string_view(id->second));
}

std::vector<std::string> SessionTable::expire(TimePoint now) {
    std::vector<std::string> ids;
    while (!expiring_.empty() && expiring_.begin()->first <= now) {
        ids.push_back(expiring_.begin()->second);
        close(ids.back());
    }
    return ids;
}

std::optional<TimePoint> SessionTable::next_timeout() const {
    return expiring_.empty() ? std::nullopt : std::optional<TimePoint>(expiring_.begin()->first);
}

}  // namespace live::engine::gb28181
