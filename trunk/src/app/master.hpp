// Master: the process above several workers. It serves nobody: it starts the workers, starts again what has died or stopped,
// knows which worker publishes which stream, connects workers with each other, and passes signals on. The workers end with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.hpp"
#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/signal.hpp"
#include "engine/workers/desk.hpp"
#include "io/child_process.hpp"
#include "io/message_socket.hpp"
#include "io/scope.hpp"
#include "io/shared_memory.hpp"
#include "io/signal_pipe.hpp"

namespace live::app {

// Arguments of a process that will start workers, and the folder it was started in: both must be noted before anything changes.
struct StartedAs {
    std::vector<std::string> arguments;
    int folder = -1;  // an open descriptor; negative: unknown
};
StartedAs started_as();

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
    // After the workers' own limits for a stop.
    static constexpr std::chrono::seconds kStopSlack{3};
    // Messages that a worker does not take. A worker that reads nothing is about to be killed.
    static constexpr std::size_t kWaitingMax = 20'000;

    struct Failure {
        int status = 1;
        std::string sentence;
    };

    // `started` is used for each start of a worker.
    Master(StartedAs started, std::size_t count, const Log& log);
    ~Master();
    Master(const Master&) = delete;
    Master& operator=(const Master&) = delete;

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
    std::size_t size() const { return workers_.size(); }

private:
    using Worker = engine::workers::Worker;

    struct Packet {
        std::vector<std::uint8_t> bytes;
        io::Socket passed{};
    };
    struct Place {
        Worker number = 0;
        std::unique_ptr<io::ChildProcess> process;
        std::unique_ptr<io::MessageSocket> socket;
        std::deque<Packet> waiting;
        Signal wake;
        bool is_ready = false;
        TimePoint started{};
        Duration silent{};  // while this process itself was running
        Failure failure{};
        Backoff backoff{kBackoffFirst, kBackoffMax};
    };

    void supervise(Place& place, io::Deadline deadline);
    Result<void> start_worker(Place& place);
    // Until the worker is gone, or has to go.
    std::string attend(Place& place, io::Deadline deadline);
    Result<void> read(Place& place);
    void handle(Place& place, engine::workers::Message message, io::Socket passed);
    void send(Worker to, const engine::workers::Message& message, io::Socket passed = {});
    Result<void> flush(Place& place);
    void watch(io::Deadline deadline);

    const StartedAs started_;
    const std::string secret_;
    const Log& log_;
    engine::workers::Desk desk_;
    std::unique_ptr<io::SharedMemory> tally_;  // the workers' engine::workers::Tally
    io::Scope fibers_{"worker"};
    std::vector<std::unique_ptr<Place>> workers_;
    Signal asked_;  // a worker is ready or has failed, or a reload is wanted
    bool stopping_ = false;
    bool reload_wanted_ = false;
    std::uint64_t restarts_ = 0;
};

}  // namespace live::app
