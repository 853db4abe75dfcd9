#include "bench/load/socket_drain.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/epoll.h>
#include <sys/socket.h>

#include "io/fibers/loop.hpp"

namespace live::bench {
namespace {

// With MSG_TRUNC, a stream drops as many bytes without touching memory; larger than a receive buffer.
constexpr std::size_t kStreamBytes = 16 << 20;
// A datagram is copied up to this length, and dropped and counted whole.
constexpr std::size_t kDatagramBytes = 0;

}  // namespace

Result<void> SocketDrain::join(int fd, DrainMember& member, Kind kind) {
    if (!epoll_.is_open()) {
        const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
        if (epoll < 0)
            return system_error("making an epoll", errno);
        epoll_ = io::Socket(epoll);
    }
    const auto place = static_cast<std::size_t>(fd);
    if (place >= members_.size())
        members_.resize(place + 1);
    members_[place] = {&member, kind};
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event) < 0) {
        members_[place] = {};
        return system_error("watching a connection", errno);
    }
    joined_.raise();
    return {};
}

void SocketDrain::leave(int fd) {
    const auto place = static_cast<std::size_t>(fd);
    if (place >= members_.size() || members_[place].owner == nullptr)
        return;
    members_[place] = {};
    epoll_event event{};
    ::epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, &event);
}

void SocketDrain::run(io::Deadline deadline) {
    bool goes_on = io::wait(joined_, deadline).ok();
    while (goes_on)
        goes_on = look() ? io::yield(deadline).ok() : io::sleep(deadline.sooner(io::Deadline::at(io::now() + kTick))).ok();
}

// Returns whether there may be more.
bool SocketDrain::look() {
    std::array<epoll_event, 256> events;
    std::size_t taken = 0;
    int count = static_cast<int>(events.size());
    while (count == static_cast<int>(events.size()) && taken < kEventsMax) {
        count = ::epoll_wait(epoll_.fd(), events.data(), static_cast<int>(events.size()), 0);
        for (std::size_t i = 0; count > 0 && i < static_cast<std::size_t>(count); ++i) {
            const int fd = events[i].data.fd;
            const Member member = members_[static_cast<std::size_t>(fd)];
            const bool has_ended = (events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
            if (member.owner != nullptr && !read_all(fd, member, has_ended))
                leave(fd);
        }
        taken += static_cast<std::size_t>(std::max(count, 0));
    }
    return taken >= kEventsMax;
}

// Returns false at the end of the connection. epoll is edge-triggered, so a socket that has ended is read up to its end.
bool SocketDrain::read_all(int fd, const Member& member, bool has_ended) {
    const bool is_stream = member.kind == Kind::stream;
    for (;;) {
        const ssize_t count = ::recv(fd, nullptr, is_stream ? kStreamBytes : kDatagramBytes, MSG_TRUNC | MSG_DONTWAIT);
        if (count > 0 || (count == 0 && !is_stream)) {
            member.owner->on_bytes(static_cast<std::size_t>(count));
            if (is_stream && !has_ended && static_cast<std::size_t>(count) < kStreamBytes)
                return true;
        } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            member.owner->on_end(count == 0 ? 0 : errno);
            return false;
        } else if (errno == EAGAIN) {
            return true;
        }
    }
}

}  // namespace live::bench
