// Master: the process above several workers. It serves nobody: it starts the workers, starts again what has died or stopped,
// knows which worker publishes which stream, connects workers with each other, and passes signals on. The workers end with it.
// A process without workers makes one for an upgrade: it joins itself, and new processes are started, which take over from each
// other and which nobody starts again (supervisor/upgrade.hpp). A master with workers hands its roll to the master of the new
// program (supervisor/workers_upgrade.hpp): the lines to its workers, and whose the streams are. Its workers do not notice, and
// end when they have no clients any more; the next master does not start them again.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/backoff.hpp"
#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/workers/stream_directory.hpp"
#include "io/fibers/scope.hpp"
#include "io/files/shared_memory.hpp"
#include "io/net/message_socket.hpp"
#include "io/process/child_process.hpp"
#include "io/process/signal_pipe.hpp"
#include "supervisor/inherited_resources.hpp"
#include "supervisor/line/master_line.hpp"
#include "supervisor/process/started_as.hpp"

namespace live::supervisor {

class Master {
public:
    // From start to service.
    static constexpr std::chrono::seconds kStartLimit{60};
    // A worker whose loop has not turned for this long is killed.
    static constexpr std::chrono::milliseconds kBeatLimit{3'500};
    static constexpr std::chrono::milliseconds kLook{250};
    static constexpr std::chrono::milliseconds kStopLook{10};
    static constexpr std::chrono::milliseconds kBackoffFirst{100};
    static constexpr std::chrono::milliseconds kBackoffMax{5'000};
    // A worker that has lived this long is started again without delay.
    static constexpr std::chrono::seconds kLivedLong{10};
    // What an upgrade waits for: the sockets of the old process, and that it lets go of them.
    static constexpr std::chrono::seconds kHandLimit{2};
    // From the end of an new process's service to its end.
    static constexpr std::chrono::seconds kEndLimit{10};
    static constexpr std::size_t kGiftsMax = io::kBoundSocketsMax + 1;
    // After the workers' own limits for a stop.
    static constexpr std::chrono::seconds kStopSlack{3};
    // Messages that a worker does not take. A worker that reads nothing is about to be killed.
    static constexpr std::size_t kWaitingMax = 20'000;

    struct Failure {
        int status = 1;
        std::string sentence;
    };

    using Worker = engine::workers::Worker;
    // What a master has from the one before it.
    struct Inheritance {
        Worker base = 0;  // its workers' numbers begin after that
        WorkersSockets sockets{};
    };

    // `started` is used for each start of a worker, `secret` is tnew processes.
    Master(StartedAs started, std::size_t count, std::string secret, const Log& log, Inheritance inheritance);
    ~Master();
    Master(const Master&) = delete;
    Master& operator=(const Master&) = delete;

    // This process has clients too, until its end of the socket closes. For new processes, which end with this process or not.
    Result<io::Socket> join(bool programs_end_with_it);
    // The newest next; none: it is gone. Its exit status, if it has one.
    bool has_newest() const;
    int newest_status() const { return newest_status_; }
    // Processes that are there besides this one.
    std::size_t new_processes() const;
    void send_to_newest(int number);
    // They go on without this process.
    void release();

    // Starts the workers; returns when all serve. With a failure none is left.
    std::optional<Failure> start(io::Deadline deadline);
    // A worker has been asked for a reload by an operator, once.
    bool take_reload_request() { return std::exchange(reload_wanted_, false); }
    Signal& asked() { return asked_; }
    // To all that live.
    void send_signal(int number);
    // None is started again from now on.
    void begin_stop(int number);
    // The workers end within `limit`; what is left then is killed.
    void stop(int number, std::chrono::milliseconds limit);
    // False while a worker lives.
    bool are_gone() const;

    std::uint64_t restarts() const { return restarts_; }
    std::size_t size() const { return count_; }
    const StartedAs& started() const { return started_; }

    // An upgrade of the workers (supervisor/master_roll.cpp), in this order. Where the numbers of the next workers begin;
    // Errc::limit.
    Result<Worker> free_base() const;
    // Copies of the workers' sockets.
    Result<WorkersSockets> gather(io::Deadline deadline);
    void tell_workers(const engine::workers::Message& message);
    // They have let go of their sockets, and are told that all have; those that do not in time are killed. None is started again
    // from now on.
    void await_handed(io::Deadline deadline);
    // From now on this only knows the processes of its workers: the next master hears and tells them.
    Result<void> hand_roll(MasterLine& to, io::Deadline deadline);
    // Of the next master. Errc::closed when the other one is gone, which leaves what has come.
    Result<void> take_roll(MasterLine& from, io::Deadline deadline);
    // Its workers take clients.
    void begin_service();

private:
    struct Packet {
        std::vector<std::uint8_t> bytes;
        io::Socket passed{};
    };
    struct Place {
        Worker number = 0;
        bool is_gone = false;  // the place is free
        std::vector<io::BoundSocket> gifts;
        // Sockets that it has taken over from another program's worker: copies, for when it has to be started again.
        std::vector<io::BoundSocket> kept;
        bool has_given = false;
        bool has_handed = false;
        bool is_ending = false;                     // its end is waited for
        std::unique_ptr<io::ChildProcess> process;  // nullptr: this one
        std::unique_ptr<io::MessageSocket> socket;
        std::deque<Packet> waiting;
        Signal wake;
        bool is_ready = false;
        TimePoint started{};
        Duration silent{};  // while this process itself was running
        Failure failure{};
        Backoff backoff{kBackoffFirst, kBackoffMax};
    };

    // A worker that this has started, or would.
    bool is_own(const Place& place) const { return place.number > base_ && place.number <= base_ + count_; }
    bool is_elder(const Place& place) const { return count_ > 0 && !place.is_gone && !is_own(place); }
    void take_member(Worker number, io::Socket line);
    void welcome(Place& place);
    void supervise(Place& place, io::Deadline deadline);
    Result<void> start_worker(Place& place);
    Result<void> give_place(Place& place);
    // An new process's or this process's own line, until it closes.
    void accompany(Place& place, io::Deadline deadline);
    void upgrade(Place& asker, io::Deadline deadline);
    // Returns the next, which serves and holds what arrives.
    Result<Place*> start_new_process(Place& asker, io::Deadline deadline);
    Result<void> wait_for(const std::function<bool()>& condition, io::Deadline until, const char* what);
    void end_new_process(Place& next);
    Place& free_place();
    void tell_members();
    void handle_upgrade(Place& place, engine::workers::Message message, io::Socket passed);
    // Until the worker is gone, or has to go.
    std::string attend(Place& place, io::Deadline deadline);
    Result<void> read(Place& place);
    void handle(Place& place, engine::workers::Message message, io::Socket passed);
    void send(Worker to, const engine::workers::Message& message, io::Socket passed = {});
    Result<void> flush(Place& place);
    void watch(io::Deadline deadline);

    const StartedAs started_;
    const std::size_t count_;  // of workers; 0: of an upgrade
    const Worker base_;
    const std::string secret_;
    const Log& log_;
    engine::workers::StreamDirectory directory_;
    std::unique_ptr<io::SharedMemory> tally_;  // the workers' engine::workers::Tally
    io::Scope fibers_{"worker"};
    std::vector<std::unique_ptr<Place>> workers_;
    Signal asked_;  // a worker is ready or has failed, or a reload is wanted
    bool stopping_ = false;
    bool programs_end_with_it_ = false;
    bool is_upgrading_ = false;
    Worker newest_ = 0;  // the next that takes new clients
    int newest_status_ = 0;
    bool reload_wanted_ = false;
    bool has_begun_ = false;    // an new process's workers take clients
    bool is_handing_ = false;   // another program serves
    bool is_released_ = false;  // another master has the roll
    std::uint64_t restarts_ = 0;
};

}  // namespace live::supervisor
