#include "io/st/engine.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

#include "io/st/core.hpp"
#include "io/st/instrument.hpp"
#include "io/st/park_node.hpp"

namespace live::io::st {

namespace {

// All events at once, so that no wait ever changes the registration.
constexpr std::uint32_t kRegistered = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
constexpr std::size_t kFirstTableSize = 1024;

}  // namespace

Result<void> Engine::open() {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    batched_epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0 || batched_epoll_ < 0)
        return system_error("creating the epoll descriptor", errno);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = batched_epoll_;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, batched_epoll_, &event) < 0)
        return system_error("nesting an epoll descriptor", errno);
    entries_.resize(kFirstTableSize);
    // valgrind would warn about this call, which it does not support.
    has_pwait2_ = !instrument::runs_on_valgrind();
    return {};
}

bool Engine::attach(int fd) {
    if (fd < 0)
        return false;
    if (index(fd) >= entries_.size()) {
        std::size_t size = entries_.size();
        while (size <= index(fd))
            size *= 2;
        entries_.resize(size);
    }
    CHECK(entry_of(fd).waiters == nullptr);
    entry_of(fd) = Entry{};
    return true;
}

void Engine::detach(int fd) {
    Entry& entry = entry_of(fd);
    if (entry.registered)
        control(EPOLL_CTL_DEL, fd);
    for (ParkNode* node = entry.waiters; node != nullptr;) {
        ParkNode* next = node->next;
        // Unlinked here, because the number may belong to another descriptor by the time the sleeper runs.
        unlink(*node);
        node->got |= kClosed;
        node->sleeper->wake();
        node = next;
    }
    coalesced_ -= entry.coalesced ? 1 : 0;
    entry = Entry{};
}

void Engine::forget(int fd) {
    Entry& entry = entry_of(fd);
    if (entry.registered)
        control(EPOLL_CTL_DEL, fd);
    entry.registered = false;
    entry.ready = 0;
    entry.blocked = 0;
}

bool Engine::arm(int fd) {
    Entry& entry = entry_of(fd);
    if (entry.registered)
        return true;
    // Adding reports the current state, so the remembered state does not matter.
    entry.registered = control(EPOLL_CTL_ADD, fd);
    return entry.registered;
}

bool Engine::rearm(int fd) {
    Entry& entry = entry_of(fd);
    entry.ready = static_cast<std::uint16_t>(entry.ready & kSticky);
    if (!entry.registered)
        return arm(fd);
    return control(EPOLL_CTL_MOD, fd);
}

bool Engine::control(int operation, int fd) {
    ++controls_;
    epoll_event event{};
    event.events = kRegistered;
    event.data.fd = fd;
    return ::epoll_ctl(entry_of(fd).coalesced ? batched_epoll_ : epoll_, operation, fd, &event) == 0;
}

void Engine::coalesce(int fd) {
    Entry& entry = entry_of(fd);
    if (entry.coalesced)
        return;
    const bool was_registered = entry.registered;
    if (was_registered)
        control(EPOLL_CTL_DEL, fd);
    entry.coalesced = true;
    ++coalesced_;
    // Without memory for it the next wait retries.
    entry.registered = was_registered && control(EPOLL_CTL_ADD, fd);
}

void Engine::link(ParkNode& node) {
    Entry& entry = entry_of(node.fd);
    node.previous = nullptr;
    node.next = entry.waiters;
    if (entry.waiters != nullptr)
        entry.waiters->previous = &node;
    entry.waiters = &node;
}

void Engine::unlink(ParkNode& node) {
    if (node.fd < 0)
        return;
    if (node.previous != nullptr)
        node.previous->next = node.next;
    else
        entry_of(node.fd).waiters = node.next;
    if (node.next != nullptr)
        node.next->previous = node.previous;
    node.next = nullptr;
    node.previous = nullptr;
    node.fd = -1;
}

