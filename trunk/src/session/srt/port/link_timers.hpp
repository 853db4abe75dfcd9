// LinkTimers: the timers of a port. Those of connections that can wait fall on ticks, so that one pass serves all of them.
#pragma once

#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "session/fan_out/timer_wheel.hpp"
#include "session/srt/port/link.hpp"
#include "session/srt/port/link_ticks.hpp"

namespace live::session::srt {

class LinkTimers {
public:
    static constexpr std::chrono::milliseconds kTick{2};
    // A handshake is answered at once for this long after its beginning, although all connections can wait.
    static constexpr std::chrono::seconds kHandshakeTime{1};

    explicit LinkTimers(TimePoint now);

    // As TimerWheel's; none earlier than within a tick.
    void call_at(TimerWheel::Timer& timer, TimePoint due);
    void cancel(TimerWheel::Timer& timer) { wheel_.cancel(timer); }

    // A connection has come, or leaves.
    void add(Link& link) { ticks_.add(link.tick_ = 0); }
    void remove(Link& link);
    // The timer and the tick of the connection move from one link to the other.
    void move(Link& from, Link& to);
    // Its connection was used: sets its timer, and chooses its tick.
    void set(Link& link, TimePoint now);
    // A datagram has arrived. Reports whether it is handled with the others on the next tick; if not, the connection is to be
    // served now.
    bool defer(Link& link, TimePoint now);

    void note_handshake(TimePoint now) { handshakes_until_ = now + kHandshakeTime; }
    // How long datagrams may wait to be read. Zero: they are read when they arrive.
    std::chrono::milliseconds read_interval(TimePoint now) const;

    // Waits until a timer is due, at the latest until `latest`. Errc::cancelled.
    Result<void> wait(TimePoint latest, io::Deadline deadline);
    // Ends wait() if it lasts longer than until `time`.
    void wake_by(TimePoint time);
    void advance(TimePoint now) { wheel_.advance(now); }

private:
    void call_link_at(Link& link, TimePoint due);

    TimerWheel wheel_;
    LinkTicks ticks_;
    TimePoint handshakes_until_{};
    TimePoint woken_at_;  // next
    Signal earlier_;
};

}  // namespace live::session::srt
