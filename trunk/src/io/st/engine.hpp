// The event engine: persistent edge-triggered epoll. A descriptor is registered at its first wait and stays registered; a wait
// costs no system call, and a turn of the loop touches only ready descriptors, however many are parked. For each descriptor the
// state reported by epoll, and since then by its own system calls, is remembered: ready, blocked, or unknown.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <sys/epoll.h>

#include "base/check.hpp"
#include "base/result.hpp"
#include "io/st/wake_coalescing.hpp"

namespace live::io::st {

struct ParkNode;

class Engine {
public:
    static constexpr std::size_t kEventsPerTurnMax = 1024;
    // If more than these are ready, as after a pause of the process, the loop polls again before its timers fire.
    static constexpr int kRoundsMax = 64;
    // Never cleared once set: the peer has closed, or the descriptor is broken.
    static constexpr std::uint32_t kSticky = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    // Reported to the waiters of a descriptor that is closed under them. No epoll bit has this value.
    static constexpr std::uint32_t kClosed = 0x8000;

    // Called in the middle of a turn; must not suspend.
    class Waker {
    public:
        virtual void on_wake() = 0;

    protected:
        ~Waker() = default;
    };

    Result<void> open();

    // A new descriptor: remembered state of its number is discarded. False when the table cannot hold it.
    bool attach(int fd);
    // The descriptor is about to be closed: its waiters wake with kClosed.
    void detach(int fd);
    // Removes it from epoll until the next wait for it.
    void forget(int fd);

    bool has_waiters(int fd) const { return entry_of(fd).waiters != nullptr; }
    // The wanted bits that are known to be ready.
    std::uint32_t ready(int fd, std::uint32_t wanted) const { return entry_of(fd).ready & wanted; }
    // True when a system call for `direction` (EPOLLIN or EPOLLOUT) would only return EAGAIN, so that it can be skipped.
    bool is_blocked(int fd, std::uint32_t direction) const {
        const Entry& entry = entry_of(fd);
        return entry.registered && (entry.blocked & direction) != 0;
    }
    // A system call has just returned EAGAIN, or moved less than requested, which on a stream means the same. After the peer
    // has closed, reads are never marked as blocked; on a broken descriptor, neither direction is: the next call returns the
    // error.
    void set_blocked(int fd, std::uint32_t direction) {
        Entry& entry = entry_of(fd);
        if ((entry.ready & (EPOLLHUP | EPOLLERR)) != 0)
            return;
        if ((entry.ready & EPOLLRDHUP) != 0)
            direction &= ~static_cast<std::uint32_t>(EPOLLIN);
        entry.ready = static_cast<std::uint16_t>(entry.ready & ~direction);
        entry.blocked = static_cast<std::uint16_t>(entry.blocked | direction);
    }
    // Makes sure that epoll reports events of the descriptor. False with errno.
    bool arm(int fd);
    // From now on its events may be batched with those of others, see WakeCoalescing; until it is detached.
    void coalesce(int fd);
    // Makes epoll report the current state again; for callers that do not report when they have drained a descriptor.
    bool rearm(int fd);

    void link(ParkNode& node);
    void unlink(ParkNode& node);

    // Waits for events until `timeout_us` after `now_us` (negative: forever), and wakes the fibers waiting for them.
    void turn(std::uint64_t now_us, std::int64_t timeout_us);

    // A descriptor that other threads write to. Its waker is called from turn().
    Result<void> set_waker(int fd, Waker* waker);
    // Before the descriptor is closed.
    void clear_waker();

    std::uint64_t turns() const { return turns_; }
    std::uint64_t controls() const { return controls_; }
    std::size_t coalesced() const { return coalesced_; }

private:
    struct Entry {
        ParkNode* waiters = nullptr;
        std::uint16_t ready = 0;
        std::uint16_t blocked = 0;
        WakeCoalescing::Mark mark;
        bool registered = false;
        bool coalesced = false;  // in batched_epoll_, not in epoll_
    };
    static_assert(sizeof(Entry) == 16, "four descriptors to a cache line");

    static std::size_t index(int fd) { return static_cast<std::size_t>(fd); }
    // For an attached descriptor; -1, for none, is far out of range.
    const Entry& entry_of(int fd) const {
        CHECK(index(fd) < entries_.size());
        return entries_[index(fd)];
    }
    Entry& entry_of(int fd) { return const_cast<Entry&>(std::as_const(*this).entry_of(fd)); }
    bool control(int operation, int fd);
    int wait(std::int64_t timeout_us);
    // Whether there are events of coalesced descriptors.
    bool take_events(int count);
    void look_at_coalesced(std::uint64_t now_us);
    void hold_coalesced(bool hold);
    void report_events(int fd, std::uint32_t events);

    std::vector<Entry> entries_;
    std::array<epoll_event, kEventsPerTurnMax> events_{};
    std::uint64_t turns_ = 0;
    std::uint64_t controls_ = 0;
    std::size_t coalesced_ = 0;
    Waker* waker_ = nullptr;
    int waker_fd_ = -1;
    int epoll_ = -1;
    int batched_epoll_ = -1;  // holds the coalesced descriptors; nested in epoll_, which does not watch it while their events are
                              // held
    bool is_holding_ = false;
    WakeCoalescing coalescing_;
    bool has_pwait2_ = true;
};

}  // namespace live::io::st
