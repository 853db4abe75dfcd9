// TurnOrder: the order of fibers that wait for a turn (turns.hpp). Dry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/signal.hpp"
#include "base/time.hpp"

namespace live::io {

// By rank, then by arrival.
class TurnOrder {
public:
    enum class Rank : std::uint8_t { first, second, third };
    // Turns of the second rank while the third waits; then the third has one.
    static constexpr std::uint32_t kPassedMax = 4;

    struct Waiter {
        explicit Waiter(Rank its_rank) : rank(its_rank) {}
        const Rank rank;
        Signal granted;
        Waiter* next = nullptr;
        Waiter* previous = nullptr;
    };

    void add(Waiter& waiter);
    // One that waits.
    void remove(Waiter& waiter);
    // Removes and returns the next one; nullptr if the order is empty.
    Waiter* take_next();
    std::size_t size() const { return size_; }

private:
    struct List {
        Waiter* head = nullptr;
        Waiter* tail = nullptr;
    };
    List& list(Rank rank) { return lists_[static_cast<std::size_t>(rank)]; }
    List& next_list();

    std::array<List, 3> lists_;
    std::size_t size_ = 0;
    std::uint32_t passed_ = 0;
};

// The turns of one kind of work. Waiting and taking: Turns.
struct TurnState {
    TurnOrder order;
    bool is_taken = false;
    Duration spent{};  // since all others have run
};

}  // namespace live::io
