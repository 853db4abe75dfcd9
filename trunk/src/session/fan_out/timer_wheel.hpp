// Timers for thousands of sessions without an entry of each in the loop's heap: one fiber visits the slot of each tick. Dry: it
// is given the time. A timer fires within a tick after its due time, never early.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.hpp"

namespace live::session {

class TimerWheel {
public:
    static constexpr std::chrono::milliseconds kTick{10};  // default
    static constexpr std::size_t kSlots = 256;             // later timers are revisited in between

    // Something that is due at some time. In at most one wheel; leaves it when destroyed.
    class Timer {
    public:
        Timer() = default;
        Timer(const Timer&) = delete;
        Timer& operator=(const Timer&) = delete;
        // May set, cancel and destroy this timer and any other.
        virtual void on_due(TimePoint now) = 0;

    protected:
        ~Timer() {
            if (wheel_ != nullptr)
                wheel_->cancel(*this);
        }

    private:
        friend class TimerWheel;
        TimerWheel* wheel_ = nullptr;
        TimePoint due_{};
        std::size_t slot_ = 0;
        std::size_t index_ = 0;
    };

    explicit TimerWheel(TimePoint now, std::chrono::milliseconds tick = kTick) : tick_(tick), at_(now) {}
    TimerWheel(const TimerWheel&) = delete;
    TimerWheel& operator=(const TimerWheel&) = delete;
    ~TimerWheel();

    // Replaces the previous due time.
    void set(Timer& timer, TimePoint due);
    void cancel(Timer& timer);
    // Fires the timers that are due. Not from on_due().
    void advance(TimePoint now);
    std::size_t size() const { return size_; }
    // When advance() next has work; timers beyond the range of the slots are visited early. Nothing when the wheel is empty.
    std::optional<TimePoint> next() const;

private:
    static constexpr std::size_t kFiring = kSlots;

    std::vector<Timer*>& slot(std::size_t index) { return index == kFiring ? firing_ : slots_[index]; }
    void insert(Timer& timer);
    void fire(TimePoint now);

    const std::chrono::milliseconds tick_;
    std::array<std::vector<Timer*>, kSlots> slots_;
    std::vector<Timer*> firing_;  // of the slot being fired; nullptr for timers cancelled meanwhile
    TimePoint at_;                // of the slot visited last
    std::size_t current_ = 0;
    std::size_t size_ = 0;
};

}  // namespace live::session
