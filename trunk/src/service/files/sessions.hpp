// Sessions: HLS and DASH players, which return over many connections. HLS players are identified by hls_ctx in their URLs, DASH
// players by address and User-Agent (service/dash/viewers.hpp). A session begins with the first playlist and ends when it is idle
// for long enough, or when an operator kicks it.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/deadline.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/common/places.hpp"

namespace live::service::files {

class Session final : private session::Client {
public:
    // Referenced objects must outlive this. The request has been admitted.
    Session(session::ClientTable& clients, session::StreamEvents& events, session::ClientRequest request,
            session::StreamPlan plan, session::Places::Place place, Duration idle_limit, TimePoint now);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const session::ClientRequest& request() const override { return request_; }
    const std::string& url() const { return plan_.url; }
    // The player has made another request.
    void touch(TimePoint now) {
        last_seen_ = now;
        has_returned_ = true;
    }
    bool has_returned() const { return has_returned_; }
    void add_sent(std::uint64_t bytes) { sent_bytes_ += bytes; }
    bool is_kicked() const { return !kick_reason_.empty(); }
    bool is_idle(TimePoint now) const { return now - last_seen_ >= idle_limit_; }
    // Reports the end of the session; afterwards it is only remembered.
    void leave(const Result<void>& ended);
    bool has_left() const { return !stay_; }

private:
    session::ClientFigures figures() const override;
    void kick(std::string reason) override { kick_reason_ = reason.empty() ? "kicked" : std::move(reason); }

    const session::ClientRequest request_;
    const session::StreamPlan plan_;
    const session::Places::Place place_;
    Duration idle_limit_;
    TimePoint last_seen_;
    bool has_returned_ = false;
    std::uint64_t sent_bytes_ = 0;
    std::string kick_reason_;
    session::ClientEntry entry_;
    std::optional<session::AdmittedPlay> admitted_;
    std::optional<session::StreamStay> stay_;
};

class Sessions {
public:
    static constexpr std::size_t kSessionsMax = 100'000;
    // Length limit of a name sent by a player.
    static constexpr std::size_t kNameBytesMax = 64;

    // Referenced objects must outlive this.
    Sessions(session::Admission& admission, session::StreamEvents& events, session::ClientTable& clients, session::Places& places,
             std::size_t sessions_max = kSessionsMax)
        : admission_(admission), events_(events), clients_(clients), places_(places), sessions_max_(sessions_max) {}

    // nullptr when unknown.
    Session* find(std::string_view name);
    // Asks admission; request.id is the session's name. A session opened concurrently under that name is kept. When there are too
    // many, the oldest session whose player has not returned is removed. Returns admission's errors, and Errc::limit when there
    // is none to remove. With a place, no session was opened: the player is to be sent there.
    Result<std::optional<session::Redirect>> open(session::ClientRequest request, Duration idle_limit, io::Deadline deadline);
    // Checks the access rules only; opens nothing.
    Result<void> check(const session::ClientRequest& request) const;
    // Whether opening a session may get the stream from another server, or say which one has it.
    bool may_pull(const session::ClientRequest& request) const { return admission_.may_pull(request); }
    // For a player without a session: has the stream pulled from another server, and returns when it has media here, or why not.
    // Asks admission like a player that leaves at once. With a place, the player is to be sent there.
    Result<std::optional<session::Redirect>> pull(const session::ClientRequest& request, io::Deadline deadline);
    // Where the player of a session had better go on; then the session is over.
    std::optional<session::Redirect> send_on(Session& session);
    // Ends idle and kicked sessions; kicked ones are remembered until their idle limit.
    void expire(TimePoint now);
    void clear();

    std::size_t size() const { return sessions_.size(); }

private:
    bool make_room();

    session::Admission& admission_;
    session::StreamEvents& events_;
    session::ClientTable& clients_;
    session::Places& places_;
    std::size_t sessions_max_;
    std::unordered_map<std::string, std::unique_ptr<Session>> sessions_;
    std::deque<std::string> new_;  // names in order of arrival; may include sessions that have returned or ended
};

}  // namespace live::service::files
