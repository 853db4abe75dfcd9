// When to look at which of thousands of sessions again, without a timer of each in the loop's heap: one fiber comes by every tick
// and takes the sessions of that tick. Dry: it is told the time. A due time is met within a tick, never early.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.hpp"

namespace live::session::rtc {

class TimerWheel {
public:
    static constexpr std::chrono::milliseconds kTick{10};  // unless another is chosen
    static constexpr std::size_t kSlots = 256;             // what is due later is looked at in between

    // One thing that is due at some time. In at most one wheel; leaves it when destroyed.
    class Timer {
    public:
        Timer() = default;
        Timer(const Timer&) = delete;
        Timer& operator=(const Timer&) = delete;
        // May set and cancel this timer and any other, and destroy them.
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

    // Instead of what it was set to before.
    void set(Timer& timer, TimePoint due);
    void cancel(Timer& timer);
    // Calls those that are due. Not from on_due().
    void advance(TimePoint now);
    std::size_t size() const { return size_; }
    // When advance() has something to look at; what is due later than all slots reach is looked at early. Nothing when it is
    // empty.
    std::optional<TimePoint> next() const;

private:
    static constexpr std::size_t kFiring = kSlots;

    std::vector<Timer*>& slot(std::size_t index) { return index == kFiring ? firing_ : slots_[index]; }
    void insert(Timer& timer);
    void fire(TimePoint now);

    const std::chrono::milliseconds tick_;
    std::array<std::vector<Timer*>, kSlots> slots_;
    std::vector<Timer*> firing_;  // of the slot that is looked at; nullptr for one that was cancelled meanwhile
    TimePoint at_;                // of the slot that was looked at last
    std::size_t current_ = 0;
    std::size_t size_ = 0;
};

}  // namespace live::session::rtc
