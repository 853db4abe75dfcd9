// Roster: decides when a master starts, restarts and kills its workers. Dry: it receives events and times, and returns actions.
//
// The first worker starts alone, because it creates files that all share and reports why nothing can be served. The others follow
// together. From then on a worker that dies is restarted, after a pause that grows while it keeps dying.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/backoff.hpp"
#include "base/time.hpp"
#include "engine/workers/message.hpp"

namespace live::supervisor {

class Roster {
public:
    using Worker = engine::workers::Worker;

    struct Limits {
        // From start to service.
        Duration start = std::chrono::seconds(60);
        // A worker whose loop has not turned for this long is killed.
        Duration silence = std::chrono::milliseconds(3'500);
        std::chrono::milliseconds backoff_first{100};
        std::chrono::milliseconds backoff_max{5'000};
        // After this long in service the next pause is the first one again.
        Duration stable = std::chrono::seconds(10);
    };
    struct Failure {
        int status = 1;
        std::string sentence;
    };

    // Start the process of a worker now, and report on_started() or on_start_failed().
    struct Start {
        Worker worker = 0;
    };
    // End a process; `reason` continues the sentence "worker 1 has ended". A member that this master has not started loses its
    // line.
    struct Kill {
        Worker worker = 0;
        std::string reason;
    };
    // All workers serve; once.
    struct Serving {};
    // The start has failed; stop everything.
    struct Failed {
        Failure failure;
    };
    using Action = std::variant<Start, Kill, Serving, Failed>;

    enum class State : std::uint8_t {
        starting,  // its process exists
        ready,     // it serves
        ended,     // its process has ended
        pausing,   // the same, and it is started again later
        retired,   // it has handed over; its end is no event
    };

    // Workers have the numbers base + 1 to base + count. `random` seeds the pauses.
    Roster(Worker base, std::size_t count, std::uint32_t random) : Roster(base, count, random, Limits{}) {}
    Roster(Worker base, std::size_t count, std::uint32_t random, Limits limits);

    // Starts the first worker.
    void begin(TimePoint now);
    void on_started(Worker worker, TimePoint now);
    void on_start_failed(Worker worker, std::string sentence, TimePoint now);
    // Any message of the worker: its loop turns.
    void on_message(Worker worker);
    void on_ready(Worker worker);
    // The worker reports why it does not start.
    void on_failure(Worker worker, Failure failure);
    void on_ended(Worker worker, TimePoint now);
    // A worker of another master joins. It is watched and never restarted.
    void adopt(Worker worker);
    void remove(Worker worker) { entries_.erase(worker); }
    // The worker has handed over to a new program.
    void retire(Worker worker);
    // `passed` while the master itself was running. Call before poll_action().
    void on_time(TimePoint now, Duration passed);
    // Starts nothing from now on.
    void stop() { is_stopped_ = true; }

    std::optional<Action> poll_action();
    // When on_time() is due for a pause or for the limit of the start; silence is counted by passed time.
    std::optional<TimePoint> next_timeout() const;

    bool is_own(Worker worker) const { return worker > base_ && worker <= base_ + count_; }
    bool is_ready(Worker worker) const;
    std::optional<State> state(Worker worker) const;
    // Returns the reason for which the worker did not start; empty: it has none.
    const std::string& failure(Worker worker) const;
    bool is_starting_up() const { return phase_ == Phase::first || phase_ == Phase::rest; }
    std::uint64_t restarts() const { return restarts_; }

private:
    enum class Phase : std::uint8_t { idle, first, rest, serving, failed };
    struct Entry {
        State state = State::ended;
        bool was_started = false;
        bool is_killed = false;
        Duration silent{};
        TimePoint started{};
        TimePoint restart{};
        Failure failure{};
        Backoff backoff;
    };

    Entry* find(Worker worker);
    void start(Worker worker) { actions_.emplace_back(Start{worker}); }
    void pause(Entry& entry, TimePoint now);
    void fail(Failure failure);
    void go_on();
    bool are_ready(Worker last) const;
    void check_silence(Worker worker, Entry& entry, Duration passed);

    const Worker base_;
    const std::size_t count_;
    const Limits limits_;
    std::uint32_t random_;
    Phase phase_ = Phase::idle;
    bool is_stopped_ = false;
    TimePoint start_limit_{};
    std::map<Worker, Entry> entries_;
    std::deque<Action> actions_;
    std::uint64_t restarts_ = 0;
};

}  // namespace live::supervisor
