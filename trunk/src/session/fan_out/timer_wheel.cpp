#include "session/fan_out/timer_wheel.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace live::session {

TimerWheel::~TimerWheel() { CHECK(size_ == 0); }

void TimerWheel::set(Timer& timer, TimePoint due) {
    CHECK(timer.wheel_ == nullptr || timer.wheel_ == this);
    if (timer.wheel_ == this) {
        // A session's timeout moves a little with every packet; staying in its slot costs nothing.
        if (timer.due_ == due)
            return;
        cancel(timer);
    }
    timer.due_ = due;
    timer.wheel_ = this;
    ++size_;
    insert(timer);
}

void TimerWheel::insert(Timer& timer) {
    const auto ahead = timer.due_ > at_ ? (timer.due_ - at_ + tick_ - Duration(1)) / tick_ : 0;
    const auto ticks = std::clamp<std::size_t>(static_cast<std::size_t>(ahead), 1, kSlots - 1);
    timer.slot_ = (current_ + ticks) % kSlots;
    auto& list = slots_[timer.slot_];
    timer.index_ = list.size();
    list.push_back(&timer);
}

void TimerWheel::cancel(Timer& timer) {
    if (timer.wheel_ == nullptr)
        return;
    CHECK(timer.wheel_ == this);
    auto& list = slot(timer.slot_);
    if (timer.slot_ == kFiring) {
        list[timer.index_] = nullptr;
    } else {
        list[timer.index_] = list.back();
        list[timer.index_]->index_ = timer.index_;
        list.pop_back();
    }
    timer.wheel_ = nullptr;
    --size_;
}

void TimerWheel::advance(TimePoint now) {
    // After a long stall every slot is visited just once.
    if (now - at_ > tick_ * kSlots)
        at_ = now - tick_ * kSlots;
    while (now - at_ >= tick_) {
        at_ += tick_;
        current_ = (current_ + 1) % kSlots;
        fire(now);
    }
}

std::optional<TimePoint> TimerWheel::next() const {
    if (size_ == 0)
        return std::nullopt;
    for (std::size_t ahead = 1; ahead <= kSlots; ++ahead)
        if (!slots_[(current_ + ahead) % kSlots].empty())
            return at_ + tick_ * ahead;
    return at_ + tick_;
}

void TimerWheel::fire(TimePoint now) {
    CHECK(firing_.empty());
    firing_.swap(slots_[current_]);
    for (std::size_t i = 0; i < firing_.size(); ++i) {
        firing_[i]->slot_ = kFiring;
        firing_[i]->index_ = i;
    }
    for (std::size_t i = 0; i < firing_.size(); ++i) {
        Timer* const timer = firing_[i];
        if (timer == nullptr)
            continue;
        firing_[i] = nullptr;
        if (timer->due_ > now) {
            insert(*timer);
            continue;
        }
        timer->wheel_ = nullptr;
        --size_;
        timer->on_due(now);
    }
    firing_.clear();
}

}  // namespace live::session
