// Sessions: HLS and DASH players, which return over many connections. HLS players are identified by hls_ctx in their URLs, DASH
// players by address and User-Agent (service/dash/viewers.hpp). A session begins with the first playlist and ends when it is idle
// for long enough, or when an operator kicks it. Of several workers, one has the session, and the others that the player asks
// have guests, who are neither admitted nor listed here: what they do is reported to the one that has the session.
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
#include "session/limits/places.hpp"

namespace live::service::files {

class Session final : private session::Client {
public:
    // Referenced objects must outlive this. The request has been admitted.
    Session(session::ClientTable& clients, session::StreamEvents& events, session::ClientRequest request,
            session::StreamPlan plan, session::Places::Place place, Duration idle_limit, TimePoint now);
    // A guest: another worker has the session, perhaps for a while already.
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
    // For a guest: what it was sent since the last call; none when it has asked for nothing.
    std::optional<std::uint64_t> take_news();
    // For a guest: its session has been kicked.
    void note_kicked() { kick("kicked"); }
    bool has_returned() const { return has_returned_; }
    void add_sent(std::uint64_t bytes) { sent_bytes_ += bytes; }
    bool is_kicked() const { return !kick_reason_.empty(); }
    bool is_idle(TimePoint now) const { return now - io::silence_from(last_seen_) >= idle_limit_; }
    // Reports the end of the session; afterwards it is only remembered.
    void leave(const Result<void>& ended);
    bool has_left() const { return !stay_; }

private:
    session::ClientFigures figures() const override;
    void kick(std::string reason) override { kick_reason_ = reason.empty() ? "kicked" : std::move(reason); }

    const session::ClientRequest request_;
    const session::StreamPlan plan_;
    const std::optional<session::Places::Place> place_;
    Duration idle_limit_;
    TimePoint last_seen_;
    bool has_returned_ = false;
    bool has_news_ = false;
    std::uint64_t sent_bytes_ = 0;
    std::uint64_t told_bytes_ = 0;  // of these, by a guest
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
    Sessions(session::Admission& admission, session::StreamEvents& events, session::ClientTable& clients, session::Places& places,
             std::size_t sessions_max = kSessionsMax)
        : admission_(admission), events_(events), clients_(clients), places_(places), sessions_max_(sessions_max) {}

    // Before the first session. Without it, all sessions are had here.
    void set_homes(Homes& homes) { homes_ = &homes; }
    bool are_shared() const { return homes_ != nullptr; }
    // Another worker has the session of that name, if there is one.
    bool is_elsewhere(std::string_view name) const { return homes_ != nullptr && homes_->is_elsewhere(name); }
    // For what identifies a player that sends no name.
    std::string name_for(std::string_view key) const;

    // nullptr when unknown.
    Session* find(std::string_view name);
    // Asks admission; request.id is the session's name. A session opened concurrently under that name is kept. When there are too
    // many, the oldest session whose player has not returned is removed. Returns admission's errors, and Errc::limit when there
    // is none to remove. With a place, no session was opened: the player is to be sent there.
    Result<std::optional<session::Redirect>> open(session::ClientRequest request, Duration idle_limit, io::Deadline deadline);
    // The same for a guest of another worker, which needs no media here.
    Result<void> open_for_guest(session::ClientRequest request, Duration idle_limit, io::Deadline deadline);
    // Sent to somebody who has no session here, but may have one on another worker.
    void note_passing(const std::string& name, std::uint64_t bytes);
    // What guests and those have done since the last call.
    struct News {
        std::string name;
        std::uint64_t sent_bytes = 0;
    };
    std::vector<News> take_news();
    // From another worker, about a session that is had here.
    enum class State : std::uint8_t { plays, kicked, unknown };
    State note(const News& news, TimePoint now);
    // About a guest, from the worker that has the session.
    void settle(std::string_view name, State state);

    // Checks the access rules only; opens nothing.
    Result<void> check(const session::ClientRequest& request) const;
    // Whether media of the stream is for sessions only.
    bool guards(const session::ClientRequest& request) const { return admission_.guards_play(request); }
    // Whether a session of that name plays the stream. Opens nothing.
    bool plays(std::string_view name, const StreamName& stream) const;
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
    using Opened = Result<std::optional<session::Redirect>>;

    bool make_room();
    Opened open_guest(const session::ClientRequest& request, Duration idle_limit, io::Deadline deadline);
    enum class Stream : bool { brings, stays_away };
    Opened admit(session::ClientRequest request, Duration idle_limit, Stream stream, io::Deadline deadline);

    session::Admission& admission_;
    session::StreamEvents& events_;
    session::ClientTable& clients_;
    session::Places& places_;
    std::size_t sessions_max_;
    Homes* homes_ = nullptr;
    std::unordered_map<std::string, std::unique_ptr<Session>> sessions_;
    std::unordered_map<std::string, std::uint64_t> passing_;  // bytes that are not told yet, by name
    std::deque<std::string> new_;  // names in order of arrival; may include sessions that have returned or ended
};

}  // namespace live::service::files
