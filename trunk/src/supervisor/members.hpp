// Members: the processes that a master connects with each other: their lines, and the list of the streams that they publish. It
// forwards links and answers questions about streams; other messages go to its listener.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "engine/workers/stream_directory.hpp"
#include "io/process/child_process.hpp"
#include "supervisor/inherited_resources.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::supervisor {

struct Member {
    engine::workers::Worker number = 0;
    bool is_free = false;                         // no process has the number
    bool is_ready = false;                        // it serves clients
    std::unique_ptr<io::ChildProcess> process{};  // nullptr: not a child of this process
    std::unique_ptr<MasterLine> line{};
    // Copies of its sockets, from it, for an upgrade.
    std::vector<io::BoundSocket> gifts{};
    // Set to end attend(): continues the sentence "worker 1 has ended".
    std::string end_reason{};
    // A fiber waits for the end of the process.
    bool is_ending = false;
};

// Receives what Members does not handle itself. Must not suspend.
class MembersListener {
public:
    virtual void on_message(Member& member, engine::workers::Message message, io::Socket passed) = 0;

protected:
    ~MembersListener() = default;
};

// Returns the time after a wait. The loop's clock may lag behind the deadline that has ended the wait.
inline TimePoint time_after(const Result<void>& waited, io::Deadline until) {
    return !waited.ok() && waited.code() == Errc::timed_out ? std::max(io::now(), until.when()) : io::now();
}

class Members {
public:
    using Worker = engine::workers::Worker;
    using Message = engine::workers::Message;

    // Unsent messages of one member. A member that does not read is about to be killed.
    static constexpr std::size_t kQueueMax = 20'000;
    static constexpr std::size_t kGiftsMax = io::kBoundSocketsMax + 1;
    static constexpr std::chrono::milliseconds kStopLook{10};

    // Everything referred to outlives this.
    Members(Worker numbers_max, MembersListener& listener, const Log& log)
        : directory_(numbers_max), listener_(listener), log_(log) {}

    // Makes sure that the number exists, free at first.
    Member& add(Worker number);
    // A new member with the lowest free number.
    Member& take_free();
    // nullptr: no member has the number.
    Member* find(Worker number);
    const std::vector<std::unique_ptr<Member>>& all() const { return members_; }
    // Processes that this one has started and that are members.
    std::size_t children() const;

    // Starts the program as that member. Errc::system, Errc::not_found, Errc::denied.
    Result<void> start_process(Member& member, io::ChildOptions options, const engine::workers::WorkerIdentity& identity);

    void send(Worker to, const Message& message, io::Socket passed = {});
    // Sends the numbers of all ready members to each of them.
    void send_numbers();
    // Receives and sends until the line closes or end_reason is set. Returns the reason, empty when the line closed.
    std::string attend(Member& member, io::Deadline deadline);
    // Ends attend().
    void end(Member& member, std::string reason);
    // Another master has the lines: nothing is read from them.
    void freeze() { is_frozen_ = true; }
    bool is_frozen() const { return is_frozen_; }

    engine::workers::StreamDirectory& directory() { return directory_; }

    void send_signal(int number);
    // Reports whether no started process lives.
    bool are_gone() const;
    // Waits for the ends of all processes within `limit`, then kills the rest.
    void await_ends(std::chrono::milliseconds limit);

private:
    Result<void> read(Member& member);
    void handle(Member& member, Message message, io::Socket passed);

    std::vector<std::unique_ptr<Member>> members_;  // by number less one
    engine::workers::StreamDirectory directory_;
    MembersListener& listener_;
    const Log& log_;
    bool is_frozen_ = false;
};

}  // namespace live::supervisor
