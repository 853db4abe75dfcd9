// Viewers: DASH players as sessions, so that they are admitted, listed, counted and kicked like HLS players. An MPD cannot carry
// a session name that players send back, so a player is identified by address, User-Agent and stream: two players with the same
// User-Agent behind one address count as one.
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

    // For an MPD request: opens a session or continues the existing one. Returns admission's errors, and Errc::not_found for a
    // kicked player. With a place, the player is to be sent there.
    Result<std::optional<session::Redirect>> admit(const session::http::Request& request, const segments::StreamOfFiles& stream,
                                                   io::Deadline deadline);
    // Whether admitting the player may pull the stream from another server.
    bool may_pull(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    // For a segment request; a player without a session is only checked against the access rules, and gets nothing of a guarded
    // stream. Errors as above.
    Result<void> touch(const session::http::Request& request, const segments::StreamOfFiles& stream, io::Deadline deadline);
    // Whether segments of the stream are for admitted players only.
    bool guards(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    // Whether the player has a session. Opens nothing.
    bool plays(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    void add_sent(const session::http::Request& request, const segments::StreamOfFiles& stream, std::uint64_t bytes);

    // Remembered players, including those whose sessions have ended.
    std::size_t size() const { return ids_.size(); }

private:
    files::Session* find(const std::string& key) const;
    void forget_old();

    files::Sessions& sessions_;
    std::unordered_map<std::string, std::string> ids_;  // session by player key; the session may have ended
};

}  // namespace live::service::dash
