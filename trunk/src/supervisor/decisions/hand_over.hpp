// HandOver: decides the steps by which running processes hand over to a new program. Dry: it receives events and times, and
// returns actions.
//
//   gathering   the old processes give copies of their sockets        -> nothing has changed; a failure keeps the old program
//   starting    the new program starts with the copies                -> the same
//   handing     it serves, and holds arrivals; the old processes stop taking clients
//   over        the new program takes clients
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/workers/message.hpp"

namespace live::supervisor {

class HandOver {
public:
    using Worker = engine::workers::Worker;

    struct Limits {
        Duration gather = std::chrono::seconds(2);
        Duration start = std::chrono::seconds(60);
        Duration hand = std::chrono::seconds(2);
    };
    // The treatment of an old process that does not stop taking clients in time.
    enum class Late : std::uint8_t { wait, kill };
    enum class Step : std::uint8_t { gathering, starting, handing, over, failed };

    struct RequestSockets {
        Worker worker = 0;
    };
    // Start the new program with the copies, and report on_program_ready(), on_program_failed() or on_program_ended().
    struct StartProgram {};
    struct KillProgram {
        // It has reported its failure, and ends by itself.
        bool may_have_ended = false;
    };
    // Tell the old processes that the new one serves.
    struct Announce {};
    // The old process has not stopped in time: kill it (Late::kill), or warn.
    struct NoteLate {
        Worker worker = 0;
    };
    // The new program may take clients.
    struct Release {};
    struct Fail {
        Errc code = Errc::system;
        std::string sentence;
    };
    using Action = std::variant<RequestSockets, StartProgram, KillProgram, Announce, NoteLate, Release, Fail>;

    HandOver(Limits limits, Late late) : limits_(limits), late_(late) {}

    // `old` are the processes that serve.
    void begin(std::span<const Worker> old, TimePoint now);
    void on_given(Worker worker, TimePoint now);
    void on_handed(Worker worker, TimePoint now);
    // The process has ended, or its line is closed.
    void on_gone(Worker worker, TimePoint now);
    // The program cannot be started.
    void on_start_failed(const Error& error);
    void on_program_ready(TimePoint now);
    void on_program_failed(std::string sentence);
    // `end` is its end as words: "exited with 1".
    void on_program_ended(const std::string& end);
    void on_time(TimePoint now);

    std::optional<Action> poll_action();
    std::optional<TimePoint> next_timeout() const;

    Step step() const { return step_; }
    bool is_over() const { return step_ == Step::over || step_ == Step::failed; }
    // Returns the reason of the failure.
    const std::string& why() const { return why_; }
    bool has_handed(Worker worker) const;

private:
    struct Old {
        bool has_given = false;
        bool has_handed = false;
        bool is_gone = false;
    };

    Old* find(Worker worker);
    void enter(Step step, Duration limit, TimePoint now);
    void check(TimePoint now);
    void fail(Errc code, std::string sentence);

    Limits limits_;
    Late late_;
    Step step_ = Step::failed;
    TimePoint until_{};
    std::map<Worker, Old> old_;
    std::deque<Action> actions_;
    std::string why_;
};

}  // namespace live::supervisor