int Engine::wait(std::int64_t timeout_us) {
    constexpr std::int64_t kMicrosPerSecond = 1'000'000;
    constexpr std::int64_t kMicrosPerMilli = 1'000;
    const int capacity = static_cast<int>(events_.size());
    if (has_pwait2_) {
        timespec timeout{};
        timeout.tv_sec = timeout_us / kMicrosPerSecond;
        timeout.tv_nsec = timeout_us % kMicrosPerSecond * 1'000;
        // By number: libc's wrapper keeps no frame pointer, so a profiler would not see the caller.
        const long count = ::syscall(SYS_epoll_pwait2, epoll_, events_.data(), capacity, timeout_us < 0 ? nullptr : &timeout,
                                     nullptr, std::size_t{0});
        if (count >= 0 || errno != ENOSYS)
            return static_cast<int>(count);
        // Before Linux 5.11, and under emulators.
        has_pwait2_ = false;
    }
    // Rounded up: waking early would only spin until the deadline.
    const std::int64_t millis = timeout_us < 0 ? -1 : (timeout_us + kMicrosPerMilli - 1) / kMicrosPerMilli;
    constexpr std::int64_t kMillisMax = 1 << 30;
    return ::epoll_wait(epoll_, events_.data(), capacity, static_cast<int>(millis < kMillisMax ? millis : kMillisMax));
}

void Engine::turn(std::uint64_t now_us, std::int64_t timeout_us) {
    ++turns_;
    if (is_holding_) {
        const std::int64_t left = coalescing_.due() > now_us ? static_cast<std::int64_t>(coalescing_.due() - now_us) : 0;
        timeout_us = timeout_us < 0 ? left : std::min(timeout_us, left);
    }
    int count = wait(timeout_us);
    // A stopped process that resumes is interrupted here. Timers are next, and must not fire before the descriptors that became
    // ready meanwhile are polled.
    if (count < 0)
        count = wait(0);
    bool look = take_events(count);
    for (int round = 1; count == static_cast<int>(kEventsPerTurnMax) && round < kRoundsMax; ++round) {
        count = wait(0);
        look = take_events(count) || look;
    }
    if (!look && !is_holding_)
        return;
    if (const std::uint64_t after = st_utime(); look || after >= coalescing_.due())
        look_at_coalesced(after);
}

bool Engine::take_events(int count) {
    bool look = false;
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events_[static_cast<std::size_t>(i)];
        if (event.data.fd == waker_fd_)
            waker_->on_wake();
        else if (event.data.fd == batched_epoll_)
            look = true;
        else
            report_events(event.data.fd, event.events);
    }
    return look;
}

void Engine::look_at_coalesced(std::uint64_t now_us) {
    coalescing_.begin(now_us);
    int count = 0;
    for (int round = 0; round == 0 || (count == static_cast<int>(kEventsPerTurnMax) && round < kRoundsMax); ++round) {
        count = ::epoll_wait(batched_epoll_, events_.data(), static_cast<int>(events_.size()), 0);
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events_[static_cast<std::size_t>(i)];
            coalescing_.note(entry_of(event.data.fd).mark);
            report_events(event.data.fd, event.events);
        }
    }
    if (is_holding_ != coalescing_.holds())
        hold_coalesced(!is_holding_);
}

void Engine::hold_coalesced(bool hold) {
    is_holding_ = hold;
    ++controls_;
    epoll_event event{};
    event.events = hold ? 0U : EPOLLIN;
    event.data.fd = batched_epoll_;
    CHECK(::epoll_ctl(epoll_, EPOLL_CTL_MOD, batched_epoll_, &event) == 0);
}

void Engine::report_events(int fd, std::uint32_t events) {
    Entry& entry = entry_of(fd);
    std::uint32_t now_ready = events & (EPOLLIN | EPOLLOUT | EPOLLPRI | kSticky);
    // A closed or broken descriptor is ready in both directions. A half-closed one must still wait to become writable.
    if ((events & (EPOLLHUP | EPOLLERR)) != 0)
        now_ready |= EPOLLIN | EPOLLOUT;
    if ((events & EPOLLRDHUP) != 0)
        now_ready |= EPOLLIN;
    entry.ready = static_cast<std::uint16_t>(entry.ready | now_ready);
    entry.blocked = static_cast<std::uint16_t>(entry.blocked & ~now_ready);
    for (ParkNode* node = entry.waiters; node != nullptr; node = node->next) {
        const std::uint32_t got = now_ready & (node->wanted | EPOLLERR | EPOLLHUP);
        if (got != 0) {
            node->got |= got;
            node->sleeper->wake();
        }
    }
}

Result<void> Engine::set_waker(int fd, Waker* waker) {
    if (!attach(fd) || !control(EPOLL_CTL_ADD, fd))
        return system_error("registering the wake descriptor", errno);
    waker_fd_ = fd;
    waker_ = waker;
    return {};
}

void Engine::clear_waker() {
    control(EPOLL_CTL_DEL, waker_fd_);
    waker_fd_ = -1;
    waker_ = nullptr;
}

}  // namespace live::io::st
