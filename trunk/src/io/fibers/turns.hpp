// Turns: fibers that have expensive work of one kind, such as TLS handshakes, do it one after the other. After kBudget of it, all
// other runnable fibers run first: a storm of such work takes a share of the loop and does not hold it.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/turn_order.hpp"

namespace live::io {

class Turns {
public:
    using Rank = TurnOrder::Rank;
    static constexpr std::chrono::milliseconds kBudget{1};

    // `state` outlives this and its turns.
    explicit Turns(TurnState& state) : state_(state) {}

    // While it exists, no other fiber has a turn. Its owner does not wait.
    class Turn {
    public:
        explicit Turn(TurnState& state) : state_(&state), began_(std::chrono::steady_clock::now()) {}
        Turn(Turn&& other) noexcept : state_(std::exchange(other.state_, nullptr)), began_(other.began_) {}
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        TurnState* state_;
        const TimePoint began_;
    };

    // Errc::timed_out, Errc::cancelled.
    Result<Turn> take(Rank rank, Deadline deadline);
    std::size_t waiting() const { return state_.order.size(); }

private:
    TurnState& state_;
};

}  // namespace live::io
