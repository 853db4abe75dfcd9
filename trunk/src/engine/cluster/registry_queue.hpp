// RegistryQueue: a node's commands to the registry until they are answered, and its timers. It counts a registry that answers
// late as away. Dry: time is passed in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "engine/cluster/notices.hpp"
#include "engine/cluster/registry.hpp"

namespace live::engine::cluster {

struct ClusterTimer {
    enum class Kind : std::uint8_t { heartbeat, list, announce, confirm, answer };

    TimePoint at{};
    std::uint64_t number = 0;
    Kind kind = Kind::heartbeat;
    std::string stream{};

    bool operator>(const ClusterTimer& other) const { return at > other.at || (at == other.at && number > other.number); }
};

class RegistryQueue {
public:
    // No command waits longer for its answer.
    static constexpr std::chrono::milliseconds kWaitMax{200};
    // Unanswered commands.
    static constexpr std::size_t kInFlightMax = 512;
    // After this many consecutive commands without an answer in time, the registry counts as away: only heartbeats are sent.
    static constexpr int kTimeoutsMax = 3;

    // `counts` must outlive this. `seed` is for the jitter.
    RegistryQueue(ClusterCounts& counts, std::uint64_t seed) : counts_(counts), random_state_(seed) {}

    void connect();
    // Returns the unanswered commands, which the connection has lost.
    std::vector<Command> disconnect();
    bool is_connected() const { return is_connected_; }
    bool is_up() const { return is_connected_ && timeouts_in_row_ < kTimeoutsMax; }
    bool is_full() const { return in_flight_.size() >= kInFlightMax; }
    bool may_send() const { return is_up() && !is_full(); }

    // Returns the command's id.
    std::uint64_t send(decltype(Command::what) what, TimePoint now);
    bool has_commands() const { return !commands_.empty(); }
    std::optional<Command> poll_command();

    struct Answered {
        Command command;
        bool has_returned = false;  // the registry counted as away
    };
    // Returns the command with this id; nullopt if none is in flight.
    std::optional<Answered> take_answered(std::uint64_t id, TimePoint now);
    // From the newest answered command to its answer.
    Duration latency() const { return latency_; }

    // Returns the timer's number.
    std::uint64_t start_timer(TimePoint at, ClusterTimer::Kind kind, std::string stream = {});
    std::optional<ClusterTimer> take_due_timer(TimePoint now);
    std::optional<TimePoint> next_timeout() const;
    // Returns the command whose answer is late; nullopt if it was answered in time.
    std::optional<Command> expire(const ClusterTimer& timer);

    // Ids of commands, tickets and timers are different numbers.
    std::uint64_t next_id() { return next_id_++; }
    Duration random_below(Duration limit);

private:
    struct InFlight {
        Command command;
        TimePoint sent{};
        bool is_late = false;
    };

    ClusterCounts& counts_;
    std::uint64_t random_state_;
    bool is_connected_ = false;
    int timeouts_in_row_ = 0;
    std::uint64_t next_id_ = 1;
    Duration latency_{};
    std::unordered_map<std::uint64_t, InFlight> in_flight_;
    std::deque<Command> commands_;
    std::priority_queue<ClusterTimer, std::vector<ClusterTimer>, std::greater<>> timers_;
};

}  // namespace live::engine::cluster
