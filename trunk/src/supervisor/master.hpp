// Master: the process above several workers. It serves no clients: it starts the workers, restarts those that die, connects them
// with each other, and forwards signals. The workers end with it.
//
// In an upgrade it hands its workers over to the master of a new program (supervisor/workers_upgrade.hpp): the lines to the
// workers, and the list of their streams. The workers do not notice, and end when they have no clients; the next master never
// restarts them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/fibers/scope.hpp"
#include "io/files/shared_memory.hpp"
#include "supervisor/decisions/hand_over.hpp"
#include "supervisor/decisions/roster.hpp"
#include "supervisor/members.hpp"
#include "supervisor/process/started_as.hpp"

namespace live::supervisor {

class Master final : MembersListener {
public:
    static constexpr std::chrono::milliseconds kLook{250};
    // For fibers to stop, and for workers after their own limits of a stop.
    static constexpr std::chrono::seconds kStopSlack{3};
    // For workers to give and to release their sockets, and for a new program to start its workers.
    static constexpr std::chrono::seconds kHandLimit{10};
    static constexpr std::chrono::seconds kProgramLimit{65};

    using Worker = engine::workers::Worker;
    using Failure = Roster::Failure;
    // From the previous master.
    struct Inheritance {
        Worker base = 0;  // the number before its first worker's
        WorkersSockets sockets{};
    };

    // `started` is used for each start of a worker; `secret` is the same for all of them.
    Master(StartedAs started, std::size_t count, std::string secret, const Log& log, Inheritance inheritance);
    ~Master();
    Master(const Master&) = delete;
    Master& operator=(const Master&) = delete;

    // Starts the workers; returns when all serve. With a failure none is left.
    std::optional<Failure> start(io::Deadline deadline);
    // Reports once that an operator has requested a reload from a worker.
    bool take_reload_request() { return std::exchange(is_reload_requested_, false); }
    // To all processes.
    void send_signal(int number) { members_.send_signal(number); }
    // Restarts no worker from now on.
    void begin_stop(int number);
    // Ends the workers within `limit`, and kills the rest.
    void stop(int number, std::chrono::milliseconds limit);
    bool are_gone() const { return members_.are_gone(); }

    std::uint64_t restarts() const { return roster_.restarts(); }
    std::size_t size() const { return count_; }
    const StartedAs& started() const { return started_; }

    // An upgrade, in this order (supervisor/master_roll.cpp). Returns the number before the first one of the next workers.
    // Errc::limit.
    Result<Worker> free_base() const;
    // Returns copies of the workers' sockets. Errc::timed_out, Errc::cancelled.
    Result<WorkersSockets> gather(io::Deadline deadline);
    // Decides the steps from gather() on.
    HandOver& hand_over() { return hand_over_; }
    void send_to_workers(const engine::workers::Message& message);
    // Waits until the workers have released their sockets, kills those that do not in time, and notifies the others. Restarts no
    // worker from now on.
    void await_handed(io::Deadline deadline);
    // Hands lines and streams over. Afterwards this master has only the processes of its workers.
    Result<void> hand_roll(MasterLine& to, io::Deadline deadline);
    // The next master receives them. Errc::closed when the previous one is gone; what has been received stays.
    Result<void> take_roll(MasterLine& from, io::Deadline deadline);
    // Lets the workers take clients.
    void begin_service();

private:
    void on_message(Member& member, engine::workers::Message message, io::Socket passed) override;

    // Reports whether this master has started the worker, or would.
    bool is_own(const Member& member) const { return roster_.is_own(member.number); }
    bool is_elder(const Member& member) const { return !member.is_free && !is_own(member); }
    // Performs the roster's decisions.
    void perform();
    void perform(const Roster::Start& start);
    void perform(const Roster::Kill& kill);
    Result<void> start_worker(Member& member);
    Result<void> give_resources(Member& member);
    void supervise(io::Deadline deadline);
    void attend_worker(Member& member, io::Deadline deadline);
    void attend_elder(Member& member, io::Deadline deadline);
    void end_worker(Member& member, const std::string& why);
    void adopt(Worker number, io::Socket line);
    void admit(Member& member);
    // Waits for the next event of the hand-over.
    Result<void> wait_hand_over(io::Deadline deadline);
    void note_late(Worker worker);

    const StartedAs started_;
    const std::size_t count_;
    const Worker base_;
    const std::string secret_;
    const Log& log_;
    Members members_;
    Roster roster_;
    HandOver hand_over_{{kHandLimit, kProgramLimit, kHandLimit}, HandOver::Late::kill};
    std::unique_ptr<io::SharedMemory> limits_;  // the workers' engine::workers::SharedLimits
    // Sockets of another program's worker, for each restart of the worker that replaces it.
    std::map<Worker, std::vector<io::BoundSocket>> kept_;
    io::Scope fibers_{"worker"};
    Signal decided_;  // the roster has an action
    Signal changed_;  // the hand-over has one
    bool is_start_over_ = false;
    std::optional<Failure> start_failure_;
    bool is_stopping_ = false;
    bool is_reload_requested_ = false;
    bool has_begun_ = false;  // the workers of a new program take clients
};

}  // namespace live::supervisor
