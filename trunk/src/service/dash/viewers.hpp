// Viewers: the players of DASH as sessions, so that they are asked for, listed, counted and sent away as those of HLS. An MPD has
// no room for a name that each player brings back, so a player is known by its address, the program that it says it is, and the
// stream: two of the same program behind one address count as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "service/files/sessions.hpp"
#include "service/segments/store.hpp"
#include "session/http/handler.hpp"

namespace live::service::dash {

class Viewers {
public:
    // `sessions` outlives this.
    explicit Viewers(files::Sessions& sessions) : sessions_(sessions) {}

    // Somebody asks for an MPD: lets them in, or goes on with the session that they have. Errors are admission's, and
    // Errc::not_found for one that was sent away.
    Result<void> admit(const session::http::Request& request, const segments::StreamOfFiles& stream, io::Deadline deadline);
    // Whether it has a session.
    bool knows(const session::http::Request& request, const segments::StreamOfFiles& stream) const;
    // Somebody asks for a segment; those that have not asked for an MPD are nobody's, and only the rules are asked. Errors as
    // above.
    Result<void> touch(const session::http::Request& request, const segments::StreamOfFiles& stream);
    void add_sent(const session::http::Request& request, const segments::StreamOfFiles& stream, std::uint64_t bytes);

    // What is remembered, sessions that are over included.
    std::size_t size() const { return ids_.size(); }

private:
    files::Session* find(const std::string& key) const;
    void forget_old();

    files::Sessions& sessions_;
    std::unordered_map<std::string, std::string> ids_;  // by who it is; each is a session's, or was
};

}  // namespace live::service::dash
