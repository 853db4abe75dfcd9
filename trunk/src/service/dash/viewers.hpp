// Viewers: DASH players as sessions, so that they are admitted, listed, counted and kicked like HLS players. A player is
// identified by address, User-Agent and stream: two players with the same User-Agent behind one address count as one. For a
// guarded stream, the credentials of the MPD request are a part of the player's identity, and the MPD names the session in the
// URLs of its segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/files/sessions.hpp"
#include "service/segments/store.hpp"
#include "session/http/handler.hpp"

namespace live::service::dash {

class Viewers {
public:
    // `sessions` must outlive this.
    explicit Viewers(files::Sessions& sessions) : sessions_(sessions) {}

    // Opens or continues a session for an MPD request. Returns the errors of admission, and Errc::not_found for a kicked player.
    // A returned place is the target of a redirect.
    Result<std::optional<session::Redirect>> admit(const session::http::Request& request, const segments::StreamOfFiles& stream,
                                                   io::Deadline deadline);
    // Reports whether admitting the player may pull the stream from another server.
    bool may_pull(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    // Checks a segment request. A player without a session is only checked against the access rules, and refused if the stream is
    // guarded. Errors as above.
    Result<void> touch(const session::http::Request& request, const segments::StreamOfFiles& stream, io::Deadline deadline);
    // Reports whether segments of the stream are for admitted players only.
    bool guards(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    // The query of the segments in the MPD for this player, which has been admitted: the name of its session. Empty if the stream
    // is not guarded.
    std::string query_for(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    // Reports whether the player has a session.
    bool plays(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    void add_sent(const session::http::Request& request, const segments::StreamOfFiles& stream, std::uint64_t bytes);

    // Remembered players, including those whose sessions have ended.
    std::size_t size() const { return ids_.size(); }

private:
    files::Session* find(const std::string& key) const;
    // The session of a segment request.
    files::Session* find_for_segment(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    std::string key_of(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    void forget_old();

    files::Sessions& sessions_;
    std::unordered_map<std::string, std::string> ids_;  // session by player key; the session may have ended
};

}  // namespace live::service::dash
