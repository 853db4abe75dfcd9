#include "session/srt/port/link_timers.hpp"

#include <algorithm>
#include <utility>

#include "io/fibers/loop.hpp"
#include "session/common/read_tick.hpp"

namespace live::session::srt {

// The ticks of the wheel are among those of the connections.
LinkTimers::LinkTimers(TimePoint now) : wheel_(ReadTick::after(now, kTick) - kTick, kTick), woken_at_(now) {}

void LinkTimers::call_at(TimerWheel::Timer& timer, TimePoint due) {
    wheel_.set(timer, due);
    wake_by(due);
}

void LinkTimers::call_link_at(Link& link, TimePoint due) {
    link.due_ = due;
    call_at(link, due);
}

void LinkTimers::remove(Link& link) {
    cancel(link);
    ticks_.remove(link.tick_);
}

void LinkTimers::move(Link& from, Link& to) {
    cancel(from);
    to.tick_ = from.tick_;
}

void LinkTimers::set(Link& link, TimePoint now) {
    if (const auto tick = LinkTicks::index_for(link.patience(now)); tick != link.tick_) {
        ticks_.remove(link.tick_);
        ticks_.add(link.tick_ = tick);
    }
    const TimePoint due = link.connection_->next_timeout(now);
    if (due == TimePoint::max()) {
        link.due_ = due;
        return cancel(link);
    }
    const bool is_urgent = link.tick_ == 0 || link.is_behind();
    call_link_at(link, is_urgent ? due : ReadTick::after(std::max(due, now), LinkTicks::kTicks[link.tick_]));
}

bool LinkTimers::defer(Link& link, TimePoint now) {
    const Duration tick = LinkTicks::kTicks[link.tick_];
    if (tick == Duration() || link.connection_->slack(now) < tick)
        return false;
    if (const TimePoint next = ReadTick::after(now, tick); next < link.due_)
        call_link_at(link, next);
    return true;
}

std::chrono::milliseconds LinkTimers::read_interval(TimePoint now) const {
    if (now < handshakes_until_)
        return {};
    return std::chrono::duration_cast<std::chrono::milliseconds>(ticks_.shortest());
}

Result<void> LinkTimers::wait(TimePoint latest, io::Deadline deadline) {
    woken_at_ = std::min(wheel_.next().value_or(latest), latest);
    const auto woken = io::wait(earlier_, deadline.sooner(io::Deadline::at(woken_at_)));
    return woken.ok() || woken.code() == Errc::timed_out ? Result<void>() : woken;
}

void LinkTimers::wake_by(TimePoint time) {
    if (time < woken_at_)
        earlier_.raise();
}

}  // namespace live::session::srt
