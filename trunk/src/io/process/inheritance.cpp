#include "io/process/inheritance.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"

namespace live::io {

namespace {

constexpr std::string_view kTcp = "tcp ";
constexpr std::string_view kUdp = "udp ";

int option_of(int fd, int option) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

// Empty: no socket that is passed on.
std::string name_of(int fd) {
    const int domain = option_of(fd, SO_DOMAIN);
    if (domain != AF_INET && domain != AF_INET6)
        return {};
    const int type = option_of(fd, SO_TYPE);
    SocketAddress address;
    if (type == SOCK_DGRAM && ::getpeername(fd, address.data(), &address.size) == 0)
        return {};
    if (type == SOCK_STREAM ? option_of(fd, SO_ACCEPTCONN) != 1 : type != SOCK_DGRAM)
        return {};
    address = {};
    if (::getsockname(fd, address.data(), &address.size) != 0)
        return {};
    const Endpoint endpoint = address.endpoint();
    return endpoint.port == 0 ? std::string() : std::string(type == SOCK_STREAM ? kTcp : kUdp) + endpoint.text();
}

}  // namespace

std::vector<BoundSocket> copies_of_bound_sockets() {
    std::vector<int> descriptors;
    DIR* const folder = ::opendir("/proc/self/fd");
    if (folder == nullptr)
        return {};
    while (const dirent* entry = ::readdir(folder)) {
        const std::string_view text(entry->d_name);
        int fd = -1;
        if (std::from_chars(text.data(), text.data() + text.size(), fd).ec == std::errc())
            descriptors.push_back(fd);
    }
    ::closedir(folder);
    std::ranges::sort(descriptors);
    // Named before any is copied: a copy may get a number of the list, that of the folder.
    std::vector<std::pair<int, std::string>> named;
    for (const int fd : descriptors)
        if (std::string name = name_of(fd); !name.empty() && named.size() < kBoundSocketsMax)
            named.emplace_back(fd, std::move(name));
    std::vector<BoundSocket> bound;
    for (auto& [fd, name] : named)
        if (const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0); copy >= 0)
            bound.push_back({std::move(name), Socket(copy)});
    return bound;
}

Result<void> inherit(std::string_view name, Socket socket) {
    if ((!name.starts_with(kTcp) && !name.starts_with(kUdp)) || !socket.is_open() || name_of(socket.fd()) != name)
        return Error(Errc::malformed, "what is passed on is no socket that is bound: " + std::string(name.substr(0, 100)));
    // The limit is the number of sockets that one process passes on.
    auto& inherited = st::loop_state().inherited;
    if (inherited.size() >= kBoundSocketsMax)
        return Error(Errc::limit, "too many sockets are passed on");
    const int fd = ::fcntl(socket.fd(), F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return system_error("keeping " + std::string(name), errno);
    inherited.push_back({std::string(name), fd});
    return {};
}

std::size_t drop_inherited() {
    const auto unused = std::exchange(st::loop_state().inherited, {});
    for (const st::Inherited& one : unused)
        ::close(one.fd);
    return unused.size();
}

void hold_arrivals() { st::loop_state().holds_arrivals = true; }
void release_arrivals() { st::loop_state().holds_arrivals = false; }

namespace st {

int take_inherited(const Endpoint& on, int type) {
    auto& inherited = loop_state().inherited;
    const auto address = SocketAddress::of(on);
    if (inherited.empty() || !address.ok())
        return -1;
    const std::string name = std::string(type == SOCK_STREAM ? kTcp : kUdp) + address->endpoint().text();
    const auto found = std::ranges::find(inherited, name, &Inherited::name);
    if (found == inherited.end())
        return -1;
    const int fd = found->fd;
    inherited.erase(found);
    return fd;
}

Result<void> wait_while_held(Deadline deadline) {
    constexpr std::chrono::milliseconds kLook{2};
    while (loop_state().holds_arrivals) {
        if (deadline.expired())
            return Error(Errc::timed_out, "nothing may be taken yet");
        if (const auto slept = sleep(deadline.sooner(Deadline::after(kLook))); !slept.ok())
            return slept;
    }
    return {};
}

}  // namespace st

}  // namespace live::io
