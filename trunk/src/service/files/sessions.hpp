// Sessions: HLS and DASH players, which return over many connections. HLS players are identified by hls_ctx in their URLs, DASH
// players by address and User-Agent (service/dash/viewers.hpp). A session begins with the first playlist and ends when it is idle
// for long enough, or when an operator kicks it. With several workers, one has the session. The other workers that the player
// connects to have guests, which are neither admitted nor listed there: their requests are reported to the worker of the session.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/pause.hpp"
#include "service/files/homes.hpp"
#include "service/files/stream_name.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::service::files {

class Session final : private session::Client {
public:
    // Referenced objects must outlive this. The request has been admitted.
    Session(session::ClientTable& clients, session::StreamEvents& events, session::ClientRequest request,
            session::StreamPlan plan, session::ConnectionLimits::Place place, Duration idle_limit, TimePoint now);
    // A guest: another worker has the session, possibly for some time.
    Session(session::ClientRequest request, Duration idle_limit, bool has_returned, TimePoint now);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const session::ClientRequest& request() const override { return request_; }
    const std::string& url() const { return plan_.url; }
    // The player has made another request.
    void touch(TimePoint now) {
        last_seen_ = now;
        has_returned_ = true;
        has_news_ = true;
    }
    bool is_guest() const { return !entry_; }
    // For a guest: the bytes sent since the last call; nullopt without a request.
    std::optional<std::uint64_t> take_updates();
    // For a guest: its session has been kicked.
    void note_kicked() { kick("kicked"); }
    bool has_returned() const { return has_returned_; }
    void add_sent(std::uint64_t bytes) { sent_bytes_ += bytes; }
    bool is_kicked() const { return !kick_reason_.empty(); }
    bool is_idle(TimePoint now) const { return now - io::silence_from(last_seen_) >= idle_limit_; }
    // Reports the end of the session, which is kept in the list as ended.
    void leave(const Result<void>& ended);
    bool has_left() const { return !stay_; }

private:
    session::ClientFigures figures() const override;
    void kick(std::string reason) override { kick_reason_ = reason.empty() ? "kicked" : std::move(reason); }

    const session::ClientRequest request_;
    const session::StreamPlan plan_;
    const std::optional<session::ConnectionLimits::Place> place_;
    Duration idle_limit_;
    TimePoint last_seen_;
    bool has_returned_ = false;
    bool has_news_ = false;
    std::uint64_t sent_bytes_ = 0;
    std::uint64_t told_bytes_ = 0;  // reported of these, by a guest
    std::string kick_reason_;
    std::optional<session::ClientEntry> entry_;
    std::optional<session::AdmittedPlay> admitted_;
    std::optional<session::StreamStay> stay_;
};

class Sessions {
public:
    static constexpr std::size_t kSessionsMax = 100'000;
    // Length limit of a name sent by a player.
    static constexpr std::size_t kNameBytesMax = 64;

    // Referenced objects must outlive this.
    Sessions(session::Admission& admission, session::StreamEvents& events, session::ClientTable& clients,
             session::ConnectionLimits& places, std::size_t sessions_max = kSessionsMax)
        : admission_(admission), events_(events), clients_(clients), places_(places), sessions_max_(sessions_max) {}

    // Call before the first session. Without it, all sessions are local.
    void set_homes(Homes& homes) { homes_ = &homes; }
    bool are_shared() const { return homes_ != nullptr; }
    // Reports whether a session of that name would be on another worker.
    bool is_elsewhere(std::string_view name) const { return homes_ != nullptr && homes_->is_elsewhere(name); }
    // Returns the name for a player that sends none, from the data that identifies it.
    std::string name_for(std::string_view key) const;

    // nullptr when unknown.
    Session* find(std::string_view name);
    // Asks admission; request.id is the session's name. A session opened concurrently under that name is kept. At the limit,
    // the oldest session whose player has not returned is removed. Returns admission's errors, and Errc::limit if no session can
    // be removed. With a redirect, no session was opened: the player must be sent there.
    Result<std::optional<session::Redirect>> open(session::ClientRequest request, Duration idle_limit, io::Deadline deadline);
    // The same for a guest of another worker, without media on this one.
    Result<void> open_for_guest(session::ClientRequest request, Duration idle_limit, io::Deadline deadline);
    // Counts bytes sent to a client without a session here, which may have one on another worker.
    void note_passing(const std::string& name, std::uint64_t bytes);
    // Returns the requests of guests and of these clients since the last call.
    struct SessionUpdate {
        std::string name;
        std::uint64_t sent_bytes = 0;
    };
    std::vector<SessionUpdate> take_updates();
    // A report of another worker about a local session.
    enum class State : std::uint8_t { plays, kicked, unknown };
    State note(const SessionUpdate& update, TimePoint now);
    // A report about a guest, from the worker of its session.
    void settle(std::string_view name, State state);

    // Checks the access rules only; opens nothing.
    Result<void> check(const session::ClientRequest& request) const;
    // Reports whether media of the stream is for sessions only.
    bool guards(const session::ClientRequest& request) const { return admission_.guards_play(request); }
    // Reports whether a session of that name plays the stream. Does not open one.
    bool plays(std::string_view name, const StreamName& stream) const;
    // Reports whether opening a session may pull the stream from another server, or redirect to one.
    bool may_pull(const session::ClientRequest& request) const { return admission_.may_pull(request); }
    // For a player without a session: pulls the stream from another server, and returns when it has media here, or the error.
    // Calls admission as for a player that leaves at once. With a redirect, the player must be sent there.
    Result<std::optional<session::Redirect>> pull(const session::ClientRequest& request, io::Deadline deadline);
    // Returns the server at which the player of a session should continue; the session then ends.
    std::optional<session::Redirect> send_on(Session& session);
    // Ends idle and kicked sessions; kicked ones are remembered until their idle limit.
    void expire(TimePoint now);
    void clear();

    std::size_t size() const { return sessions_.size(); }

private:
    using Opened = Result<std::optional<session::Redirect>>;

    bool make_room();
    Opened open_guest(const session::ClientRequest& request, Duration idle_limit, io::Deadline deadline);
    enum class Stream : bool { brings, stays_away };
    Opened admit(session::ClientRequest request, Duration idle_limit, Stream stream, io::Deadline deadline);

    session::Admission& admission_;
    session::StreamEvents& events_;
    session::ClientTable& clients_;
    session::ConnectionLimits& places_;
    std::size_t sessions_max_;
    Homes* homes_ = nullptr;
    std::unordered_map<std::string, std::unique_ptr<Session>> sessions_;
    std::unordered_map<std::string, std::uint64_t> passing_;  // bytes that are not reported yet, by name
    std::deque<std::string> new_;  // names in order of arrival; may include sessions that have returned or ended
};

}  // namespace live::service::files
