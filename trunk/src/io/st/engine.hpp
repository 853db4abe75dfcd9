// The event engine: persistent edge-triggered epoll. A descriptor is registered when it is first waited for and stays so; a wait
// costs no system call, and a turn of the loop touches only what is ready, however many are parked. What epoll has told, and what
// the descriptor's own system calls have told since, is remembered per descriptor: ready, blocked, or not known.
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
    // Never cleared once seen: the peer has closed, or the descriptor is broken.
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

    // A fresh descriptor: whatever was remembered of its number is forgotten. False when the table cannot hold it.
    bool attach(int fd);
    // The descriptor is about to be closed: its waiters wake with kClosed.
    void detach(int fd);
    // Takes it out of epoll until somebody waits for it again.
    void forget(int fd);

    bool has_waiters(int fd) const { return entry_of(fd).waiters != nullptr; }
    // The wanted bits that are known to be ready.
    std::uint32_t ready(int fd, std::uint32_t wanted) const { return entry_of(fd).ready & wanted; }
    // True when a system call for `direction` (EPOLLIN or EPOLLOUT) can only say EAGAIN, so that it need not be made.
    bool is_blocked(int fd, std::uint32_t direction) const {
        const Entry& entry = entry_of(fd);
        return entry.registered && (entry.blocked & direction) != 0;
    }
    // A system call has just said EAGAIN, or moved less than it was asked to, which on a stream means the same. After the peer
    // has closed, a read is never blocked any more, on a broken descriptor nothing is: the next call tells what happened.
    void set_blocked(int fd, std::uint32_t direction) {
        Entry& entry = entry_of(fd);
        if ((entry.ready & (EPOLLHUP | EPOLLERR)) != 0)
            return;
        if ((entry.ready & EPOLLRDHUP) != 0)
            direction &= ~static_cast<std::uint32_t>(EPOLLIN);
        entry.ready = static_cast<std::uint16_t>(entry.ready & ~direction);
        entry.blocked = static_cast<std::uint16_t>(entry.blocked | direction);
    }
    // Makes sure that epoll will tell about the descriptor. False with errno.
    bool arm(int fd);
    // From now on its events may come in turns with those of others, see WakeCoalescing; until it is detached.
    void coalesce(int fd);
    // Asks epoll to tell the present state again; for callers that do not say when they have drained a descriptor.
    bool rearm(int fd);

    void link(ParkNode& node);
    void unlink(ParkNode& node);

    // Waits for events, at most until `timeout_us` from `now_us` on has passed (negative: for ever), and wakes who waits for
    // them.
    void turn(std::uint64_t now_us, std::int64_t timeout_us);

    // One descriptor that other threads write to. Its waker is called from turn().
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
    // Of a descriptor that was attached; none, -1, is far outside.
    const Entry& entry_of(int fd) const {
        CHECK(index(fd) < entries_.size());
        return entries_[index(fd)];
    }
    Entry& entry_of(int fd) { return const_cast<Entry&>(std::as_const(*this).entry_of(fd)); }
    bool control(int operation, int fd);
    int wait(std::int64_t timeout_us);
    void look_at_coalesced(std::uint64_t now_us);
    void hold_coalesced(bool hold);
    void tell(int fd, std::uint32_t events);

    std::vector<Entry> entries_;
    std::array<epoll_event, kEventsPerTurnMax> events_{};
    std::uint64_t turns_ = 0;
    std::uint64_t controls_ = 0;
    std::size_t coalesced_ = 0;
    Waker* waker_ = nullptr;
    int waker_fd_ = -1;
    int epoll_ = -1;
    int batched_epoll_ = -1;  // of those who are coalesced; inside epoll_, which does not ask for it while their events are held
    bool is_holding_ = false;
    WakeCoalescing coalescing_;
    bool has_pwait2_ = true;
};

}  // namespace live::io::st
